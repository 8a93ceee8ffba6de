// The 8-bit floats and the byte that says what they mean. Both formats have one
// NaN, no infinities and no negative zero.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace kernels::rounding {

inline constexpr std::uint8_t quarterNan = 0x80;

struct QuarterFormat {
  int mantissaBits;
  int bias;
  int scale; // values are multiplied by 2^scale
};

// Six bits of scale, two's complement; the highest bit chooses the format.
inline QuarterFormat quarterFormat(std::uint8_t metadata) {
  const int scale = (metadata & 0x3f) - ((metadata & 0x20) != 0 ? 64 : 0);
  return (metadata & 0x80) != 0 ? QuarterFormat{2, 16, scale}
                                : QuarterFormat{3, 8, scale};
}

inline float quarterValue(std::uint8_t code, const QuarterFormat &format) {
  if (code == quarterNan) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const int one = 1 << format.mantissaBits;
  const int magnitude = code & 0x7f;
  const int field = magnitude >> format.mantissaBits;
  const int mantissa = magnitude % one + (field != 0 ? one : 0);
  const int exponent = (field != 0 ? field : 1) - format.bias;
  const float value = std::ldexp(static_cast<float>(mantissa),
                                 exponent - format.mantissaBits + format.scale);
  return (code & 0x80) != 0 ? -value : value;
}

} // namespace kernels::rounding
