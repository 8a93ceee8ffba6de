// Maximum pooling over planes of rows. The loops run along an output row, one
// window position at a time, so that they vectorise.
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

// The commonest pooling in one pass: windows of 2x2 side by side.
void row2x2(const float *__restrict top, const float *__restrict bottom,
            float *__restrict y, std::uint8_t *__restrict indices,
            std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = top[2 * i];
    const float b = top[2 * i + 1];
    const float c = bottom[2 * i];
    const float d = bottom[2 * i + 1];
    const float ab = b > a ? b : a;
    const float cd = d > c ? d : c;
    const int atAB = b > a ? 1 : 0;
    const int atCD = d > c ? 3 : 2;
    y[i] = cd > ab ? cd : ab;
    indices[i] = static_cast<std::uint8_t>(cd > ab ? atCD : atAB);
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

void spread2x2(const float *__restrict dy,
               const std::uint8_t *__restrict indices, std::uint8_t position,
               float *__restrict dx, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    dx[2 * i] = indices[i] == position ? dy[i] : 0.0f;
    dx[2 * i + 1] = indices[i] == position + 1 ? dy[i] : 0.0f;
  }
}

void gradient2x2(const Plane &plane, const float *dy,
                 const std::uint8_t *indices, float *dx) {
  for (std::int64_t row = 0; row < plane.inRows; ++row) {
    float *to = dx + row * plane.inColumns;
    std::int64_t filled = 0;
    if (row / 2 < plane.outRows) {
      const std::int64_t from = row / 2 * plane.outColumns;
      spread2x2(dy + from, indices + from,
                static_cast<std::uint8_t>(row % 2 * 2), to, plane.outColumns);
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
