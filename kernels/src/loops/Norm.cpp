// Group normalisation of one group of channels of one sample. The group is
// contiguous and small enough for the cache, so three passes are cheap and the
// variance is taken of differences from the mean. Channels of one element, as
// those of a layer normalisation are, run side by side in the lanes.
#include "LaneSums.hpp"
#include "Loops.hpp"

#include <cmath>

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Group = NormLoops::Group;

float meanOf(const float *x, std::int64_t count) {
  LaneSums<1> sums;
  sums.add(x, x, count, 0, 0,
           [](Lanes a, Lanes, Lanes *total) { total[0] += a; });
  return sums.total(0) / static_cast<float>(count);
}

float varianceOf(const float *x, std::int64_t count, float mean) {
  const Lanes means = broadcast(mean);
  LaneSums<1> sums;
  sums.add(x, x, count, mean, 0, [&](Lanes a, Lanes, Lanes *total) {
    total[0] += (a - means) * (a - means);
  });
  return sums.total(0) / static_cast<float>(count);
}

void forward(const Group &group, const float *__restrict x,
             const float *__restrict gamma, const float *__restrict beta,
             float epsilon, float *__restrict y, float *mean,
             float *invStdDev) {
  const std::int64_t count = group.channels * group.size;
  const float average = meanOf(x, count);
  const float scale = 1.0f / std::sqrt(varianceOf(x, count, average) + epsilon);
  *mean = average;
  *invStdDev = scale;
  if (group.size == 1) {
    for (std::int64_t c = 0; c < group.channels; ++c) {
      const float factor = scale * gamma[c];
      y[c] = x[c] * factor + (beta[c] - average * factor);
    }
    return;
  }
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const float *__restrict from = x + c * group.size;
    float *__restrict to = y + c * group.size;
    const float factor = scale * gamma[c];
    const float shift = beta[c] - average * factor;
    for (std::int64_t i = 0; i < group.size; ++i) {
      to[i] = from[i] * factor + shift;
    }
  }
}

// With u = gamma * dy and n = (x - mean) * invStdDev:
// dx = invStdDev * (u - mean(u) - n * mean(u * n))
//    = invStdDev * u + byX * x + shift.
struct Slope {
  float byX, shift;
};
// `sum` and `product` are those of u and of u * n over `count` elements.
Slope slopeOf(float sum, float product, float mean, float invStdDev,
              std::int64_t count) {
  const auto n = static_cast<float>(count);
  const float byX = -invStdDev * invStdDev * product / n;
  return {byX, -invStdDev * sum / n - mean * byX};
}

// Of channels of one element.
void gradientOfElements(std::int64_t channels, const float *__restrict dy,
                        const float *__restrict x,
                        const float *__restrict gamma, float mean,
                        float invStdDev, float *__restrict dx,
                        float *__restrict dgamma, float *__restrict dbeta) {
  const Lanes means = broadcast(mean);
  LaneSums<2> sums;
  sums.addThree(dy, gamma, x, channels,
                [&](Lanes g, Lanes factor, Lanes v, Lanes *total) {
                  total[0] += g * factor;
                  total[1] += g * factor * (v - means);
                });
  const auto [byX, shift] = slopeOf(sums.total(0), invStdDev * sums.total(1),
                                    mean, invStdDev, channels);
  for (std::int64_t c = 0; c < channels; ++c) {
    dx[c] = invStdDev * gamma[c] * dy[c] + (byX * x[c] + shift);
    dgamma[c] += dy[c] * ((x[c] - mean) * invStdDev);
    dbeta[c] += dy[c];
  }
}

void gradient(const Group &group, const float *dy, const float *x,
              const float *gamma, float mean, float invStdDev, float *dx,
              float *dgamma, float *dbeta) {
  if (group.size == 1) {
    return gradientOfElements(group.channels, dy, x, gamma, mean, invStdDev, dx,
                              dgamma, dbeta);
  }
  const Lanes means = broadcast(mean);
  float sum = 0;
  float product = 0;
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const std::int64_t at = c * group.size;
    LaneSums<2> sums;
    sums.add(dy + at, x + at, group.size, 0, 0,
             [&](Lanes g, Lanes v, Lanes *total) {
               total[0] += g;
               total[1] += g * (v - means);
             });
    const float byBeta = sums.total(0);
    const float byGamma = invStdDev * sums.total(1);
    dbeta[c] += byBeta;
    dgamma[c] += byGamma;
    sum += gamma[c] * byBeta;
    product += gamma[c] * byGamma;
  }
  const auto [byX, shift] =
      slopeOf(sum, product, mean, invStdDev, group.channels * group.size);
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
