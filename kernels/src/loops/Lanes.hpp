// Sixteen floats that the compiler keeps in as few registers as the instruction
// set allows, and the sums over them, in an order that never changes.
#pragma once

#include <cstdint>
#include <cstring>

namespace kernels::loops::LOOPS_LEVEL {

inline constexpr std::int64_t laneCount = 16;
using Lanes = float __attribute__((vector_size(laneCount * sizeof(float))));

using LaneMask =
    std::int32_t __attribute__((vector_size(laneCount * sizeof(float))));

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

// Keeps the compiler from reading a value again from memory at every use: one
// load a cycle is all that there is of whole registers.
static inline void keepInRegister([[maybe_unused]] Lanes &lanes) {
#ifdef __AVX512F__
  asm("" : "+v"(lanes));
#endif
}

// Quotients of steps, which are mostly 1; a division takes as long as dozens of
// products.
static inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return b == 1 ? a : a / b;
}

// All ones in the first `count` lanes.
static inline LaneMask firstLanes(std::int64_t count) {
  constexpr LaneMask numbers = {0, 1, 2,  3,  4,  5,  6,  7,
                                8, 9, 10, 11, 12, 13, 14, 15};
  return numbers < static_cast<std::int32_t>(count);
}

static inline Lanes squareRoot(Lanes lanes) {
  for (std::int64_t i = 0; i < laneCount; ++i) {
    lanes[i] = __builtin_sqrtf(lanes[i]);
  }
  return lanes;
}

static inline float sumOf(Lanes lanes) {
  const auto eight =
      __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7) +
      __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                    __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

} // namespace kernels::loops::LOOPS_LEVEL
