// Single numbers between float and the bits of a half, on the host.
#pragma once

#include <cstdint>

namespace popfloat {
namespace experimental {

// To the nearest half, ties to even. What is too large becomes NaN if
// `enNanoo`, the largest half otherwise; infinities do the same.
std::uint16_t singleToHalf(float value, bool enNanoo = true);

float halfToSingle(std::uint16_t value);

} // namespace experimental
} // namespace popfloat
