// Rows with two elements to every lane: the even ones and the odd ones, which
// is how windows two apart see their input.
#pragma once

#include "LaneShuffles.hpp"

namespace kernels::loops::LOOPS_LEVEL {

// Thirty-two neighbours as two registers.
struct Pairs {
  Lanes even, odd;
};

// The first `count` elements, at most 32; the others are `filler`.
static inline Pairs loadPairs(const float *from, std::int64_t count,
                              float filler = 0) {
  Lanes low;
  Lanes high;
  if (count == 2 * laneCount) {
    low = loadLanes(from);
    high = loadLanes(from + laneCount);
  } else {
    low = loadPart(from, count < laneCount ? count : laneCount, filler);
    high = count <= laneCount
               ? broadcast(filler)
               : loadPart(from + laneCount, count - laneCount, filler);
  }
  return {shuffled<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(
              low, high),
          shuffled<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31>(
              low, high)};
}

// Stores the first `count` elements. Storing all 32 is much faster where what
// follows is written later.
static inline void storePairs(float *to, Pairs values, std::int64_t count) {
  const Lanes low =
      shuffled<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(
          values.even, values.odd);
  const Lanes high =
      shuffled<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(
          values.even, values.odd);
  if (count == 2 * laneCount) {
    storeLanes(to, low);
    storeLanes(to + laneCount, high);
  } else if (count < laneCount) {
    storePart(to, low, count);
  } else {
    storeLanes(to, low);
    storePart(to + laneCount, high, count - laneCount);
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
