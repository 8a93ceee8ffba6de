// Group normalisation of one group of channels of one sample. The group is
// contiguous and small enough for the cache, so three passes are cheap and the
// variance is taken of differences from the mean.
#include "Lanes.hpp"
#include "Loops.hpp"

#include <cmath>

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Group = NormLoops::Group;

// The sum of function(lanes of a, lanes of b) along two rows; `function` must
// give 0 for lanes beyond the end, whose elements are `fillerA` and 0.
template <typename Function>
float sumRows(const float *a, const float *b, std::int64_t count, float fillerA,
              const Function &function) {
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
    first += function(loadPart(a + i, left, fillerA), loadPart(b + i, left));
  }
  return sumOf(first + second);
}

void forward(const Group &group, const float *x, const float *gamma,
             const float *beta, float epsilon, float *y, float *mean,
             float *invStdDev) {
  const std::int64_t count = group.channels * group.size;
  const float sum = sumRows(x, x, count, 0, [](Lanes a, Lanes) { return a; });
  const float average = sum / static_cast<float>(count);
  const Lanes averages = broadcast(average);
  const float squares = sumRows(x, x, count, average, [&](Lanes a, Lanes) {
    const Lanes difference = a - averages;
    return difference * difference;
  });
  const float scale =
      1.0f / std::sqrt(squares / static_cast<float>(count) + epsilon);
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const float *__restrict from = x + c * group.size;
    float *__restrict to = y + c * group.size;
    const float factor = scale * gamma[c];
    const float shift = beta[c] - average * factor;
    for (std::int64_t i = 0; i < group.size; ++i) {
      to[i] = from[i] * factor + shift;
    }
  }
  *mean = average;
  *invStdDev = scale;
}

// With u = gamma * dy and n = (x - mean) * invStdDev:
// dx = invStdDev * (u - mean(u) - n * mean(u * n)).
void gradient(const Group &group, const float *dy, const float *x,
              const float *gamma, float mean, float invStdDev, float *dx,
              float *dgamma, float *dbeta) {
  const Lanes means = broadcast(mean);
  float sum = 0;
  float product = 0;
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const float *fromDy = dy + c * group.size;
    const float *fromX = x + c * group.size;
    dbeta[c] =
        sumRows(fromDy, fromX, group.size, 0, [](Lanes g, Lanes) { return g; });
    dgamma[c] =
        invStdDev * sumRows(fromDy, fromX, group.size, 0,
                            [&](Lanes g, Lanes v) { return g * (v - means); });
    sum += gamma[c] * dbeta[c];
    product += gamma[c] * dgamma[c];
  }
  const auto count = static_cast<float>(group.channels * group.size);
  // dx = byDy * dy + byX * x + shift
  const float byX = -invStdDev * invStdDev * product / count;
  const float shift = -invStdDev * sum / count - mean * byX;
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const float *__restrict fromDy = dy + c * group.size;
    const float *__restrict fromX = x + c * group.size;
    float *__restrict to = dx + c * group.size;
    const float byDy = invStdDev * gamma[c];
    for (std::int64_t i = 0; i < group.size; ++i) {
      to[i] = byDy * fromDy[i] + (byX * fromX[i] + shift);
    }
  }
}

} // namespace

NormLoops normLoops() {
  return {forward, gradient};
}

} // namespace kernels::loops::LOOPS_LEVEL
