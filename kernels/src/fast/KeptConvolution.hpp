// Convolutions of our own by weights that stay, in Layout::WeightsOut16, which
// give images in blocks of sixteen channels.
#pragma once

#include <kernels/Signature.hpp>

#include <vector>

namespace kernels {

// Of two dimensions, without groups, for as many channels of the result.
bool isKeptConvolution(const Signature &signature);

// With the image in this layout.
std::vector<Layout> keptConvolutionLayouts(const Signature &signature,
                                           Layout image);

} // namespace kernels
