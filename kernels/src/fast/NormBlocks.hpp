// Batch normalisation of images in blocks of sixteen channels.
#pragma once

#include <kernels/KernelEntry.hpp>

namespace kernels {

extern const KernelEntry blockedBatchNorm;
extern const KernelEntry blockedBatchNormGrad;

} // namespace kernels
