// Sixteen floats in as few registers as the instruction set allows, and the
// sums over them, in an order that never changes.
#pragma once

#include "Joined.hpp"

#include <cstdint>
#include <cstring>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace kernels::loops::LOOPS_LEVEL {

inline constexpr std::int64_t laneCount = 16;

// HalfLanes are the first eight alone: all that a block of few samples needs.
inline constexpr std::int64_t halfCount = laneCount / 2;

#if defined(__AVX512F__)
using Lanes = float __attribute__((vector_size(16 * sizeof(float))));
using LaneMask = std::int32_t __attribute__((vector_size(16 * sizeof(float))));
using HalfLanes = float __attribute__((vector_size(8 * sizeof(float))));
#else
#if defined(__AVX__)
using HalfLanes = float __attribute__((vector_size(8 * sizeof(float))));
using HalfMask = std::int32_t __attribute__((vector_size(8 * sizeof(float))));
#else
using Quarter = float __attribute__((vector_size(4 * sizeof(float))));
using QuarterMask =
    std::int32_t __attribute__((vector_size(4 * sizeof(float))));
using HalfLanes = Joined<Quarter>;
using HalfMask = Joined<QuarterMask>;
#endif
using Lanes = Joined<HalfLanes>;
using LaneMask = Joined<HalfMask>;
#endif

// What is one register: computations with many values at once take lanes in
// parts of this size.
#if defined(__AVX512F__)
using Register = Lanes;
#elif defined(__AVX__)
using Register = HalfLanes;
#else
using Register = Quarter;
#endif
inline constexpr std::int64_t registerCount = sizeof(Register) / sizeof(float);

// Lanes, half of them, or one register.
template <typename Vector>
[[gnu::always_inline]] inline Vector broadcastAs(float value) {
  if constexpr (IsJoined<Vector>) {
    const auto half = broadcastAs<decltype(Vector::low)>(value);
    return {half, half};
  } else {
    return value - Vector{};
  }
}
template <typename Vector>
[[gnu::always_inline]] inline Vector loadAs(const float *from) {
  if constexpr (IsJoined<Vector>) {
    using Half = decltype(Vector::low);
    return {loadAs<Half>(from),
            loadAs<Half>(from + sizeof(Half) / sizeof(float))};
  } else {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
}
template <typename Vector>
[[gnu::always_inline]] inline void storeAs(float *to, Vector vector) {
  if constexpr (IsJoined<Vector>) {
    storeAs(to, vector.low);
    storeAs(to + sizeof vector.low / sizeof(float), vector.high);
  } else {
    std::memcpy(to, &vector, sizeof vector);
  }
}

static inline Lanes broadcast(float value) {
  return broadcastAs<Lanes>(value);
}
static inline Lanes loadLanes(const float *from) {
  return loadAs<Lanes>(from);
}
static inline void storeLanes(float *to, Lanes lanes) {
  storeAs(to, lanes);
}

static inline Lanes wholeOf(Lanes lanes) {
  return lanes;
}
// The other lanes are 0.
static inline Lanes wholeOf(HalfLanes half) {
#ifdef __AVX512F__
  return __builtin_shufflevector(half, HalfLanes{}, 0, 1, 2, 3, 4, 5, 6, 7, 8,
                                 9, 10, 11, 12, 13, 14, 15);
#else
  return {half, HalfLanes{}};
#endif
}

// Lanes of a where the mask is set, of b elsewhere.
template <typename Mask, typename Vector>
[[gnu::always_inline]] inline Vector chooseAs(Mask mask, Vector a, Vector b) {
  if constexpr (IsJoined<Vector>) {
    return {chooseAs(mask.low, a.low, b.low),
            chooseAs(mask.high, a.high, b.high)};
  } else {
    return mask ? a : b;
  }
}
static inline Lanes choose(LaneMask mask, Lanes a, Lanes b) {
  return chooseAs(mask, a, b);
}

// All ones in the first `count` lanes.
static inline LaneMask firstLanes(std::int64_t count) {
  const auto some = static_cast<std::int32_t>(count);
#if defined(__AVX512F__)
  constexpr LaneMask numbers = {0, 1, 2,  3,  4,  5,  6,  7,
                                8, 9, 10, 11, 12, 13, 14, 15};
  return numbers < some;
#elif defined(__AVX__)
  constexpr HalfMask numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  return {numbers < some, numbers < some - 8};
#else
  constexpr QuarterMask numbers = {0, 1, 2, 3};
  return {{numbers < some, numbers < some - 4},
          {numbers < some - 8, numbers < some - 12}};
#endif
}

// The first `count` elements, at most sixteen; the other lanes are `filler`.
static inline Lanes loadPart(const float *from, std::int64_t count,
                             float filler = 0) {
  if (count == laneCount) {
    return loadLanes(from);
  }
#if defined(__AVX512F__)
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  return _mm512_mask_loadu_ps(broadcast(filler), mask, from);
#elif defined(__AVX__)
  const LaneMask mask = firstLanes(count);
  const Lanes found = {
      _mm256_maskload_ps(from, (__m256i)mask.low),
      _mm256_maskload_ps(from + halfCount, (__m256i)mask.high)};
  return choose(mask, found, broadcast(filler));
#else
  float lanes[laneCount];
  for (std::int64_t i = 0; i < laneCount; ++i) {
    lanes[i] = i < count ? from[i] : filler;
  }
  return loadLanes(lanes);
#endif
}
// The first `count` elements, fewer than a register has; the others are 0.
static inline Register loadRegisterPart(const float *from, std::int64_t count) {
#if defined(__AVX512F__)
  return loadPart(from, count);
#elif defined(__AVX__)
  return _mm256_maskload_ps(from, (__m256i)firstLanes(count).low);
#else
  Register part{};
  for (std::int64_t i = 0; i < count; ++i) {
    part[i] = from[i];
  }
  return part;
#endif
}
static inline void storePart(float *to, Lanes lanes, std::int64_t count) {
  if (count == laneCount) {
    return storeLanes(to, lanes);
  }
#ifdef __AVX512F__
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), lanes);
#else
  // By powers of two: stores by mask are slow on some of these machines.
  float copy[laneCount];
  storeLanes(copy, lanes);
  std::int64_t done = 0;
  if ((count & 8) != 0) {
    storeAs(to, lanes.low);
    done = 8;
  }
  if ((count & 4) != 0) {
    std::memcpy(to + done, copy + done, 4 * sizeof(float));
    done += 4;
  }
  for (; done < count; ++done) {
    to[done] = copy[done];
  }
