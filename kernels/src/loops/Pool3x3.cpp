// Maximum pooling with windows of 3x3, two apart, and one row and column of
// padding before the plane: the first layers of image networks. Three rows are
// searched as they arrive; the one that two windows share is kept.
#include "LaneBits.hpp"
#include "Pairs.hpp"
#include "PoolWindows.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Plane = PoolLoops::Plane;

// Every window has its middle element in the plane, and every element of the
// plane is in a window.
bool isCovered(std::int64_t in, std::int64_t out) {
  return 2 * out - 1 <= in && in <= 2 * out;
}

std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

// The lanes one further along, after `first`.
Lanes shiftIn(float first, Lanes lanes) {
  return shuffled<16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14>(
      lanes, broadcast(first));
}

// The largest of the three elements that sixteen windows have in a row, and
// which of them it is.
struct Found {
  Lanes value;
  LaneBytes at;
};

// Windows o to o + 15 of a row of `columns` elements; adds to `nan`.
Found searchThree(const float *x, std::int64_t o, std::int64_t columns,
                  LaneBits &nan) {
  constexpr float padding = -__builtin_inff();
  constexpr LaneBytes afterPadding = {1};
  const Pairs pairs =
      loadPairs(x + 2 * o, least(columns - 2 * o, 2 * laneCount), padding);
  nan |= isNan(pairs.even);
  nan |= isNan(pairs.odd);
  Found found{shiftIn(o == 0 ? padding : x[2 * o - 1], pairs.odd),
              o == 0 ? afterPadding : LaneBytes{}};
  const LaneBits isSecond = isGreater(pairs.even, found.value);
  found.value = choose(isSecond, pairs.even, found.value);
  found.at = choose(isSecond, broadcastByte(1), found.at);
  const LaneBits isThird = isGreater(pairs.odd, found.value);
  return {choose(isThird, pairs.odd, found.value),
          choose(isThird, broadcastByte(2), found.at)};
}

// `next` is the window's row that starts at position `position`.
Found join(Found found, Found next, std::uint8_t position) {
  const LaneBits isBetter = isGreater(next.value, found.value);
  return {choose(isBetter, next.value, found.value),
          choose(isBetter, next.at + broadcastByte(position), found.at)};
}

// What a row of windows hands to one row of the plane, thirty-two columns of
// it.
struct Handed {
  Lanes even, odd;

  // Adds the row at position `first` of the windows.
  void add(Lanes gradient, LaneBytes at, Lanes nextGradient, LaneBytes nextAt,
           int first) {
    const auto position = [&](int q) {
      return static_cast<std::uint8_t>(first + q);
    };
    even = addWhere(isEqual(at, position(1)), even, gradient);
    odd = addWhere(isEqual(at, position(2)), odd, gradient);
    odd = addWhere(isEqual(nextAt, position(0)), odd, nextGradient);
  }
};

// One row of outputs, the rows above it done before. `kept` has the values of
// the row that this one shares with the next, `keptAt` their positions. Returns
// whether there are NaNs in the rows that it is the first to read.
bool maxPoolRow3x3(const Plane &plane, const float *x, std::int64_t row,
                   float *y, std::uint8_t *indices, float *kept,
                   std::uint8_t *keptAt) {
  const std::int64_t columns = plane.inColumns;
  const float *middle = x + 2 * row * columns;
  const bool hasBelow = 2 * row + 1 < plane.inRows;
  LaneBits nan{};
  for (std::int64_t o = 0; o < plane.outColumns; o += laneCount) {
    Found found = searchThree(middle, o, columns, nan);
    if (row == 0) {
      found.at += broadcastByte(3);
    } else {
      found = join({loadLanes(kept + o), loadBytes(keptAt + o)}, found, 3);
    }
    if (hasBelow) {
      const Found below = searchThree(middle + columns, o, columns, nan);
      storeLanes(kept + o, below.value);
      storeBytes(keptAt + o, below.at);
      found = join(found, below, 6);
    }
    const std::int64_t left = least(plane.outColumns - o, laneCount);
    storePart(y + o, found.value, left);
    storeBytes(indices + o, found.at, left);
  }
  return isAny(nan);
}

} // namespace

bool isPool3x3(const Plane &plane) {
  return plane.kernelRows == 3 && plane.kernelColumns == 3 &&
         plane.strideRows == 2 && plane.strideColumns == 2 &&
         plane.padRows == 1 && plane.padColumns == 1 &&
         isCovered(plane.inRows, plane.outRows) &&
         isCovered(plane.inColumns, plane.outColumns);
}

void maxPool3x3(const Plane &plane, const float *x, float *y,
                std::uint8_t *indices, float *scratch) {
  auto *keptAt =
      reinterpret_cast<std::uint8_t *>(scratch + plane.outColumns + laneCount);
  bool hadNan = false;
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    const std::int64_t to = row * plane.outColumns;
    const bool hasNan =
        maxPoolRow3x3(plane, x, row, y + to, indices + to, scratch, keptAt);
    if (hasNan || hadNan) {
      maxPoolRow(plane, x, row, y + to, indices + to);
    }
    hadNan = hasNan;
  }
}

void maxPool3x3Grad(const Plane &plane, const float *dy,
                    const std::uint8_t *indices, float *dx, float *scratch) {
  const std::int64_t out = plane.outColumns;
  const std::int64_t columns = plane.inColumns;
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    float *middle = dx + 2 * row * columns;
    const bool hasBelow = 2 * row + 1 < plane.inRows;
    const bool isLast = row + 1 == plane.outRows;
    for (std::int64_t o = 0; o < out; o += laneCount) {
      const std::int64_t from = row * out + o;
      const std::int64_t left = least(out - o, laneCount);
      const std::int64_t next = least(out - o - 1, laneCount);
      const Lanes gradient = loadPart(dy + from, left);
      const LaneBytes at = loadBytes(indices + from, left);
      const Lanes nextGradient = loadPart(dy + from + 1, next);
      const LaneBytes nextAt = loadBytes(indices + from + 1, next);
      const std::int64_t stored = least(columns - 2 * o, 2 * laneCount);
      if (row > 0) {
        Handed above{loadLanes(scratch + 2 * o),
                     loadLanes(scratch + 2 * o + laneCount)};
        above.add(gradient, at, nextGradient, nextAt, 0);
        storePairs(middle - columns + 2 * o, {above.even, above.odd}, stored);
      }
      Handed level{};
      level.add(gradient, at, nextGradient, nextAt, 3);
      storePairs(middle + 2 * o, {level.even, level.odd}, stored);
      Handed below{};
      below.add(gradient, at, nextGradient, nextAt, 6);
      if (!isLast) {
        storeLanes(scratch + 2 * o, below.even);
        storeLanes(scratch + 2 * o + laneCount, below.odd);
      } else if (hasBelow) {
        storePairs(middle + columns + 2 * o, {below.even, below.odd}, stored);
      }
    }
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
