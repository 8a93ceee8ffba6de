// Convolutions of images in blocks of sixteen channels by weights that stay,
// where registers hold fewer floats: oneDNN takes images in blocks of eight
// there, is a fifth slower with kernels of 3x3, and waits for the weights of
// small images.
#pragma once

#include <kernels/KernelEntry.hpp>

namespace kernels {

extern const KernelEntry blockedConvolution;

} // namespace kernels
