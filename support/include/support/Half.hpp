// IEEE binary16, the IPU's `half`, on hosts without it: conversions that round
// to nearest even, and a two-byte type to store it in.
#pragma once

#include <cstdint>

namespace support {

// Values beyond the largest half become infinities; NaNs stay NaNs.
std::uint16_t floatToHalfBits(float value);
float halfBitsToFloat(std::uint16_t bits);

struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(floatToHalfBits(value)) {}
  explicit operator float() const { return halfBitsToFloat(bits); }

  friend bool operator==(Half a, Half b) { return float(a) == float(b); }
};

// `value` as it comes back from being stored as a half.
inline float roundToHalf(float value) {
  return halfBitsToFloat(floatToHalfBits(value));
}

} // namespace support
