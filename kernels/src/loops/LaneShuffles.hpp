// Lanes of two vectors in any order.
#pragma once

#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

using FourLanes = float __attribute__((vector_size(4 * sizeof(float))));

#if defined(__AVX512F__)

// Lane i is lane I of a, or of b from sixteen on.
template <int... I>
[[gnu::always_inline]] inline Lanes shuffled(Lanes a, Lanes b) {
  return __builtin_shufflevector(a, b, I...);
}

static inline Lanes joinFours(FourLanes a, FourLanes b, FourLanes c,
                              FourLanes d) {
  const auto ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  const auto cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                 12, 13, 14, 15);
}

#elif defined(__AVX__)

// One register of the result. Most patterns take it from two registers.
template <int... I>
[[gnu::always_inline]] inline HalfLanes halfShuffled(Lanes a, Lanes b) {
  if constexpr (((I < 16) && ...)) {
    return __builtin_shufflevector(a.low, a.high, I...);
  } else if constexpr (((I >= 16) && ...)) {
    return __builtin_shufflevector(b.low, b.high, (I - 16)...);
  } else if constexpr (((I % 16 < 8) && ...)) {
    return __builtin_shufflevector(a.low, b.low, (I < 16 ? I : I - 8)...);
  } else if constexpr (((I % 16 >= 8) && ...)) {
    return __builtin_shufflevector(a.high, b.high, (I - 8 - I / 16 * 8)...);
  } else {
    const HalfMask isOfA = {(I < 16 ? -1 : 0)...};
    return isOfA ? __builtin_shufflevector(a.low, a.high, (I % 16)...)
                 : __builtin_shufflevector(b.low, b.high, (I % 16)...);
  }
}
template <int I0, int I1, int I2, int I3, int I4, int I5, int I6, int I7,
          int... High>
[[gnu::always_inline]] inline Lanes shuffled(Lanes a, Lanes b) {
  return {halfShuffled<I0, I1, I2, I3, I4, I5, I6, I7>(a, b),
          halfShuffled<High...>(a, b)};
}

static inline Lanes joinFours(FourLanes a, FourLanes b, FourLanes c,
                              FourLanes d) {
  return {__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7),
          __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7)};
}

#else

template <int... I> inline Lanes shuffled(Lanes a, Lanes b) {
  float lanes[2 * laneCount];
  storeLanes(lanes, a);
  storeLanes(lanes + laneCount, b);
  const float result[] = {lanes[I]...};
  return loadLanes(result);
}

static inline Lanes joinFours(FourLanes a, FourLanes b, FourLanes c,
                              FourLanes d) {
  return {{a, b}, {c, d}};
}

#endif

} // namespace kernels::loops::LOOPS_LEVEL
