// Reductions along a row and across rows. Integers wrap (-fwrapv).
#include "Loops.hpp"
#include "VectorMath.hpp"
#include "Vectors.hpp"

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

// Rows of floats by whole registers: how to add one to a total. A NaN must win,
// but the instructions for extremes drop it; two registers are looked through
// at once.
struct AddVectors {
  static constexpr float start = 0;
  static constexpr bool losesNans = false;
  static Vector combine(Vector total, Vector x) { return total + x; }
  static float fold(Vector total) { return sumOf(total); }
};
struct SquareAddVectors : AddVectors {
  static Vector combine(Vector total, Vector x) { return total + x * x; }
};
struct MaxVectors {
  static constexpr float start = lowestOf<float>();
  static constexpr bool losesNans = true;
  static Vector combine(Vector total, Vector x) { return greater(x, total); }
  static float fold(Vector total) { return greatestOf(total); }
};
struct MinVectors {
  static constexpr float start = highestOf<float>();
  static constexpr bool losesNans = true;
  static Vector combine(Vector total, Vector x) { return lesser(x, total); }
  static float fold(Vector total) { return -greatestOf(-total); }
};
template <typename Op> struct VectorsOf;
template <> struct VectorsOf<Add<float>> : AddVectors {};
template <> struct VectorsOf<SquareAdd<float>> : SquareAddVectors {};
template <> struct VectorsOf<Max<float>> : MaxVectors {};
template <> struct VectorsOf<Min<float>> : MinVectors {};

// The first `head` elements, fewer than a vector, are taken by themselves.
template <typename Vectors>
float vectorRow(const float *x, std::int64_t count, std::int64_t head = 0) {
  Vector totals[4] = {vectorOf(Vectors::start), vectorOf(Vectors::start),
                      vectorOf(Vectors::start), vectorOf(Vectors::start)};
  NanMask nans{};
  std::int64_t i = head;
  if (head > 0) {
    const Vector first = loadFirst(x, head, Vectors::start);
    totals[3] = Vectors::combine(totals[3], first);
    if constexpr (Vectors::losesNans) {
      nans = unordered(first, first);
    }
  }
  for (; i + 4 * vectorCount <= count; i += 4 * vectorCount) {
    Vector some[4];
    for (std::int64_t k = 0; k < 4; ++k) {
      some[k] = loadVector(x + i + k * vectorCount);
      totals[k] = Vectors::combine(totals[k], some[k]);
    }
    if constexpr (Vectors::losesNans) {
      nans |= unordered(some[0], some[1]) | unordered(some[2], some[3]);
    }
  }
  for (std::int64_t k = 0; i < count; i += vectorCount, ++k) {
    const Vector last = i + vectorCount <= count
                            ? loadVector(x + i)
                            : loadFirst(x + i, count - i, Vectors::start);
    totals[k] = Vectors::combine(totals[k], last);
    if constexpr (Vectors::losesNans) {
      nans |= unordered(last, last);
    }
  }
  if (Vectors::losesNans && isAny(nans)) {
    return __builtin_nanf("");
  }
  // Squares are added up as they are.
  using Join = std::conditional_t<Vectors::losesNans, Vectors, AddVectors>;
  return Join::fold(Join::combine(Join::combine(totals[0], totals[1]),
                                  Join::combine(totals[2], totals[3])));
}

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
  if constexpr (requires { VectorsOf<Op>::start; }) {
    if (stride == 1) {
      return Op::join(total, vectorRow<VectorsOf<Op>>(x, count));
    }
  }
  if (count >= 64) {
    return rowOfWidth<Op, 64>(total, x, stride, count);
  }
  return rowOfWidth<Op, 4>(total, x, stride, count);
}

// Elements of row `r` before its first whole line, if the first row starts with
// one: where a register is a line, a load from anywhere else takes two. Counted
// from the first row and not from the address, so that no sum depends on where
// its row lies.
std::int64_t headOf(std::int64_t r, std::int64_t rowStride,
                    std::int64_t count) {
  constexpr bool isLine = vectorCount == 16;
  return isLine && count >= 8 * vectorCount
             ? -(r * rowStride) & (vectorCount - 1)
             : 0;
}