#endif
}

// Past the caches, to an address that is a multiple of a line; others see it
// after finishStreams().
static inline void streamLanes(float *to, Lanes lanes) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, lanes);
#elif defined(__AVX__)
  _mm256_stream_ps(to, lanes.low);
  _mm256_stream_ps(to + halfCount, lanes.high);
#else
  storeLanes(to, lanes);
#endif
}
static inline void finishStreams() {
#ifdef __AVX__
  _mm_sfence();
#endif
}

// Keeps the compiler from reading a value again from memory at every use: of
// whole registers, memory gives one or two a cycle.
template <typename Vector>
static inline void keepInRegister([[maybe_unused]] Vector &vector) {
#if defined(__AVX512F__)
  asm("" : "+v"(vector));
#elif defined(__AVX__)
  if constexpr (IsJoined<Vector>) {
    asm("" : "+x"(vector.low), "+x"(vector.high));
  } else {
    asm("" : "+x"(vector));
  }
#endif
}

// Quotients of steps, which are mostly 1; a division takes as long as dozens of
// products.
static inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return b == 1 ? a : a / b;
}

static inline Lanes squareRoot(Lanes lanes) {
  float copy[laneCount];
  storeLanes(copy, lanes);
  for (std::int64_t i = 0; i < laneCount; ++i) {
    copy[i] = __builtin_sqrtf(copy[i]);
  }
  return loadLanes(copy);
}

static inline float sumOf(HalfLanes eight) {
#ifdef __AVX__
  const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                    __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
  const auto four = eight.low + eight.high;
#endif
  return (four[0] + four[2]) + (four[1] + four[3]);
}
static inline float sumOf(Lanes lanes) {
#ifdef __AVX512F__
  return sumOf(
      __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7) +
      __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15));
#else
  return sumOf(lanes.low + lanes.high);
#endif
}

} // namespace kernels::loops::LOOPS_LEVEL
