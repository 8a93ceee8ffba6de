#include <support/Half.hpp>

#include <bit>

namespace support {

// Subnormals are rounded by float addition: adding a power of two whose unit in
// the last place is that of the wanted half drops the bits below it, to even.
std::uint16_t floatToHalfBits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { // NaN: keep its top bits, make it quiet
    return static_cast<std::uint16_t>(sign | 0x7e00u |
                                      ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) { // 65520 and above round to infinity
    return static_cast<std::uint16_t>(sign | 0x7c00u);
  }
  if (magnitude < 0x38800000u) { // below 2^-14: a subnormal of unit 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  // Normal: the exponent's bias goes from 127 to 15; the carry of the rounding
  // may run into the exponent, which is then right.
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + odd;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

float halfBitsToFloat(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    return std::bit_cast<float>(sign | 0x7f800000u |
                                ((magnitude & 0x3ffu) << 13));
  }
  if (magnitude < 0x0400u) { // subnormal: a multiple of 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

} // namespace support
