// Lets the weights of convolutions take over what scales their results.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// A convolution whose result only goes through an element-wise node that is
// `scale * y + shift` with a scale and a shift for each channel, as batch
// normalisation by known statistics is, gets weights `scale * w` and a bias.
// Only where weights and factors are variables that the program leaves alone:
// the new weights are computed before everything else.
void foldChannelFactors(ValueProgram &program);

} // namespace poplar::compiler
