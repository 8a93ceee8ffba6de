// quarter: an 8-bit float whose format and scale are kept elsewhere, so that it
// has no value of its own. In the global namespace, as half is.
#pragma once

#include <poplar/Quarter.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

class quarter {
public:
  quarter() = default;
  static quarter fromBits(std::uint8_t bits) {
    quarter result;
    result.bits_ = bits;
    return result;
  }
  std::uint8_t bits() const { return bits_; }

private:
  std::uint8_t bits_;
};

namespace poplar {

using ::quarter;

namespace popc {

// What is negative zero in other formats is the only NaN.
constexpr std::uint8_t quarterNan = 0x80;

struct QuarterShape {
  int mantissaBits;
  int bias;
};
inline QuarterShape shapeOf(QuarterMetadata::Format format) {
  return format == QuarterMetadata::Format::F143 ? QuarterShape{3, 8}
                                                 : QuarterShape{2, 16};
}

} // namespace popc

inline float toFloat(quarter value, const QuarterMetadata &metadata) {
  if (value.bits() == popc::quarterNan) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const popc::QuarterShape shape = popc::shapeOf(metadata.format);
  const int one = 1 << shape.mantissaBits;
  const int magnitude = value.bits() & 0x7f;
  const int field = magnitude >> shape.mantissaBits;
  const bool isNormal = field != 0;
  const int mantissa = magnitude % one + (isNormal ? one : 0);
  const int exponent = (isNormal ? field : 1) - shape.bias;
  const float result =
      std::ldexp(static_cast<float>(mantissa),
                 exponent - shape.mantissaBits + metadata.scale);
  return value.bits() & 0x80 ? -result : result;
}

// Rounds to nearest even; what is too large becomes the largest.
inline quarter toQuarter(float value, const QuarterMetadata &metadata) {
  if (std::isnan(value)) {
    return quarter::fromBits(popc::quarterNan);
  }
  const popc::QuarterShape shape = popc::shapeOf(metadata.format);
  // In double, because the scale may leave the range of floats.
  const double magnitude =
      std::ldexp(std::fabs(static_cast<double>(value)), -metadata.scale);
  int bits = 0x7f;
  if (magnitude == 0) {
    bits = 0;
  } else if (magnitude < 65536) { // which is beyond both formats
    int exponent = std::ilogb(magnitude);
    if (exponent < 1 - shape.bias) { // subnormal
      exponent = 1 - shape.bias;
    }
    // In units of the last place; the carry of the rounding runs into the
    // exponent, which is then right.
    const int units = static_cast<int>(
        std::nearbyint(std::ldexp(magnitude, shape.mantissaBits - exponent)));
    const int code =
        ((exponent + shape.bias - 1) << shape.mantissaBits) + units;
    bits = code < bits ? code : bits;
  }
  const bool isNegative = value < 0 && bits != 0;
  return quarter::fromBits(
      static_cast<std::uint8_t>(bits | (isNegative ? 0x80 : 0)));
}

} // namespace poplar
