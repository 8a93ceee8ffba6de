// Normalisations of [rows, channels, size]: a statistic of each channel over
// rows and size. Long channels are summed along their elements; short ones side
// by side, a row of all channels at a time.
#include "LaneSums.hpp"
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

// Elements of a channel that are added up in single precision, at least, before
// their sum joins the total.
constexpr std::int64_t elementsPerPart = 2048;

// The sums of function(lanes of a, lanes of b, totals) over channel `c`, as
// those of LaneSums; lanes beyond the end of a row hold `fillerA` and 0.
template <int Count, typename Function>
void sumChannel(const Block &block, const float *a, const float *b,
                std::int64_t c, float fillerA, double (&totals)[Count],
                const Function &function) {
  for (std::int64_t row = 0; row < block.rows;) {
    LaneSums<Count> part;
    for (std::int64_t done = 0; row < block.rows && done < elementsPerPart;
         done += block.size) {
      const std::int64_t at = row++ * block.rowStride + c * block.size;
      part.add(a + at, b + at, block.size, fillerA, 0, function);
    }
    for (int i = 0; i < Count; ++i) {
      totals[i] += part.total(i);
    }
  }
}

// The mean of channel `c`.
float meanOf(const Block &block, const float *x, std::int64_t c) {
  double sum[1] = {};
  sumChannel(block, x, x, c, 0, sum,
             [](Lanes a, Lanes, Lanes *total) { total[0] += a; });
  return static_cast<float>(sum[0] /
                            static_cast<double>(block.rows * block.size));
}

// The sum of its squared differences from `mean`.
float squaresOf(const Block &block, const float *x, std::int64_t c,
                float mean) {
  const Lanes means = broadcast(mean);
  double squares[1] = {};
  sumChannel(block, x, x, c, mean, squares, [&](Lanes a, Lanes, Lanes *total) {
    total[0] += (a - means) * (a - means);
  });
  return static_cast<float>(squares[0]);
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
    // One step for all channels after the other: within a step, none waits for
    // another.
    for (std::int64_t c = 0; c < block.channels; ++c) {
      mean[c] = meanOf(block, x, c);
    }
    for (std::int64_t c = 0; c < block.channels; ++c) {
      scratch[c] = squaresOf(block, x, c, mean[c]);
    }
    for (std::int64_t c = 0; c < block.channels; ++c) {
      invStdDev[c] = 1.0f / std::sqrt(scratch[c] / divisor + epsilon);
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
      const Lanes means = broadcast(mean[c]);
      double totals[2] = {};
      sumChannel(block, dy, x, c, 0, totals,
                 [&](Lanes g, Lanes v, Lanes *total) {
                   total[0] += g * (v - means);
                   total[1] += g;
                 });
      products[c] = static_cast<float>(totals[0]);
      gradients[c] = static_cast<float>(totals[1]);
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

// Whether results are so many that they would push inputs out of the cache:
// they go past it, which also saves reading their lines before.
bool isStreamed(const Block &block) {
  constexpr std::int64_t mostCached = 1 << 21;
  return block.rows * block.rowStride > mostCached;
}

// Stores lanes to lines of memory, past the cache or not.
template <bool IsStream> void storeLine(float *to, Lanes lanes) {
  if constexpr (IsStream) {
    streamLanes(to, lanes);
  } else {
    storeLanes(to, lanes);
  }
}

// to[i] = function(lanes of a, lanes of b, factors of their channels) along
// channels that follow each other. Registers are aligned with the lines of
// `to`, whatever the size of a channel: some hold the end of one and the start
// of the next.
template <bool IsStream, std::size_t Count, typename Function>
void mapRow(const Block &block, const float *a, const float *b,
            const float *const (&factors)[Count], float *to,
            const Function &function) {
  Lanes own[Count], mixed[Count];
  const auto mapPart = [&](std::int64_t i, std::int64_t left) {
    storePart(to + i,
              function(loadPart(a + i, left), loadPart(b + i, left), own),
              left);
  };
  const auto at = reinterpret_cast<std::uintptr_t>(to) / sizeof(float);
  auto i = static_cast<std::int64_t>(-at % std::uintptr_t{laneCount});
  for (std::int64_t c = 0; c < block.channels; ++c) {
    for (std::size_t k = 0; k < Count; ++k) {
      own[k] = broadcast(factors[k][c]);
    }
    if (c == 0 && i > 0) {
      mapPart(0, i);
    }
    const std::int64_t end = (c + 1) * block.size;
    for (; i + laneCount <= end; i += laneCount) {
      storeLine<IsStream>(to + i,
                          function(loadLanes(a + i), loadLanes(b + i), own));
    }
    if (i == end) {
      continue;
    }
    if (c + 1 == block.channels) {
      mapPart(i, end - i);
    } else {
      const LaneMask isOwn = firstLanes(end - i);
      for (std::size_t k = 0; k < Count; ++k) {
        mixed[k] = choose(isOwn, own[k], broadcast(factors[k][c + 1]));
      }
      storeLine<IsStream>(to + i,
                          function(loadLanes(a + i), loadLanes(b + i), mixed));
      i += laneCount;
    }
  }
}

template <std::size_t Count, typename Function>
void mapRows(const Block &block, const float *a, const float *b,
             const float *const (&factors)[Count], float *to,
             const Function &function) {
  const bool isStream = isStreamed(block);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t at = r * block.rowStride;
    if (isStream) {
      mapRow<true>(block, a + at, b + at, factors, to + at, function);
    } else {
      mapRow<false>(block, a + at, b + at, factors, to + at, function);
    }
  }
  if (isStream) {
    finishStreams();
  }
}

void affine(const Block &block, const float *x, const float *factor,
            const float *shift, float *y, float *scratch) {
  if (isAlong(block)) {
    mapRows(block, x, x, {factor, shift}, y,
            [](Lanes v, Lanes, const Lanes *by) { return v * by[0] + by[1]; });
    return;
  }
  const std::int64_t width = block.channels * block.size;
  const float *__restrict factors = spread(block, factor, scratch);
  const float *__restrict shifts = spread(block, shift, scratch + width);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const float *__restrict from = x + r * block.rowStride;
    float *__restrict to = y + r * block.rowStride;
    for (std::int64_t j = 0; j < width; ++j) {
      to[j] = from[j] * factors[j] + shifts[j];
    }
  }
}

void combine(const Block &block, const float *dy, const float *x,
             const float *byDy, const float *byX, const float *shift, float *dx,
             float *scratch) {
  if (isAlong(block)) {
    mapRows(block, dy, x, {byDy, byX, shift}, dx,
            [](Lanes g, Lanes v, const Lanes *by) {
              return by[0] * g + (by[1] * v + by[2]);
            });
    return;
  }
  const std::int64_t width = block.channels * block.size;
  const float *__restrict gs = spread(block, byDy, scratch);
  const float *__restrict xs = spread(block, byX, scratch + width);
  const float *__restrict shifts = spread(block, shift, scratch + 2 * width);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const float *__restrict fromDy = dy + r * block.rowStride;
    const float *__restrict fromX = x + r * block.rowStride;
    float *__restrict to = dx + r * block.rowStride;
    for (std::int64_t j = 0; j < width; ++j) {
      to[j] = gs[j] * fromDy[j] + (xs[j] * fromX[j] + shifts[j]);
    }
  }
}

} // namespace

NormRowLoops normRowLoops() {
  return {statistics, sums, affine, combine};
}

} // namespace kernels::loops::LOOPS_LEVEL
