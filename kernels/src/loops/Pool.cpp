// Maximum pooling over planes of rows. The loops run along an output row, one
// window position at a time, so that they vectorise.
#include "Lanes.hpp"
#include "Loops.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Plane = PoolLoops::Plane;
constexpr std::uint8_t noPosition = 255; // as PoolShape::noPosition

// Output columns [begin, end) whose window position q is inside the input.
struct Columns {
  std::int64_t begin, end;
};
Columns columnsInside(const Plane &plane, std::int64_t q) {
  const std::int64_t stride = plane.strideColumns;
  const std::int64_t first = plane.padColumns - q; // 0 <= column*stride - first
  const std::int64_t last = plane.inColumns - 1 + first;
  const std::int64_t begin = first > 0 ? (first + stride - 1) / stride : 0;
  const std::int64_t end = last < 0 ? 0 : last / stride + 1;
  return {begin, end < plane.outColumns ? end : plane.outColumns};
}

template <std::int64_t Stride>
void improve(const float *__restrict x, std::int64_t stride,
             std::uint8_t position, float *__restrict y,
             std::uint8_t *__restrict indices, std::int64_t count) {
  const std::int64_t step = Stride > 0 ? Stride : stride;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool isBetter = x[i * step] > y[i];
    y[i] = isBetter ? x[i * step] : y[i];
    indices[i] = isBetter ? position : indices[i];
  }
}

// Thirty-two neighbours as two registers, the even ones and the odd ones.
struct Pairs {
  Lanes even, odd;
};
Pairs loadPairs(const float *from, std::int64_t pairs) {
  Lanes low;
  Lanes high;
  if (pairs == laneCount) {
    low = loadLanes(from);
    high = loadLanes(from + laneCount);
  } else {
    const std::int64_t count = 2 * pairs;
    low = loadPart(from, count < laneCount ? count : laneCount);
    high = count <= laneCount ? Lanes{}
                              : loadPart(from + laneCount, count - laneCount);
  }
  return {__builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
                                  20, 22, 24, 26, 28, 30),
          __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19,
                                  21, 23, 25, 27, 29, 31)};
}
// `mayOverrun`: what follows is written later, so whole registers may be
// stored, which is much faster than parts.
void storePairs(float *to, Pairs values, std::int64_t pairs, bool mayOverrun) {
  const Lanes low =
      __builtin_shufflevector(values.even, values.odd, 0, 16, 1, 17, 2, 18, 3,
                              19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Lanes high =
      __builtin_shufflevector(values.even, values.odd, 8, 24, 9, 25, 10, 26, 11,
                              27, 12, 28, 13, 29, 14, 30, 15, 31);
  const std::int64_t count = 2 * pairs;
  if (mayOverrun) {
    storeLanes(to, low);
    storeLanes(to + laneCount, high);
  } else if (count < laneCount) {
    storePart(to, low, count);
  } else {
    storeLanes(to, low);
    storePart(to + laneCount, high, count - laneCount);
  }
}

// The commonest pooling in one pass: windows of 2x2 side by side.
void row2x2(const float *top, const float *bottom, float *y,
            std::uint8_t *indices, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += laneCount) {
    const std::int64_t left = count - i < laneCount ? count - i : laneCount;
    const auto [a, b] = loadPairs(top + 2 * i, left);
    const auto [c, d] = loadPairs(bottom + 2 * i, left);
    const Lanes ab = b > a ? b : a;
    const Lanes cd = d > c ? d : c;
    const LaneMask atAB = b > a ? LaneMask{} + 1 : LaneMask{};
    const LaneMask atCD = d > c ? LaneMask{} + 3 : LaneMask{} + 2;
    storePart(y + i, cd > ab ? cd : ab, left);
    storeBytes(indices + i, cd > ab ? atCD : atAB, left);
  }
}

void relu(float *__restrict y, std::uint8_t *__restrict indices,
          std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    indices[i] = y[i] > 0 ? indices[i] : noPosition;
    y[i] = y[i] > 0 ? y[i] : 0.0f;
  }
}

