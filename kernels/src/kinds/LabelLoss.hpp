// The label that says to leave its sample out.
#pragma once

#include <cstdint>

namespace kernels {

inline constexpr std::uint32_t maskedLabel = 0xFFFFFFFF;

} // namespace kernels
