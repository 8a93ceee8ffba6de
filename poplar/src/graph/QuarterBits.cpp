#include "QuarterBits.hpp"

#include <poplar/QuarterFloat.hpp>

namespace poplar::internal {

std::uint8_t floatToQuarterBits(float value, const QuarterMetadata &metadata) {
  return toQuarter(value, metadata).bits();
}

std::uint8_t metadataBits(const QuarterMetadata &metadata) {
  const bool isF152 = metadata.format == QuarterMetadata::Format::F152;
  return static_cast<std::uint8_t>((isF152 ? 0x80 : 0) |
                                   (metadata.scale & 0x3f));
}

float quarterBitsToFloat(std::uint8_t bits, const QuarterMetadata &metadata) {
  return toFloat(quarter::fromBits(bits), metadata);
}

} // namespace poplar::internal
