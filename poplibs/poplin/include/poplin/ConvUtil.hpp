// The convolutions of the backward pass.
#pragma once

#include <poplin/ConvParams.hpp>

namespace poplin {

// Elements after putting dilation - 1 zeros between them.
unsigned getDilatedSize(unsigned size, unsigned dilation);

// The convolution of the output's gradient, with the forward weights transposed
// and flipped, that gives the input's gradient.
ConvParams getGradientParams(const ConvParams &params);

// The convolution of the forward input, samples and channels exchanged, with
// the output's gradient in place of the weights, that gives the gradient of the
// weights as [inChans/groups, groups * outChans/groups, kernel...].
ConvParams getWeightUpdateParams(const ConvParams &params);

} // namespace poplin
