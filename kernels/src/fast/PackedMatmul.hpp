// Products by matrices that stay from run to run, kept in Layout::Columns16.
#pragma once

#include <kernels/KernelEntry.hpp>

namespace kernels {

extern const KernelEntry packedMatmul;

} // namespace kernels
