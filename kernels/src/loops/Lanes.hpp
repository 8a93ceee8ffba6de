// Sixteen floats that the compiler keeps in as few registers as the instruction
// set allows, and the sums over them, in an order that never changes.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

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

// The first eight lanes alone: all that a block of few samples needs.
inline constexpr std::int64_t halfCount = laneCount / 2;
using HalfLanes = float __attribute__((vector_size(halfCount * sizeof(float))));

template <typename Vector> static inline Vector loadAs(const float *from) {
  Vector lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <typename Vector> static inline Vector broadcastAs(float value) {
  return value - Vector{};
}
static inline Lanes wholeOf(Lanes lanes) {
  return lanes;
}
// The other lanes are 0.
static inline Lanes wholeOf(HalfLanes half) {
  return __builtin_shufflevector(half, HalfLanes{}, 0, 1, 2, 3, 4, 5, 6, 7, 8,
                                 9, 10, 11, 12, 13, 14, 15);
}

// The first `count` elements, at most sixteen; the other lanes are `filler`.
static inline Lanes loadPart(const float *from, std::int64_t count,
                             float filler = 0) {
  Lanes lanes = broadcast(filler);
  if (count == laneCount) {
    return loadLanes(from);
  }
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  lanes = _mm512_mask_loadu_ps(lanes, mask, from);
#else
  for (std::int64_t i = 0; i < count; ++i) {
    lanes[i] = from[i];
  }
#endif
  return lanes;
}
static inline void storePart(float *to, Lanes lanes, std::int64_t count) {
  if (count == laneCount) {
    return storeLanes(to, lanes);
  }
#ifdef __AVX512F__
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), lanes);
#else
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = lanes[i];
  }
#endif
}

// Past the caches, to an address that is a multiple of a line; others see it
// after finishStreams().
static inline void streamLanes(float *to, Lanes lanes) {
#ifdef __AVX512F__
  _mm512_stream_ps(to, lanes);
#else
  storeLanes(to, lanes);
#endif
}
static inline void finishStreams() {
#ifdef __AVX512F__
  _mm_sfence();
#endif
}

// Sixteen small numbers, or the first `count`.
using LaneBytes = std::uint8_t __attribute__((vector_size(laneCount)));

static inline LaneBytes broadcastByte(std::uint8_t value) {
  return value - LaneBytes{};
}
static inline LaneBytes loadBytes(const std::uint8_t *from,
                                  std::int64_t count = laneCount) {
  LaneBytes bytes{};
  if (count == laneCount) {
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
  }
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  bytes = (LaneBytes)_mm_maskz_loadu_epi8(mask, from);
#else
  for (std::int64_t i = 0; i < count; ++i) {
    bytes[i] = from[i];
  }
#endif
  return bytes;
}
static inline void storeBytes(std::uint8_t *to, LaneBytes bytes,
                              std::int64_t count = laneCount) {
  if (count == laneCount) {
    std::memcpy(to, &bytes, sizeof bytes);
    return;
  }
#ifdef __AVX512F__
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  _mm_mask_storeu_epi8(to, mask, (__m128i)bytes);
#else
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = bytes[i];
  }
#endif
}

// One bit or mask per lane: what decides between lanes and between bytes.
#ifdef __AVX512F__
using LaneBits = __mmask16;
static inline LaneBits isGreater(Lanes a, Lanes b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
static inline LaneBits isNan(Lanes a) {
  return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}
static inline LaneBits isEqual(LaneBytes a, std::uint8_t b) {
  return _mm_cmpeq_epi8_mask((__m128i)a, _mm_set1_epi8(static_cast<char>(b)));
}
static inline bool isAny(LaneBits bits) {
  return bits != 0;
}
static inline Lanes choose(LaneBits bits, Lanes a, Lanes b) {
  return _mm512_mask_blend_ps(bits, b, a);
}
static inline LaneBytes choose(LaneBits bits, LaneBytes a, LaneBytes b) {
  return (LaneBytes)_mm_mask_blend_epi8(bits, (__m128i)b, (__m128i)a);
}
static inline Lanes addWhere(LaneBits bits, Lanes total, Lanes a) {
  return _mm512_mask_add_ps(total, bits, total, a);
}
#else
using LaneBits = LaneMask;
static inline LaneBits isGreater(Lanes a, Lanes b) {
  return a > b;
}
static inline LaneBits isNan(Lanes a) {
  return a != a;
}
static inline LaneBits isEqual(LaneBytes a, std::uint8_t b) {
  return __builtin_convertvector(a, LaneMask) == b;
}
static inline bool isAny(LaneBits bits) {
  std::int32_t any = 0;
  for (std::int64_t i = 0; i < laneCount; ++i) {
    any |= bits[i];
  }
  return any != 0;
}
static inline Lanes choose(LaneBits bits, Lanes a, Lanes b) {
  return bits ? a : b;
}
static inline LaneBytes choose(LaneBits bits, LaneBytes a, LaneBytes b) {
  return __builtin_convertvector(bits, LaneBytes) ? a : b;
}
static inline Lanes addWhere(LaneBits bits, Lanes total, Lanes a) {
  return bits ? total + a : total;
}
#endif

// Keeps the compiler from reading a value again from memory at every use: one
// load a cycle is all that there is of whole registers.
template <typename Vector>
static inline void keepInRegister([[maybe_unused]] Vector &lanes) {
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

static inline float sumOf(HalfLanes eight) {
  const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                    __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}
static inline float sumOf(Lanes lanes) {
  return sumOf(
      __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7) +
      __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15));
}

} // namespace kernels::loops::LOOPS_LEVEL
