// Maximum pooling with the commonest windows, 2x2 side by side, in one pass
// over the plane. Other windows are those of PoolWindows.hpp.
#include "LaneBits.hpp"
#include "Loops.hpp"
#include "Pairs.hpp"
#include "PoolWindows.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Plane = PoolLoops::Plane;
constexpr std::uint8_t noPosition = 255; // as PoolShape::noPosition

bool isPlain2x2(const Plane &plane) {
  return plane.kernelRows == 2 && plane.kernelColumns == 2 &&
         plane.strideRows == 2 && plane.strideColumns == 2 &&
         plane.padRows == 0 && plane.padColumns == 0 &&
         2 * plane.outRows <= plane.inRows &&
         2 * plane.outColumns <= plane.inColumns;
}

// Columns of a row in whole registers.
std::int64_t wholeColumns(std::int64_t columns) {
  return (columns + laneCount - 1) / laneCount * laneCount;
}

// `MayOverrun`: whole registers may be read and written to the end of the last
// one, since what follows belongs to the plane and is written later.
template <bool MayOverrun>
void forwardRow2x2(const float *top, const float *bottom, float *y,
                   std::uint8_t *indices, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += laneCount) {
    const std::int64_t left =
        MayOverrun || count - i > laneCount ? laneCount : count - i;
    const auto [a, b] = loadPairs(top + 2 * i, 2 * left);
    const auto [c, d] = loadPairs(bottom + 2 * i, 2 * left);
    const LaneBits isB = isGreater(b, a);
    LaneBits isD = isGreater(d, c);
    isD |= isNan(c); // which is passed over
    const Lanes ab = choose(isB, b, a);
    const Lanes cd = choose(isD, d, c);
    const LaneBytes atAB = choose(isB, broadcastByte(1), LaneBytes{});
    const LaneBytes atCD = choose(isD, broadcastByte(3), broadcastByte(2));
    const LaneBits isBelow = isGreater(cd, ab);
    storePart(y + i, choose(isBelow, cd, ab), left);
    storeBytes(indices + i, choose(isBelow, atCD, atAB), left);
  }
}

// Sizes are held in registers: positions are bytes, which may be anything to
// the compiler, also the plane.
void forward2x2(const Plane &plane, const float *x, float *y,
                std::uint8_t *indices) {
  const std::int64_t columns = plane.inColumns;
  const std::int64_t out = plane.outColumns;
  const std::int64_t rows = plane.outRows;
  const std::int64_t room = wholeColumns(out);
  const auto mayOverrun = [&](std::int64_t row) {
    return (plane.inRows - 2 * row - 1) * columns >= 2 * room &&
           (rows - row) * out >= room;
  };
  std::int64_t overrunning = rows;
  while (overrunning > 0 && !mayOverrun(overrunning - 1)) {
    --overrunning;
  }
  for (std::int64_t row = 0; row < overrunning; ++row) {
    forwardRow2x2<true>(x, x + columns, y, indices, out);
    x += 2 * columns;
    y += out;
    indices += out;
  }
  for (std::int64_t row = overrunning; row < rows; ++row) {
    forwardRow2x2<false>(x, x + columns, y, indices, out);
    x += 2 * columns;
    y += out;
    indices += out;
  }
}

// Both rows of the input below one row of windows.
template <bool MayOverrun>
void gradientRows2x2(const float *dy, const std::uint8_t *indices, float *top,
                     float *bottom, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += laneCount) {
    const std::int64_t left =
        MayOverrun || count - i > laneCount ? laneCount : count - i;
    const Lanes gradient = loadPart(dy + i, left);
    const LaneBytes at = loadBytes(indices + i, left);
    const auto where = [&](std::uint8_t position) {
      return choose(isEqual(at, position), gradient, Lanes{});
    };
    storePairs(top + 2 * i, {where(0), where(1)}, 2 * left);
    storePairs(bottom + 2 * i, {where(2), where(3)}, 2 * left);
  }
}

void clear(float *begin, const float *end) {
  for (; begin < end; ++begin) {
    *begin = 0;
  }
}

void gradient2x2(const Plane &plane, const float *dy,
                 const std::uint8_t *indices, float *dx) {
  const std::int64_t room = wholeColumns(plane.outColumns);
  const std::int64_t columns = plane.inColumns;
  const float *endDy = dy + plane.outRows * plane.outColumns;
  const float *endDx = dx + plane.inRows * columns;
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    const float *from = dy + row * plane.outColumns;
    float *top = dx + 2 * row * columns;
    float *bottom = top + columns;
    // A row of one register: the upper row's overrun is the lower row's to
    // write.
    const std::uint8_t *at = indices + row * plane.outColumns;
    if (room == laneCount && endDy - from >= room &&
        endDx - bottom >= 2 * room) {
      gradientRows2x2<true>(from, at, top, bottom, plane.outColumns);
    } else {
      gradientRows2x2<false>(from, at, top, bottom, plane.outColumns);
    }
    clear(top + 2 * plane.outColumns, bottom);
    clear(bottom + 2 * plane.outColumns, bottom + columns);
  }
  clear(dx + 2 * plane.outRows * columns, endDx);
}

void relu(float *__restrict y, std::uint8_t *__restrict indices,
          std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    indices[i] = y[i] > 0 ? indices[i] : noPosition;
    y[i] = y[i] > 0 ? y[i] : 0.0f;
  }
}

void forward(const Plane &plane, const float *x, float *y,
             std::uint8_t *indices, float *scratch) {
  if (isPlain2x2(plane)) {
    forward2x2(plane, x, y, indices);
  } else if (isPool3x3(plane)) {
    maxPool3x3(plane, x, y, indices, scratch);
  } else {
    maxPoolWindows(plane, x, y, indices, scratch);
  }
  if (plane.hasRelu) {
    relu(y, indices, plane.outRows * plane.outColumns);
  }
}

void gradient(const Plane &plane, const float *dy, const std::uint8_t *indices,
              float *dx, float *scratch) {
  if (isPlain2x2(plane)) {
    gradient2x2(plane, dy, indices, dx);
  } else if (isPool3x3(plane)) {
    maxPool3x3Grad(plane, dy, indices, dx, scratch);
  } else {
    maxPoolWindowsGrad(plane, dy, indices, dx, scratch);
  }
}

} // namespace

PoolLoops poolLoops() {
  return {forward, gradient};
}

} // namespace kernels::loops::LOOPS_LEVEL
