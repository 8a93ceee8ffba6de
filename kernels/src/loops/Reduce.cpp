// Reductions along a row and across rows.
#include "Lanes.hpp"
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

// combine() adds an element to a total, join() two totals.
struct Add {
  static constexpr float start = 0;
  static float combine(float total, float x) { return total + x; }
  static float join(float a, float b) { return a + b; }
};
struct SquareAdd {
  static constexpr float start = 0;
  static float combine(float total, float x) { return total + x * x; }
  static float join(float a, float b) { return a + b; }
};
struct Mul {
  static constexpr float start = 1;
  static float combine(float total, float x) { return total * x; }
  static float join(float a, float b) { return a * b; }
};
// A NaN wins, as in MINIMUM and MAXIMUM.
struct Min {
  static constexpr float start = __builtin_inff();
  static float combine(float total, float x) {
    return x < total || x != x ? x : total;
  }
  static float join(float a, float b) { return combine(a, b); }
};
struct Max {
  static constexpr float start = -__builtin_inff();
  static float combine(float total, float x) {
    return x > total || x != x ? x : total;
  }
  static float join(float a, float b) { return combine(a, b); }
};

// Four registers of totals hide the latency of the operator.
template <typename Op>
float rowOf(float total, const float *x, std::int64_t stride,
            std::int64_t count) {
  constexpr std::int64_t width = 4 * laneCount;
  float totals[width];
  for (float &t : totals) {
    t = Op::start;
  }
  std::int64_t i = 0;
  if (stride == 1) {
    for (; i + width <= count; i += width) {
      for (std::int64_t lane = 0; lane < width; ++lane) {
        totals[lane] = Op::combine(totals[lane], x[i + lane]);
      }
    }
  } else {
    for (; i + width <= count; i += width) {
      for (std::int64_t lane = 0; lane < width; ++lane) {
        totals[lane] = Op::combine(totals[lane], x[(i + lane) * stride]);
      }
    }
  }
  for (std::int64_t lane = 0; i < count; ++i, ++lane) {
    totals[lane] = Op::combine(totals[lane], x[i * stride]);
  }
  for (std::int64_t half = width / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) {
      totals[lane] = Op::join(totals[lane], totals[lane + half]);
    }
  }
  return Op::join(total, totals[0]);
}

template <typename Op>
void columnsOf(float *__restrict totals, const float *__restrict x,
               std::int64_t stride, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      totals[i] = Op::combine(totals[i], x[i]);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      totals[i] = Op::combine(totals[i], x[i * stride]);
    }
  }
}

} // namespace

ReduceLoops reduceLoops() {
  return {{rowOf<Add>, rowOf<SquareAdd>, rowOf<Mul>, rowOf<Min>, rowOf<Max>},
          {columnsOf<Add>, columnsOf<SquareAdd>, columnsOf<Mul>, columnsOf<Min>,
           columnsOf<Max>}};
}

} // namespace kernels::loops::LOOPS_LEVEL
