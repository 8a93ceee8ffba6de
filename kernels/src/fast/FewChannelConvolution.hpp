// Convolutions of images of few channels, as photographs are, by weights that
// stay, where registers hold fewer than sixteen floats: oneDNN gives blocks of
// eight channels there, which those who take blocks of sixteen had to copy.
#pragma once

#include <kernels/KernelEntry.hpp>

namespace kernels {

extern const KernelEntry fewChannelConvolution;

} // namespace kernels
