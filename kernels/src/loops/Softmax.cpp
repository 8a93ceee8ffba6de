// Softmax of short or long rows. Exponentials are taken over pieces of many
// rows at once, so that rows of ten classes fill the registers, too.
#include "Lanes.hpp"
#include "Loops.hpp"
#include "VectorMath.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

float maximumOf(const float *x, std::int64_t count) {
  float top = x[0];
  for (std::int64_t i = 1; i < count; ++i) {
    top = x[i] > top ? x[i] : top;
  }
  return top;
}

float sumOfRow(const float *x, std::int64_t count) {
  Lanes sum{};
  std::int64_t i = 0;
  for (; i + laneCount <= count; i += laneCount) {
    sum += loadLanes(x + i);
  }
  return sumOf(sum + loadPart(x + i, count - i));
}

void exponentials(float *y, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = std::exp(y[i]);
  }
}

// Calls visit(first row, rows) for pieces of about a block of elements.
template <typename Visit>
void forPieces(std::int64_t rows, std::int64_t length, const Visit &visit) {
  const std::int64_t fitting = blockElements / length;
  const std::int64_t most = fitting > 1 ? fitting : 1;
  for (std::int64_t row = 0; row < rows; row += most) {
    visit(row, rows - row < most ? rows - row : most);
  }
}

void subtractMaxima(const float *x, float *y, std::int64_t rows,
                    std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float top = maximumOf(x + r * length, length);
    for (std::int64_t i = r * length; i < (r + 1) * length; ++i) {
      y[i] = x[i] - top;
    }
  }
}

void softmax(const float *x, float *y, std::int64_t rows, std::int64_t length) {
  forPieces(rows, length, [&](std::int64_t first, std::int64_t count) {
    float *to = y + first * length;
    subtractMaxima(x + first * length, to, count, length);
    exponentials(to, count * length);
    for (std::int64_t r = 0; r < count; ++r) {
      const float scale = 1.0f / sumOfRow(to + r * length, length);
      for (std::int64_t i = r * length; i < (r + 1) * length; ++i) {
        to[i] *= scale;
      }
    }
  });
}

// The exponentials go through the output, which is then written again.
void logSoftmax(const float *x, float *y, std::int64_t rows,
                std::int64_t length) {
  forPieces(rows, length, [&](std::int64_t first, std::int64_t count) {
    const float *from = x + first * length;
    float *to = y + first * length;
    subtractMaxima(from, to, count, length);
    exponentials(to, count * length);
    for (std::int64_t r = 0; r < count; ++r) {
      const float shift = maximumOf(from + r * length, length) +
                          std::log(sumOfRow(to + r * length, length));
      for (std::int64_t i = r * length; i < (r + 1) * length; ++i) {
        to[i] = from[i] - shift;
      }
    }
  });
}

void softmaxGrad(const float *dy, const float *y, float *dx, std::int64_t rows,
                 std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float *fromDy = dy + r * length;
    const float *fromY = y + r * length;
    Lanes sums{};
    std::int64_t i = 0;
    for (; i + laneCount <= length; i += laneCount) {
      sums += loadLanes(fromDy + i) * loadLanes(fromY + i);
    }
    sums += loadPart(fromDy + i, length - i) * loadPart(fromY + i, length - i);
    const float sum = sumOf(sums);
    float *__restrict to = dx + r * length;
    for (std::int64_t j = 0; j < length; ++j) {
      to[j] = fromY[j] * (fromDy[j] - sum);
    }
  }
}

void logSoftmaxGrad(const float *dy, const float *y, float *dx,
                    std::int64_t rows, std::int64_t length) {
  forPieces(rows, length, [&](std::int64_t first, std::int64_t count) {
    const float *fromDy = dy + first * length;
    float *to = dx + first * length;
    for (std::int64_t i = 0; i < count * length; ++i) {
      to[i] = y[first * length + i];
    }
    exponentials(to, count * length);
    for (std::int64_t r = 0; r < count; ++r) {
      const float sum = sumOfRow(fromDy + r * length, length);
      for (std::int64_t i = r * length; i < (r + 1) * length; ++i) {
        to[i] = fromDy[i] - to[i] * sum;
      }
    }
  });
}

} // namespace

SoftmaxLoops softmaxLoops() {
  return {softmax, logSoftmax, softmaxGrad, logSoftmaxGrad};
}

} // namespace kernels::loops::LOOPS_LEVEL
