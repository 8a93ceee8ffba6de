// Reductions along a row and across rows. Integers wrap (-fwrapv).
#include "Lanes.hpp"
#include "Loops.hpp"
#include "VectorMath.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

// No <limits>: these files share no code with others.
template <typename T> constexpr T lowestOf() {
  constexpr bool isSigned = T(-1) < T(0);
  return isSigned ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
}
template <> constexpr float lowestOf<float>() {
  return -__builtin_inff();
}
template <typename T> constexpr T highestOf() {
  return T(~lowestOf<T>());
}
template <> constexpr float highestOf<float>() {
  return __builtin_inff();
}

// combine() adds an element to a total, join() two totals.
template <typename T> struct Add {
  static constexpr T start = 0;
  static T combine(T total, T x) { return total + x; }
  static T join(T a, T b) { return a + b; }
};
template <typename T> struct SquareAdd {
  static constexpr T start = 0;
  static T combine(T total, T x) { return total + x * x; }
  static T join(T a, T b) { return a + b; }
};
template <typename T> struct Mul {
  static constexpr T start = 1;
  static T combine(T total, T x) { return total * x; }
  static T join(T a, T b) { return a * b; }
};
// A NaN wins, as in MINIMUM and MAXIMUM.
template <typename T> struct Min {
  static constexpr T start = highestOf<T>();
  static T combine(T total, T x) { return x < total || x != x ? x : total; }
  static T join(T a, T b) { return combine(a, b); }
};
template <typename T> struct Max {
  static constexpr T start = lowestOf<T>();
  static T combine(T total, T x) { return x > total || x != x ? x : total; }
  static T join(T a, T b) { return combine(a, b); }
};
struct LogicalAnd {
  static constexpr std::uint8_t start = 1;
  static std::uint8_t combine(std::uint8_t total, std::uint8_t x) {
    return total & (x != 0);
  }
  static std::uint8_t join(std::uint8_t a, std::uint8_t b) { return a & b; }
};
struct LogicalOr {
  static constexpr std::uint8_t start = 0;
  static std::uint8_t combine(std::uint8_t total, std::uint8_t x) {
    return total | (x != 0);
  }
  static std::uint8_t join(std::uint8_t a, std::uint8_t b) { return a | b; }
};

// As many totals side by side as `width` hide the latency of the operator.
template <typename Op, std::int64_t width, typename T>
T rowOfWidth(T total, const T *x, std::int64_t stride, std::int64_t count) {
  T totals[width];
  for (T &t : totals) {
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

template <typename Op, typename T>
T rowOf(T total, const T *x, std::int64_t stride, std::int64_t count) {
  if (count >= 4 * laneCount) {
    return rowOfWidth<Op, 4 * laneCount>(total, x, stride, count);
  }
  return rowOfWidth<Op, 4>(total, x, stride, count);
}

template <typename Op, typename T>
void columnsOf(T *__restrict totals, const T *__restrict x, std::int64_t stride,
               std::int64_t count) {
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

// log(exp(a) + exp(b)). The difference of two equal infinities is no number,
// but then the greater one is the answer.
inline float logAdd(float a, float b) {
  const float greater = a > b || a != a ? a : b;
  const float lesser = a > b || a != a ? b : a;
  const float added = greater + log1pf(expf(lesser - greater));
  return lesser == greater && greater - greater != 0 ? greater : added;
}

// The greatest first, so that no exponential overflows.
float logAddRow(float total, const float *x, std::int64_t stride,
                std::int64_t count) {
  if (count == 0) {
    return total;
  }
  const float top = rowOf<Max<float>>(-__builtin_inff(), x, stride, count);
  if (top - top != 0) { // infinite or no number
    return logAdd(total, top);
  }
  constexpr std::int64_t width = laneCount;
  float sums[width] = {};
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    for (std::int64_t lane = 0; lane < width; ++lane) {
      sums[lane] += expf(x[(i + lane) * stride] - top);
    }
  }
  for (std::int64_t lane = 0; i < count; ++i, ++lane) {
    sums[lane] += expf(x[i * stride] - top);
  }
  for (std::int64_t half = width / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) {
      sums[lane] += sums[lane + half];
    }
  }
  return logAdd(total, top + logf(sums[0]));
}

void logAddColumns(float *__restrict totals, const float *__restrict x,
                   std::int64_t stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    totals[i] = logAdd(totals[i], x[i * stride]);
  }
}

template <typename T> ReduceLoopsOf<T> numberLoops() {
  return {{rowOf<Add<T>, T>, rowOf<SquareAdd<T>, T>, rowOf<Mul<T>, T>,
           rowOf<Min<T>, T>, rowOf<Max<T>, T>},
          {columnsOf<Add<T>, T>, columnsOf<SquareAdd<T>, T>,
           columnsOf<Mul<T>, T>, columnsOf<Min<T>, T>, columnsOf<Max<T>, T>}};
}

constexpr std::size_t indexOf(ReduceOp op) {
  return static_cast<std::size_t>(op);
}

ReduceLoopsOf<float> floatLoops() {
  auto loops = numberLoops<float>();
  loops.row[indexOf(ReduceOp::LogAdd)] = logAddRow;
  loops.columns[indexOf(ReduceOp::LogAdd)] = logAddColumns;
  return loops;
}

ReduceLoopsOf<std::uint8_t> boolLoops() {
  ReduceLoopsOf<std::uint8_t> loops{};
  loops.row[indexOf(ReduceOp::LogicalAnd)] = rowOf<LogicalAnd>;
  loops.row[indexOf(ReduceOp::LogicalOr)] = rowOf<LogicalOr>;
  loops.columns[indexOf(ReduceOp::LogicalAnd)] = columnsOf<LogicalAnd>;
  loops.columns[indexOf(ReduceOp::LogicalOr)] = columnsOf<LogicalOr>;
  return loops;
}

} // namespace

ReduceLoops reduceLoops() {
  return {floatLoops(),
          numberLoops<std::int32_t>(),
          numberLoops<std::uint32_t>(),
          numberLoops<std::int64_t>(),
          numberLoops<std::uint64_t>(),
          boolLoops()};
}

} // namespace kernels::loops::LOOPS_LEVEL
