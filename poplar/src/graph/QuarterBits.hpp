// The bits of QUARTER elements: 8-bit floats without infinities, whose only NaN
// is the code that would be -0.
#pragma once

#include <poplar/Quarter.hpp>

#include <cstdint>

namespace poplar::internal {

// Rounds to nearest even; magnitudes beyond the largest become the largest.
std::uint8_t floatToQuarterBits(float value, const QuarterMetadata &metadata);
float quarterBitsToFloat(std::uint8_t bits, const QuarterMetadata &metadata);

// The byte of a metadata tensor, as the kinds "toQuarter" and "fromQuarter"
// read it: six bits of scale, and the highest bit for F152.
std::uint8_t metadataBits(const QuarterMetadata &metadata);

} // namespace poplar::internal
