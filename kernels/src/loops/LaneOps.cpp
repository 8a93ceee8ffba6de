// Pooling, group normalisation and sums with sixteen samples in the lanes: what
// is a reduction over elements elsewhere is plain vector code here.
#include "LaneBits.hpp"
#include "LaneConvolution.hpp"
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Plane = PoolLoops::Plane;
using Group = NormLoops::Group;
constexpr std::uint8_t noPosition = 255; // as PoolShape::noPosition

// The part of a window that is inside the plane.
struct Window {
  std::int64_t top, left;              // of the whole window
  std::int64_t rowBegin, rowEnd;       // window rows inside
  std::int64_t columnBegin, columnEnd; // window columns inside
};
Window windowAt(const Plane &plane, std::int64_t row, std::int64_t column) {
  Window w;
  w.top = row * plane.strideRows - plane.padRows;
  w.left = column * plane.strideColumns - plane.padColumns;
  w.rowBegin = w.top < 0 ? -w.top : 0;
  w.columnBegin = w.left < 0 ? -w.left : 0;
  const std::int64_t rows = plane.inRows - w.top;
  const std::int64_t columns = plane.inColumns - w.left;
  w.rowEnd = rows < plane.kernelRows ? rows : plane.kernelRows;
  w.columnEnd = columns < plane.kernelColumns ? columns : plane.kernelColumns;
  return w;
}

// Kernel sizes that are known to the compiler, or 0; windows of known size are
// inside the plane.
template <int Rows, int Columns> Window clipped(Window w) {
  if constexpr (Rows > 0) {
    return {w.top, w.left, 0, Rows, 0, Columns};
  }
  return w;
}

bool isPlain2x2(const Plane &plane) {
  return plane.kernelRows == 2 && plane.kernelColumns == 2 &&
         plane.padRows == 0 && plane.padColumns == 0 &&
         (plane.outRows - 1) * plane.strideRows + 2 <= plane.inRows &&
         (plane.outColumns - 1) * plane.strideColumns + 2 <= plane.inColumns;
}

template <int Rows, int Columns>
void maxPoolOf(const Plane &plane, const float *x, float *y,
               std::uint8_t *indices) {
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    for (std::int64_t column = 0; column < plane.outColumns; ++column) {
      const Window w = clipped<Rows, Columns>(windowAt(plane, row, column));
      Lanes best{};
      LaneBytes at{};
      bool isFirst = true;
      for (std::int64_t p = w.rowBegin; p < w.rowEnd; ++p) {
        for (std::int64_t q = w.columnBegin; q < w.columnEnd; ++q) {
          const std::int64_t from = (w.top + p) * plane.inColumns + w.left + q;
          const Lanes value = loadLanes(x + from * laneCount);
          const LaneBytes position = broadcastByte(
              static_cast<std::uint8_t>(p * plane.kernelColumns + q));
          if (isFirst) {
            best = value;
            at = position;
            isFirst = false;
            continue;
          }
          const LaneBits isBetter = isGreater(value, best);
          best = choose(isBetter, value, best);
          at = choose(isBetter, position, at);
        }
      }
      if (plane.hasRelu) {
        const LaneBits isPositive = isGreater(best, Lanes{});
        best = choose(isPositive, best, Lanes{});
        at = choose(isPositive, at, broadcastByte(noPosition));
      }
      const std::int64_t to = row * plane.outColumns + column;
      storeLanes(y + to * laneCount, best);
      storeBytes(indices + to * laneCount, at);
    }
  }
}

void maxPool(const Plane &plane, const float *x, float *y,
             std::uint8_t *indices) {
  auto *function = isPlain2x2(plane) ? maxPoolOf<2, 2> : maxPoolOf<0, 0>;
  function(plane, x, y, indices);
}

template <int Rows, int Columns, bool Adds>
void spread(const Plane &plane, const float *dy, const std::uint8_t *indices,
            float *dx) {
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    for (std::int64_t column = 0; column < plane.outColumns; ++column) {
      const Window w = clipped<Rows, Columns>(windowAt(plane, row, column));
      const std::int64_t from = row * plane.outColumns + column;
      const Lanes gradient = loadLanes(dy + from * laneCount);
      const LaneBytes at = loadBytes(indices + from * laneCount);
      for (std::int64_t p = w.rowBegin; p < w.rowEnd; ++p) {
        for (std::int64_t q = w.columnBegin; q < w.columnEnd; ++q) {
          const auto position =
              static_cast<std::uint8_t>(p * plane.kernelColumns + q);
          const Lanes part = choose(isEqual(at, position), gradient, Lanes{});
          float *to =
              dx + ((w.top + p) * plane.inColumns + w.left + q) * laneCount;
          storeLanes(to, Adds ? loadLanes(to) + part : part);
        }
      }
    }
  }
}

