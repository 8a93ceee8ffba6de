// Stores results in the order in which they are read.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// A matrix product that is only ever read through one transposed window is
// stored transposed: a product costs the same in either order, and its readers
// (updates of weights, mostly) then read memory in order.
void storeTransposed(ValueProgram &program);

} // namespace poplar::compiler