void forwardRow(const Plane &plane, const float *x, std::int64_t row, float *y,
                std::uint8_t *indices) {
  const std::int64_t top = row * plane.strideRows - plane.padRows;
  bool isFirst = true;
  for (std::int64_t p = 0; p < plane.kernelRows; ++p) {
    const std::int64_t from = top + p;
    if (from < 0 || from >= plane.inRows) {
      continue;
    }
    const float *line = x + from * plane.inColumns - plane.padColumns;
    if (isFirst) { // start each window from its first element inside
      isFirst = false;
      for (std::int64_t i = 0; i < plane.outColumns; ++i) {
        const std::int64_t left = i * plane.strideColumns;
        const std::int64_t q =
            left < plane.padColumns ? plane.padColumns - left : 0;
        y[i] = line[left + q];
        indices[i] = static_cast<std::uint8_t>(p * plane.kernelColumns + q);
      }
    }
    for (std::int64_t q = 0; q < plane.kernelColumns; ++q) {
      const Columns inside = columnsInside(plane, q);
      const auto position =
          static_cast<std::uint8_t>(p * plane.kernelColumns + q);
      const float *start = line + inside.begin * plane.strideColumns + q;
      const std::int64_t count = inside.end - inside.begin;
      auto *function = plane.strideColumns == 1   ? improve<1>
                       : plane.strideColumns == 2 ? improve<2>
                                                  : improve<0>;
      function(start, plane.strideColumns, position, y + inside.begin,
               indices + inside.begin, count);
    }
  }
}

bool isPlain2x2(const Plane &plane) {
  return plane.kernelRows == 2 && plane.kernelColumns == 2 &&
         plane.strideRows == 2 && plane.strideColumns == 2 &&
         plane.padRows == 0 && plane.padColumns == 0 &&
         2 * plane.outRows <= plane.inRows &&
         2 * plane.outColumns <= plane.inColumns;
}

void forward(const Plane &plane, const float *x, float *y,
             std::uint8_t *indices) {
  const bool isPlain = isPlain2x2(plane);
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    float *toY = y + row * plane.outColumns;
    std::uint8_t *toIndices = indices + row * plane.outColumns;
    if (isPlain) {
      const float *top = x + 2 * row * plane.inColumns;
      row2x2(top, top + plane.inColumns, toY, toIndices, plane.outColumns);
    } else {
      forwardRow(plane, x, row, toY, toIndices);
    }
    if (plane.hasRelu) {
      relu(toY, toIndices, plane.outColumns);
    }
  }
}

void spread2x2(const float *dy, const std::uint8_t *indices, int position,
               float *dx, std::int64_t count, bool mayOverrun) {
  for (std::int64_t i = 0; i < count; i += laneCount) {
    const std::int64_t left = count - i < laneCount ? count - i : laneCount;
    const Lanes gradient = loadPart(dy + i, left);
    const LaneMask at = loadBytes(indices + i, left);
    storePairs(dx + 2 * i,
               {at == position ? gradient : Lanes{},
                at == position + 1 ? gradient : Lanes{}},
               left, mayOverrun);
  }
}

void gradient2x2(const Plane &plane, const float *dy,
                 const std::uint8_t *indices, float *dx) {
  // Whole registers of a row end at most this far from its start.
  const std::int64_t room =
      (plane.outColumns + laneCount - 1) / laneCount * laneCount * 2;
  const float *end = dx + plane.inRows * plane.inColumns;
  for (std::int64_t row = 0; row < plane.inRows; ++row) {
    float *to = dx + row * plane.inColumns;
    std::int64_t filled = 0;
    if (row / 2 < plane.outRows) {
      const std::int64_t from = row / 2 * plane.outColumns;
      spread2x2(dy + from, indices + from, static_cast<int>(row % 2 * 2), to,
                plane.outColumns, end - to >= room);
      filled = 2 * plane.outColumns;
    }
    for (; filled < plane.inColumns; ++filled) {
      to[filled] = 0;
    }
  }
}

// Windows may overlap: positions are added up in the order of the outputs.
void gradient(const Plane &plane, const float *dy, const std::uint8_t *indices,
              float *dx) {
  if (isPlain2x2(plane)) {
    return gradient2x2(plane, dy, indices, dx);
  }
  for (std::int64_t i = 0; i < plane.inRows * plane.inColumns; ++i) {
    dx[i] = 0;
  }
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    for (std::int64_t column = 0; column < plane.outColumns; ++column) {
      const std::int64_t at = row * plane.outColumns + column;
      const std::int64_t index = indices[at];
      if (plane.hasRelu && index == noPosition) {
        continue;
      }
      const std::int64_t i =
          row * plane.strideRows - plane.padRows + index / plane.kernelColumns;
      const std::int64_t j = column * plane.strideColumns - plane.padColumns +
                             index % plane.kernelColumns;
      dx[i * plane.inColumns + j] += dy[at];
    }
  }
}

} // namespace

PoolLoops poolLoops() {
  return {forward, gradient};
}

} // namespace kernels::loops::LOOPS_LEVEL
