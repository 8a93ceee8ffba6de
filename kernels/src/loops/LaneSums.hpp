// Sums along rows, several at a time: each in two chains of lanes, so that
// additions need not wait for each other, and in an order that never changes.
#pragma once

#include "Lanes.hpp"

namespace kernels::loops::LOOPS_LEVEL {

template <int Count> class LaneSums {
public:
  // Calls function(lanes of a, lanes of b, totals) along two rows; lanes beyond
  // the end hold `fillerA` and `fillerB`, of which it must make 0.
  template <typename Function>
  void add(const float *a, const float *b, std::int64_t count, float fillerA,
           float fillerB, const Function &function) {
    std::int64_t i = 0;
    for (; i + 2 * laneCount <= count; i += 2 * laneCount) {
      function(loadLanes(a + i), loadLanes(b + i), first_);
      function(loadLanes(a + i + laneCount), loadLanes(b + i + laneCount),
               second_);
    }
    if (i + laneCount <= count) {
      function(loadLanes(a + i), loadLanes(b + i), first_);
      i += laneCount;
    }
    if (i < count) {
      const std::int64_t left = count - i;
      function(loadPart(a + i, left, fillerA), loadPart(b + i, left, fillerB),
               second_);
    }
  }

  // The same for three rows, where lanes beyond the end hold 0.
  template <typename Function>
  void addThree(const float *a, const float *b, const float *c,
                std::int64_t count, const Function &function) {
    std::int64_t i = 0;
    for (; i + 2 * laneCount <= count; i += 2 * laneCount) {
      function(loadLanes(a + i), loadLanes(b + i), loadLanes(c + i), first_);
      function(loadLanes(a + i + laneCount), loadLanes(b + i + laneCount),
               loadLanes(c + i + laneCount), second_);
    }
    if (i + laneCount <= count) {
      function(loadLanes(a + i), loadLanes(b + i), loadLanes(c + i), first_);
      i += laneCount;
    }
    if (i < count) {
      const std::int64_t left = count - i;
      function(loadPart(a + i, left), loadPart(b + i, left),
               loadPart(c + i, left), second_);
    }
  }

  float total(int index) const { return sumOf(first_[index] + second_[index]); }

private:
  Lanes first_[Count] = {};
  Lanes second_[Count] = {};
};

} // namespace kernels::loops::LOOPS_LEVEL