void maxPoolGrad(const Plane &plane, const float *dy,
                 const std::uint8_t *indices, float *dx) {
  const bool isDisjoint = plane.kernelRows <= plane.strideRows &&
                          plane.kernelColumns <= plane.strideColumns;
  const bool isCovered =
      isDisjoint && plane.padRows == 0 && plane.padColumns == 0 &&
      plane.inRows == plane.outRows * plane.kernelRows &&
      plane.inColumns == plane.outColumns * plane.kernelColumns;
  if (!isCovered) { // some inputs are in no window, or in several
    for (std::int64_t i = 0; i < plane.inRows * plane.inColumns; ++i) {
      storeLanes(dx + i * laneCount, Lanes{});
    }
  }
  auto *function = !isDisjoint         ? spread<0, 0, true>
                   : isPlain2x2(plane) ? spread<2, 2, false>
                                       : spread<0, 0, false>;
  function(plane, dy, indices, dx);
}

// The sum of function(i) over elements, in four chains.
template <typename Function>
Lanes sumElements(std::int64_t count, const Function &function) {
  Lanes sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int chain = 0; chain < 4; ++chain) {
      sums[chain] += function(i + chain);
    }
  }
  for (; i < count; ++i) {
    sums[0] += function(i);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void groupNorm(const Group &group, const float *x, const float *gamma,
               const float *beta, float epsilon, std::int64_t lanes, float *y,
               float *mean, float *invStdDev) {
  const std::int64_t count = group.channels * group.size;
  const float share = 1.0f / static_cast<float>(count);
  const auto element = [&](std::int64_t i) {
    return loadLanes(x + i * laneCount);
  };
  const Lanes average = sumElements(count, element) * share;
  const Lanes variance = sumElements(count,
                                     [&](std::int64_t i) {
                                       const Lanes difference =
                                           element(i) - average;
                                       return difference * difference;
                                     }) *
                         share;
  const Lanes scale = 1.0f / squareRoot(variance + epsilon);
  const LaneMask mask = firstLanes(lanes);
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const Lanes factor = choose(mask, scale * gamma[c], Lanes{});
    const Lanes shift = choose(mask, beta[c] - average * factor, Lanes{});
    for (std::int64_t i = c * group.size; i < (c + 1) * group.size; ++i) {
      storeLanes(y + i * laneCount, element(i) * factor + shift);
    }
  }
  storeLanes(mean, average);
  storeLanes(invStdDev, scale);
}

void groupNormGrad(const Group &group, const float *dy, const float *x,
                   const float *gamma, const float *mean,
                   const float *invStdDev, std::int64_t lanes, float *dx,
                   float *dgamma, float *dbeta) {
  const Lanes average = loadLanes(mean);
  const Lanes scale = loadLanes(invStdDev);
  const LaneMask mask = firstLanes(lanes);
  Lanes sum{};
  Lanes product{};
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const float *fromDy = dy + c * group.size * laneCount;
    const float *fromX = x + c * group.size * laneCount;
    const Lanes byBeta = sumElements(group.size, [&](std::int64_t i) {
      return loadLanes(fromDy + i * laneCount);
    });
    const Lanes byGamma = scale * sumElements(group.size, [&](std::int64_t i) {
                            return loadLanes(fromDy + i * laneCount) *
                                   (loadLanes(fromX + i * laneCount) - average);
                          });
    dbeta[c] = sumOf(choose(mask, byBeta, Lanes{}));
    dgamma[c] = sumOf(choose(mask, byGamma, Lanes{}));
    sum += gamma[c] * byBeta;
    product += gamma[c] * byGamma;
  }
  const float share = 1.0f / static_cast<float>(group.channels * group.size);
  const Lanes byX = choose(mask, -scale * scale * product * share, Lanes{});
  const Lanes shift =
      choose(mask, -scale * sum * share - average * byX, Lanes{});
  for (std::int64_t c = 0; c < group.channels; ++c) {
    const Lanes byDy = choose(mask, scale * gamma[c], Lanes{});
    for (std::int64_t i = c * group.size; i < (c + 1) * group.size; ++i) {
      const Lanes g = loadLanes(dy + i * laneCount);
      const Lanes v = loadLanes(x + i * laneCount);
      storeLanes(dx + i * laneCount, byDy * g + (byX * v + shift));
    }
  }
}

float sum(const float *x, std::int64_t count) {
  return sumOf(sumElements(
      count, [&](std::int64_t i) { return loadLanes(x + i * laneCount); }));
}

} // namespace

LaneLoops laneLoops() {
  return {laneConvolution, laneWeightGradient, maxPool, maxPoolGrad,
          groupNorm,       groupNormGrad,      sum};
}

} // namespace kernels::loops::LOOPS_LEVEL
