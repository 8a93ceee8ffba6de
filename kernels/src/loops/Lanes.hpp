// Sixteen floats that the compiler keeps in as few registers as the instruction
// set allows, and the sums over them, in an order that never changes.
#pragma once

#include <cstdint>
#include <cstring>

namespace kernels::loops::LOOPS_LEVEL {

inline constexpr std::int64_t laneCount = 16;
using Lanes = float __attribute__((vector_size(laneCount * sizeof(float))));

static inline Lanes broadcast(float value) {
  return value - Lanes{};
}

static inline Lanes loadLanes(const float *from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
static inline void storeLanes(float *to, Lanes lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}
// The first `count` elements; the other lanes are `filler`.
static inline Lanes loadPart(const float *from, std::int64_t count,
                             float filler = 0) {
  Lanes lanes = broadcast(filler);
  std::memcpy(&lanes, from, static_cast<std::size_t>(count) * sizeof(float));
  return lanes;
}

static inline float sumOf(Lanes lanes) {
  float values[laneCount];
  std::memcpy(values, &lanes, sizeof values);
  for (std::int64_t width = laneCount / 2; width > 0; width /= 2) {
    for (std::int64_t i = 0; i < width; ++i) {
      values[i] += values[i + width];
    }
  }
  return values[0];
}

} // namespace kernels::loops::LOOPS_LEVEL
