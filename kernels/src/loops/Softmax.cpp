// Softmax of rows, of ten classes or of many: one pass for the maximum, one
// that adds up exponentials, one for the results.
#include "Loops.hpp"
#include "Vectors.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

// Calls visit(first element, elements) for the vectors of a row.
template <typename Visit>
inline void forVectors(std::int64_t length, const Visit &visit) {
  std::int64_t i = 0;
  for (; i + vectorCount <= length; i += vectorCount) {
    visit(i, vectorCount);
  }
  if (i < length) {
    visit(i, length - i);
  }
}

inline Vector load(const float *from, std::int64_t count, float filler) {
  return count == vectorCount ? loadVector(from)
                              : loadFirst(from, count, filler);
}
inline void store(float *to, Vector vector, std::int64_t count) {
  if (count == vectorCount) {
    storeVector(to, vector);
  } else {
    storeFirst(to, vector, count);
  }
}

// Of the elements that are numbers.
float greatestOfRow(const float *x, std::int64_t length) {
  constexpr float lowest = -__builtin_inff();
  Vector tops[4] = {vectorOf(lowest), vectorOf(lowest), vectorOf(lowest),
                    vectorOf(lowest)};
  std::int64_t i = 0;
  for (; i + 4 * vectorCount <= length; i += 4 * vectorCount) {
    for (std::int64_t k = 0; k < 4; ++k) {
      tops[k] = greater(loadVector(x + i + k * vectorCount), tops[k]);
    }
  }
  forVectors(length - i, [&](std::int64_t at, std::int64_t count) {
    tops[0] = greater(load(x + i + at, count, lowest), tops[0]);
  });
  return greatestOf(
      greater(greater(tops[0], tops[1]), greater(tops[2], tops[3])));
}

float sumOfRow(const float *x, std::int64_t length) {
  Vector sum{};
  forVectors(length, [&](std::int64_t i, std::int64_t count) {
    sum += load(x + i, count, 0);
  });
  return sumOf(sum);
}

// y = e^(x - the greatest x); returns their sum.
float powersOfRow(const float *x, float *y, std::int64_t length) {
  const float top = greatestOfRow(x, length);
  Vector sum{};
  forVectors(length, [&](std::int64_t i, std::int64_t count) {
    const Vector power =
        exponential(load(x + i, count, -__builtin_inff()) - top);
    sum += power;
    store(y + i, power, count);
  });
  return sumOf(sum);
}

void softmax(const float *x, float *y, std::int64_t rows, std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r, x += length, y += length) {
    const float scale = 1.0f / powersOfRow(x, y, length);
    mapVectors(y, y, length, [&](Vector power) { return power * scale; });
  }
}

void logSoftmax(const float *x, float *y, std::int64_t rows,
                std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r, x += length, y += length) {
    const float top = greatestOfRow(x, length);
    Vector sum{};
    forVectors(length, [&](std::int64_t i, std::int64_t count) {
      sum += exponential(load(x + i, count, -__builtin_inff()) - top);
    });
    // Not in one step: with a large top the logarithm would lose its digits.
    const float rest = __builtin_logf(sumOf(sum));
    mapVectors(y, x, length,
               [&](Vector value) { return (value - top) - rest; });
  }
}

void softmaxGrad(const float *dy, const float *y, float *dx, std::int64_t rows,
                 std::int64_t length) {
  for (std::int64_t r = 0; r < rows;
       ++r, dy += length, y += length, dx += length) {
    Vector sums{};
    forVectors(length, [&](std::int64_t i, std::int64_t count) {
      sums += load(dy + i, count, 0) * load(y + i, count, 0);
    });
    const float sum = sumOf(sums);
    forVectors(length, [&](std::int64_t i, std::int64_t count) {
      store(dx + i, load(y + i, count, 0) * (load(dy + i, count, 0) - sum),
            count);
    });
  }
}

void logSoftmaxGrad(const float *dy, const float *y, float *dx,
                    std::int64_t rows, std::int64_t length) {
  for (std::int64_t r = 0; r < rows;
       ++r, dy += length, y += length, dx += length) {
    const float sum = sumOfRow(dy, length);
    forVectors(length, [&](std::int64_t i, std::int64_t count) {
      store(dx + i,
            load(dy + i, count, 0) - exponential(load(y + i, count, 0)) * sum,
            count);
    });
  }
}

float powers(float *x, const float *mask, std::int64_t length) {
  if (mask != nullptr) {
    forVectors(length, [&](std::int64_t i, std::int64_t count) {
      store(x + i, load(x + i, count, 0) + load(mask + i, count, 0), count);
    });
  }
  return powersOfRow(x, x, length);
}

} // namespace

SoftmaxLoops softmaxLoops() {
  return {softmax, logSoftmax, softmaxGrad, logSoftmaxGrad, powers};
}

} // namespace kernels::loops::LOOPS_LEVEL
