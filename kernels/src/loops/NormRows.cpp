// Normalisations of [rows, channels, size]: a statistic of each channel over
// rows and size. Long channels are summed along their elements; short ones side
// by side, a row of all channels at a time.
#include "Lanes.hpp"
#include "Loops.hpp"

#include <cmath>

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Block = NormRowLoops::Block;

// Rows that are added up in single precision before their sum joins the total.
constexpr std::int64_t rowsPerPart = 128;

bool isAlong(const Block &block) {
  return block.size >= laneCount;
}

// The sum of function(lanes of a, lanes of b) along rows, where lanes beyond
// the end hold `fillerA` and `fillerB`, of which function must make 0.
template <typename Function>
float sumAlong(const float *a, const float *b, std::int64_t count,
               float fillerA, float fillerB, const Function &function) {
  Lanes first{};
  Lanes second{};
  std::int64_t i = 0;
  for (; i + 2 * laneCount <= count; i += 2 * laneCount) {
    first += function(loadLanes(a + i), loadLanes(b + i));
    second +=
        function(loadLanes(a + i + laneCount), loadLanes(b + i + laneCount));
  }
  for (; i < count; i += laneCount) {
    const std::int64_t left = count - i < laneCount ? count - i : laneCount;
    first += function(loadPart(a + i, left, fillerA),
                      loadPart(b + i, left, fillerB));
  }
  return sumOf(first + second);
}

// totals[j] = the sum over rows of function(a[j], b[j], j).
template <typename Function>
void sumColumns(const Block &block, const float *a, const float *b,
                float *__restrict totals, float *__restrict part,
                const Function &function) {
  const std::int64_t width = block.channels * block.size;
  for (std::int64_t j = 0; j < width; ++j) {
    totals[j] = 0;
  }
  for (std::int64_t row = 0; row < block.rows; row += rowsPerPart) {
    for (std::int64_t j = 0; j < width; ++j) {
      part[j] = 0;
    }
    for (std::int64_t r = row; r < block.rows && r < row + rowsPerPart; ++r) {
      const float *fromA = a + r * block.rowStride;
      const float *fromB = b + r * block.rowStride;
      for (std::int64_t j = 0; j < width; ++j) {
        part[j] += function(fromA[j], fromB[j], j);
      }
    }
    for (std::int64_t j = 0; j < width; ++j) {
      totals[j] += part[j];
    }
  }
}

float sumOfChannel(const Block &block, const float *totals, std::int64_t c) {
  float sum = 0;
  for (std::int64_t i = 0; i < block.size; ++i) {
    sum += totals[c * block.size + i];
  }
  return sum;
}

// A value per channel as a value per column.
const float *spread(const Block &block, const float *perChannel,
                    float *perColumn) {
  if (block.size == 1) {
    return perChannel;
  }
  for (std::int64_t c = 0; c < block.channels; ++c) {
    for (std::int64_t i = 0; i < block.size; ++i) {
      perColumn[c * block.size + i] = perChannel[c];
    }
  }
  return perColumn;
}

void statistics(const Block &block, const float *x, float epsilon,
                float divisor, float *mean, float *invStdDev, float *scratch) {
  const auto count = static_cast<float>(block.rows * block.size);
  const std::int64_t width = block.channels * block.size;
  if (isAlong(block)) {
    for (std::int64_t c = 0; c < block.channels; ++c) {
      const float *from = x + c * block.size;
      double sum = 0;
      for (std::int64_t r = 0; r < block.rows; ++r) {
        const float *row = from + r * block.rowStride;
        sum += sumAlong(row, row, block.size, 0, 0,
                        [](Lanes a, Lanes) { return a; });
      }
      const auto average = static_cast<float>(sum / count);
      const Lanes averages = broadcast(average);
      double squares = 0;
      for (std::int64_t r = 0; r < block.rows; ++r) {
        const float *row = from + r * block.rowStride;
        squares +=
            sumAlong(row, row, block.size, average, 0, [&](Lanes a, Lanes) {
              return (a - averages) * (a - averages);
            });
      }
      mean[c] = average;
      invStdDev[c] =
          1.0f / std::sqrt(static_cast<float>(squares) / divisor + epsilon);
    }
    return;
  }
  float *totals = scratch;
  float *part = scratch + width;
  float *means = scratch + 2 * width;
  sumColumns(block, x, x, totals, part,
             [](float a, float, std::int64_t) { return a; });
  for (std::int64_t c = 0; c < block.channels; ++c) {
    mean[c] = sumOfChannel(block, totals, c) / count;
  }
  const float *__restrict average = spread(block, mean, means);
  sumColumns(block, x, x, totals, part,
             [average](float a, float, std::int64_t j) {
               return (a - average[j]) * (a - average[j]);
             });
  for (std::int64_t c = 0; c < block.channels; ++c) {
    invStdDev[c] =
        1.0f / std::sqrt(sumOfChannel(block, totals, c) / divisor + epsilon);
  }
}

