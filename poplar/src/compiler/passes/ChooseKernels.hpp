// Decides how every node runs and in which layout values lie.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// Gives every node but streams and loops a plan: the first kernel of its kind's
// list that takes the call, or the reference. Values stay in the layout that
// their producer wanted; where a reader wants another, or a variable its own
// row-major storage, a reordering Copy is inserted.
void chooseKernels(ValueProgram &program);

} // namespace poplar::compiler
