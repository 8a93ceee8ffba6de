// Convolutions of 3x3 by Winograd's method F(4x4, 3x3), on images in blocks of
// sixteen channels: 36 products in place of 144 for a tile of 4x4 results.
// Errors are some times those of direct sums, see docs/compatibility.md.
#pragma once

#include <kernels/KernelEntry.hpp>

namespace kernels {

extern const KernelEntry winogradConvolution;
extern const KernelEntry winogradConvolutionDataGrad;
extern const KernelEntry winogradConvolutionWeightGrad;

} // namespace kernels