template <typename Op, typename T>
void rowsOf(T *totals, const T *x, std::int64_t rows, std::int64_t rowStride,
            std::int64_t stride, std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T *row = x + r * rowStride;
    if constexpr (requires { VectorsOf<Op>::start; }) {
      if (stride == 1) {
        totals[r] = Op::join(
            totals[r],
            vectorRow<VectorsOf<Op>>(row, count, headOf(r, rowStride, count)));
        continue;
      }
    }
    totals[r] = rowOf<Op>(totals[r], row, stride, count);
  }
}

// Totals are read and written once for `rows` rows.
template <typename Op, std::int64_t rows, typename T>
void columnsOfSome(T *__restrict totals, const T *__restrict x,
                   std::int64_t rowStride, std::int64_t stride,
                   std::int64_t count) {
  const auto addColumns = [&](std::int64_t step) {
    for (std::int64_t i = 0; i < count; ++i) {
      T total = totals[i];
      for (std::int64_t r = 0; r < rows; ++r) {
        total = Op::combine(total, x[r * rowStride + i * step]);
      }
      totals[i] = total;
    }
  };
  if (stride == 1) {
    addColumns(1);
  } else {
    addColumns(stride);
  }
}

template <typename Op, typename T>
void columnRowsOf(T *totals, const T *x, std::int64_t rows,
                  std::int64_t rowStride, std::int64_t stride,
                  std::int64_t count) {
  constexpr std::int64_t most = 8;
  std::int64_t r = 0;
  for (; r + most <= rows; r += most) {
    columnsOfSome<Op, most>(totals, x + r * rowStride, rowStride, stride,
                            count);
  }
  for (; r < rows; ++r) {
    columnsOfSome<Op, 1>(totals, x + r * rowStride, rowStride, stride, count);
  }
}

template <typename Op, typename T>
void columnsOf(T *totals, const T *x, std::int64_t stride, std::int64_t count) {
  columnsOfSome<Op, 1>(totals, x, 0, stride, count);
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
  constexpr std::int64_t width = 16;
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

// The loops over rows by those over one.
template <auto row>
void rowsByOne(float *totals, const float *x, std::int64_t rows,
               std::int64_t rowStride, std::int64_t stride,
               std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r) {
    totals[r] = row(totals[r], x + r * rowStride, stride, count);
  }
}
template <auto columns>
void columnRowsByOne(float *totals, const float *x, std::int64_t rows,
                     std::int64_t rowStride, std::int64_t stride,
                     std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r) {
    columns(totals, x + r * rowStride, stride, count);
  }
}

constexpr std::size_t indexOf(ReduceOp op) {
  return static_cast<std::size_t>(op);
}

template <typename Op, typename T>
void setLoops(ReduceLoopsOf<T> &loops, ReduceOp op) {
  loops.row[indexOf(op)] = rowOf<Op>;
  loops.columns[indexOf(op)] = columnsOf<Op>;
  loops.rows[indexOf(op)] = rowsOf<Op>;
  loops.columnRows[indexOf(op)] = columnRowsOf<Op>;
}

template <typename T> ReduceLoopsOf<T> numberLoops() {
  ReduceLoopsOf<T> loops{};
  setLoops<Add<T>>(loops, ReduceOp::Add);
  setLoops<SquareAdd<T>>(loops, ReduceOp::SquareAdd);
  setLoops<Mul<T>>(loops, ReduceOp::Mul);
  setLoops<Min<T>>(loops, ReduceOp::Min);
  setLoops<Max<T>>(loops, ReduceOp::Max);
  return loops;
}

ReduceLoopsOf<float> floatLoops() {
  auto loops = numberLoops<float>();
  loops.row[indexOf(ReduceOp::LogAdd)] = logAddRow;
  loops.columns[indexOf(ReduceOp::LogAdd)] = logAddColumns;
  loops.rows[indexOf(ReduceOp::LogAdd)] = rowsByOne<logAddRow>;
  loops.columnRows[indexOf(ReduceOp::LogAdd)] = columnRowsByOne<logAddColumns>;
  return loops;
}

ReduceLoopsOf<std::uint8_t> boolLoops() {
  ReduceLoopsOf<std::uint8_t> loops{};
  setLoops<LogicalAnd>(loops, ReduceOp::LogicalAnd);
  setLoops<LogicalOr>(loops, ReduceOp::LogicalOr);
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
