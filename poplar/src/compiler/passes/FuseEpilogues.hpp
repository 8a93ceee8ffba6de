// Lets matrix products, convolutions and pools do the small operations around
// them.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// A bias added to the result of a "matmul" or "convolution" and the RELU of it
// become the kernel's own `bias` and `activation`; the RELU of what a "maxPool"
// reads becomes the pool's `activation`. Only where nothing else needs the
// value in between.
void fuseEpilogues(ValueProgram &program);

} // namespace poplar::compiler
