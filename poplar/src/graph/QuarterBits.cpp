#include "QuarterBits.hpp"

#include <poplar/QuarterFloat.hpp>

namespace poplar::internal {

std::uint8_t floatToQuarterBits(float value, const QuarterMetadata &metadata) {
  return toQuarter(value, metadata).bits();
}

float quarterBitsToFloat(std::uint8_t bits, const QuarterMetadata &metadata) {
  return toFloat(quarter::fromBits(bits), metadata);
}

} // namespace poplar::internal