void sums(const Block &block, const float *dy, const float *x,
          const float *mean, float *products, float *gradients,
          float *scratch) {
  const std::int64_t width = block.channels * block.size;
  if (isAlong(block)) {
    for (std::int64_t c = 0; c < block.channels; ++c) {
      const Lanes averages = broadcast(mean[c]);
      double product = 0;
      double gradient = 0;
      for (std::int64_t r = 0; r < block.rows; ++r) {
        const std::int64_t at = r * block.rowStride + c * block.size;
        product +=
            sumAlong(dy + at, x + at, block.size, 0, 0,
                     [&](Lanes g, Lanes v) { return g * (v - averages); });
        gradient += sumAlong(dy + at, dy + at, block.size, 0, 0,
                             [](Lanes g, Lanes) { return g; });
      }
      products[c] = static_cast<float>(product);
      gradients[c] = static_cast<float>(gradient);
    }
    return;
  }
  float *totals = scratch;
  float *part = scratch + width;
  const float *__restrict average = spread(block, mean, scratch + 2 * width);
  sumColumns(block, dy, x, totals, part,
             [average](float g, float v, std::int64_t j) {
               return g * (v - average[j]);
             });
  for (std::int64_t c = 0; c < block.channels; ++c) {
    products[c] = sumOfChannel(block, totals, c);
  }
  sumColumns(block, dy, dy, totals, part,
             [](float g, float, std::int64_t) { return g; });
  for (std::int64_t c = 0; c < block.channels; ++c) {
    gradients[c] = sumOfChannel(block, totals, c);
  }
}

void affine(const Block &block, const float *x, const float *factor,
            const float *shift, float *y, float *scratch) {
  const std::int64_t width = block.channels * block.size;
  const bool along = isAlong(block);
  const float *__restrict factors =
      along ? factor : spread(block, factor, scratch);
  const float *__restrict shifts =
      along ? shift : spread(block, shift, scratch + width);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const float *__restrict from = x + r * block.rowStride;
    float *__restrict to = y + r * block.rowStride;
    if (!along) {
      for (std::int64_t j = 0; j < width; ++j) {
        to[j] = from[j] * factors[j] + shifts[j];
      }
      continue;
    }
    for (std::int64_t c = 0; c < block.channels; ++c) {
      const float a = factors[c];
      const float b = shifts[c];
      for (std::int64_t j = c * block.size; j < (c + 1) * block.size; ++j) {
        to[j] = from[j] * a + b;
      }
    }
  }
}

void combine(const Block &block, const float *dy, const float *x,
             const float *byDy, const float *byX, const float *shift, float *dx,
             float *scratch) {
  const std::int64_t width = block.channels * block.size;
  const bool along = isAlong(block);
  const float *__restrict gs = along ? byDy : spread(block, byDy, scratch);
  const float *__restrict xs =
      along ? byX : spread(block, byX, scratch + width);
  const float *__restrict shifts =
      along ? shift : spread(block, shift, scratch + 2 * width);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const float *__restrict fromDy = dy + r * block.rowStride;
    const float *__restrict fromX = x + r * block.rowStride;
    float *__restrict to = dx + r * block.rowStride;
    if (!along) {
      for (std::int64_t j = 0; j < width; ++j) {
        to[j] = gs[j] * fromDy[j] + (xs[j] * fromX[j] + shifts[j]);
      }
      continue;
    }
    for (std::int64_t c = 0; c < block.channels; ++c) {
      const float g = gs[c];
      const float v = xs[c];
      const float s = shifts[c];
      for (std::int64_t j = c * block.size; j < (c + 1) * block.size; ++j) {
        to[j] = g * fromDy[j] + (v * fromX[j] + s);
      }
    }
  }
}

} // namespace

NormRowLoops normRowLoops() {
  return {statistics, sums, affine, combine};
}

} // namespace kernels::loops::LOOPS_LEVEL
