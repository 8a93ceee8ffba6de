// What Winograd's method along rows needs in all three directions: which
// convolutions it is for, and where the factors of a strip lie.
#pragma once

#include "kinds/ConvolutionShape.hpp"
#include "loops/Loops.hpp"

#include <kernels/KernelEntry.hpp>

namespace kernels {

inline constexpr std::int64_t laneWinogradTaps = 5;    // of the kernel
inline constexpr std::int64_t laneWinogradResults = 4; // columns of a strip
inline constexpr std::int64_t laneWinogradPlaces = 8;

// Whether strips of a convolution of this shape save enough.
bool isForLaneWinograd(const ConvolutionShape &shape);

// Strips side by side in an image of results.
inline std::int64_t laneWinogradStrips(const ConvolutionShape &shape) {
  return (shape.out[1] + laneWinogradResults - 1) / laneWinogradResults;
}

// Nanoseconds on one core.
double laneWinogradWork(const ConvolutionShape &shape);

// Of a strip: not a power of two from place to place, which would put the
// places of a row on the same lines of the cache.
inline LaneWinogradLoops::Places
laneWinogradFactors(float *data, std::int64_t channels, std::int64_t rows) {
  return {data, (channels * rows + 1) * 16, rows * 16};
}
inline std::int64_t laneWinogradFloats(std::int64_t channels,
                                       std::int64_t rows) {
  return laneWinogradPlaces *
         laneWinogradFactors(nullptr, channels, rows).place;
}

} // namespace kernels
