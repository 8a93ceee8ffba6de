// One bit or mask per lane, small numbers beside lanes, and what decides
// between them: for poolings, which remember where they found their largest
// element.
#pragma once

#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

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
// Masks as wide as floats from and to ones as wide as bytes.
#ifdef __AVX__
static inline LaneMask widened(LaneBytes bytes) {
  const auto half = (__m128i)bytes;
  return {(HalfMask)_mm256_cvtepi8_epi32(half),
          (HalfMask)_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(half, half))};
}
static inline LaneBytes narrowed(LaneMask mask) {
  const auto eight = [](HalfMask half) {
    const auto whole = (__m256i)half;
    return _mm_packs_epi32(_mm256_castsi256_si128(whole),
                           _mm256_extracti128_si256(whole, 1));
  };
  return (LaneBytes)_mm_packs_epi16(eight(mask.low), eight(mask.high));
}
#else
static inline LaneMask widened(LaneBytes bytes) {
  std::int32_t wide[laneCount];
  for (std::int64_t i = 0; i < laneCount; ++i) {
    wide[i] = static_cast<std::int8_t>(bytes[i]);
  }
  LaneMask mask;
  std::memcpy(&mask, wide, sizeof mask);
  return mask;
}
static inline LaneBytes narrowed(LaneMask mask) {
  std::int32_t wide[laneCount];
  std::memcpy(wide, &mask, sizeof mask);
  LaneBytes bytes{};
  for (std::int64_t i = 0; i < laneCount; ++i) {
    bytes[i] = static_cast<std::uint8_t>(wide[i]);
  }
  return bytes;
}
#endif
static inline LaneBits isEqual(LaneBytes a, std::uint8_t b) {
  return widened((LaneBytes)(a == broadcastByte(b)));
}
static inline bool isAny(LaneBits bits) {
  const LaneBytes bytes = narrowed(bits);
  std::uint64_t words[2];
  std::memcpy(words, &bytes, sizeof bytes);
  return (words[0] | words[1]) != 0;
}
static inline LaneBytes choose(LaneBits bits, LaneBytes a, LaneBytes b) {
  return narrowed(bits) ? a : b;
}
static inline Lanes addWhere(LaneBits bits, Lanes total, Lanes a) {
  return choose(bits, total + a, total);
}
#endif

} // namespace kernels::loops::LOOPS_LEVEL
