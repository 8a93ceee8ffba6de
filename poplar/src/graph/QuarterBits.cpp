#include "QuarterBits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace poplar::internal {
namespace {

constexpr std::uint8_t nanBits = 0x80;
constexpr int largestMagnitude = 0x7f;

struct Layout {
  int mantissaBits;
  int bias;
};

Layout layoutOf(const QuarterMetadata &metadata) {
  return metadata.format == QuarterMetadata::Format::F143 ? Layout{3, 8}
                                                          : Layout{2, 16};
}

} // namespace

std::uint8_t floatToQuarterBits(float value, const QuarterMetadata &metadata) {
  if (std::isnan(value)) {
    return nanBits;
  }
  const auto [mantissaBits, bias] = layoutOf(metadata);
  // In double, because the scale may leave the range of floats.
  const double magnitude =
      std::ldexp(std::abs(static_cast<double>(value)), -metadata.scale);
  // Numbers of one exponent are multiples of a unit; those below the smallest
  // normal number share its unit. Adding the code of the exponent's first
  // number lets a rounded-up mantissa carry into the exponent.
  int code = largestMagnitude;
  if (magnitude == 0) {
    code = 0;
  } else if (std::isfinite(magnitude)) {
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    const double units =
        std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent));
    const double wanted = units + std::ldexp(exponent + bias - 1, mantissaBits);
    code = static_cast<int>(std::min<double>(wanted, largestMagnitude));
  }
  const bool isNegative = std::signbit(value) && code != 0;
  return static_cast<std::uint8_t>(code | (isNegative ? 0x80 : 0));
}

float quarterBitsToFloat(std::uint8_t bits, const QuarterMetadata &metadata) {
  if (bits == nanBits) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const auto [mantissaBits, bias] = layoutOf(metadata);
  const int magnitude = bits & largestMagnitude;
  const int field = magnitude >> mantissaBits;
  const int implicit = field == 0 ? 0 : 1 << mantissaBits;
  const int units = (magnitude & ((1 << mantissaBits) - 1)) | implicit;
  const float value =
      std::ldexp(static_cast<float>(units),
                 std::max(field, 1) - bias - mantissaBits + metadata.scale);
  return (bits & 0x80) != 0 ? -value : value;
}

} // namespace poplar::internal
