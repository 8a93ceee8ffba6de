// Which convolutions are made by Winograd's method F(4x4, 3x3): 36 products in
// place of 144 for each tile of 4x4 results, on transformed images and weights.
#pragma once

#include "DnnlConvolution.hpp"

namespace kernels {

// Into how many parts of the batch the convolution is cut; none where the
// direct method is better or oneDNN has no other.
std::int64_t winogradParts(const ConvolutionShape &shape, Direction direction);

} // namespace kernels
