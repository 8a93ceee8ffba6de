// Puts tensors together by copies where a program adds parts among zeros.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// The gradient of a tensor that was taken apart is a sum of as many tensors,
// each zero but for one part. Where the parts meet without overlap, they are
// copied into one tensor instead: no zeros, no sum.
void assembleSums(ValueProgram &program);

} // namespace poplar::compiler
