// Maximum pooling with any windows. Forward, rows of the input are searched
// along their columns once, then rows of windows down those results: ties go to
// the first element either way, as they do in the order of the window.
// Backward, every element collects from the windows that it is part of.
#include "PoolWindows.hpp"

#include "Phases.hpp"

namespace kernels::loops::LOOPS_LEVEL {

namespace {

using Plane = PoolLoops::Plane;
constexpr std::int64_t mostPositions = 255; // of a window; they are bytes

std::int64_t most(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}
std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

// Window rows or columns [begin, end) inside the input, for output `o`.
struct Inside {
  std::int64_t begin, end;
};
Inside insideOf(std::int64_t o, std::int64_t stride, std::int64_t pad,
                std::int64_t kernel, std::int64_t in) {
  const std::int64_t first = o * stride - pad;
  return {most(-first, 0), least(in - first, kernel)};
}

// The results of searching rows along their columns, kept for as many rows as a
// window is high.
class RowMaxima {
public:
  RowMaxima(const Plane &plane, float *scratch)
      : plane_(plane),
        phases_(plane.strideColumns, plane.padColumns, plane.inColumns,
                (plane.outColumns - 1) * plane.strideColumns +
                    plane.kernelColumns,
                -__builtin_inff()),
        width_(plane.outColumns + laneCount), cells_(scratch) {
    phases_.clear(cells_);
    phases_.clear(cells_ + phases_.size());
    values_ = cells_ + 2 * phases_.size();
    columns_ =
        reinterpret_cast<std::uint8_t *>(values_ + plane.kernelRows * width_);
    firsts_ = columns_ + plane.kernelRows * width_;
    for (std::int64_t o = 0; o < width_; ++o) {
      firsts_[o] = static_cast<std::uint8_t>(
          insideOf(o, plane.strideColumns, plane.padColumns, 1, 1).begin);
    }
    for (std::int64_t q = 0; q < plane.kernelColumns; ++q) {
      elements_[q] = phases_.element(cells_, q);
    }
  }

  // The largest element that the windows have in row `row`, and its column in
  // the window.
  float *values(std::int64_t row) const {
    return values_ + row % plane_.kernelRows * width_;
  }
  std::uint8_t *columns(std::int64_t row) const {
    return columns_ + row % plane_.kernelRows * width_;
  }

  // Searches rows [begin, end) of x. Returns the last one that has a NaN, or
  // -1. Each is cut into phases one row early: what was just stored is slow to
  // load at another offset.
  std::int64_t search(const float *x, std::int64_t begin, std::int64_t end) {
    std::int64_t lastNan = -1;
    for (std::int64_t row = begin; row <= end; ++row) {
      if (row < end &&
          phases_.split(x + row * plane_.inColumns, cellsOf(row))) {
        lastNan = row;
      }
      if (row > begin) {
        searchRow(row - 1);
      }
    }
    return lastNan;
  }

private:
  float *cellsOf(std::int64_t row) const {
    return cells_ + row % 2 * phases_.size();
  }

  void searchRow(std::int64_t row) const {
    if (plane_.kernelColumns == 3) {
      searchRowOf<3>(row);
    } else {
      searchRowOf<0>(row);
    }
  }

  // `Columns`: of the windows, or 0 if only the plane knows.
  template <std::int64_t Columns> void searchRowOf(std::int64_t row) const {
    const std::int64_t count = Columns > 0 ? Columns : plane_.kernelColumns;
    const std::int64_t slot = cellsOf(row) - cells_;
    float *toValues = values(row);
    std::uint8_t *toColumns = columns(row);
    for (std::int64_t o = 0; o < plane_.outColumns; o += laneCount) {
      // Padding is never larger, so that an element inside wins even if it is
      // minus infinity.
      Lanes best = loadLanes(elements_[0] + slot + o);
      LaneBytes at = loadBytes(firsts_ + o);
#pragma GCC unroll 3
      for (std::int64_t q = 1; q < count; ++q) {
        const Lanes value = loadLanes(elements_[q] + slot + o);
        const LaneBits isBetter = isGreater(value, best);
        at = choose(isBetter, broadcastByte(static_cast<std::uint8_t>(q)), at);
        best = choose(isBetter, value, best);
      }
      storeLanes(toValues + o, best);
      storeBytes(toColumns + o, at);
    }
  }

  const Plane &plane_;
  Phases phases_;
  std::int64_t width_;
  float *cells_;                         // two rows cut into phases
  const float *elements_[mostPositions]; // of the windows, in the first of them
  std::uint8_t *firsts_;                 // each window's first column inside
  float *values_;                        // of the last rows
  std::uint8_t *columns_;
};

// One row of windows out of the maxima of its rows, from input row `top` +
// begin on. `Rows`: how many, or 0 if only `rows` knows.
template <std::int64_t Rows>
void joinRows(const Plane &plane, const RowMaxima &maxima, std::int64_t top,
              Inside rows, float *y, std::uint8_t *indices) {
  const std::int64_t count = Rows > 0 ? Rows : rows.end - rows.begin;
  const float *values[mostPositions];
  const std::uint8_t *columns[mostPositions];
  for (std::int64_t p = 0; p < count; ++p) {
    values[p] = maxima.values(top + rows.begin + p);
    columns[p] = maxima.columns(top + rows.begin + p);
  }
  const auto position = [&](std::int64_t p) {
    return broadcastByte(
        static_cast<std::uint8_t>((rows.begin + p) * plane.kernelColumns));
  };
  for (std::int64_t o = 0; o < plane.outColumns; o += laneCount) {
    Lanes best = loadLanes(values[0] + o);
    LaneBytes at = loadBytes(columns[0] + o) + position(0);
#pragma GCC unroll 3
    for (std::int64_t p = 1; p < count; ++p) {
      const Lanes value = loadLanes(values[p] + o);
      const LaneBits isBetter = isGreater(value, best);
      at = choose(isBetter, loadBytes(columns[p] + o) + position(p), at);
      best = choose(isBetter, value, best);
    }
    const std::int64_t left = least(plane.outColumns - o, laneCount);
    storePart(y + o, best, left);
    storeBytes(indices + o, at, left);
  }
}

// Rows of gradients and positions with room to either side, kept for as many
// rows of windows as an element can be part of.
class GradientRows {
public:
  GradientRows(const Plane &plane, float *scratch)
      : plane_(plane), front_((plane.kernelColumns - 1) / plane.strideColumns),
        rows_((plane.kernelRows - 1) / plane.strideRows + 1),
        width_(front_ +
               most(plane.outColumns, (plane.inColumns + plane.padColumns) /
                                          plane.strideColumns) +
               3 * laneCount),
        gradients_(scratch),
        positions_(reinterpret_cast<std::uint8_t *>(scratch + rows_ * width_)) {
    for (std::int64_t i = 0; i < rows_ * width_; ++i) {
      gradients_[i] = 0;
      positions_[i] = 0;
    }
  }

  // Those of column 0; there are zeros around the row.
  const float *gradients(std::int64_t row) const {
    return gradients_ + row % rows_ * width_ + front_;
  }
  const std::uint8_t *positions(std::int64_t row) const {
    return positions_ + row % rows_ * width_ + front_;
  }

  void load(const float *dy, const std::uint8_t *indices, std::int64_t row) {
    const std::int64_t begin = row % rows_ * width_ + front_;
    for (std::int64_t o = 0; o < plane_.outColumns; o += laneCount) {
      const std::int64_t left = least(plane_.outColumns - o, laneCount);
      const std::int64_t from = row * plane_.outColumns + o;
      storeLanes(gradients_ + begin + o, loadPart(dy + from, left));
      storeBytes(positions_ + begin + o, loadBytes(indices + from, left));
    }
  }

private:
  const Plane &plane_;
  std::int64_t front_, rows_, width_;
  float *gradients_;
  std::uint8_t *positions_;
};

// The windows that the columns residue, residue + stride, ... of input rows are
// part of, in their order. One of a window's elements is a tap: where the
// gradients are, and which position takes them.
class Taps {
public:
  Taps(const Plane &plane, std::int64_t residue)
      : plane_(plane),
        phase_((residue + plane.padColumns) % plane.strideColumns),
        shift_((residue + plane.padColumns) / plane.strideColumns),
        perRow_((plane.kernelColumns - 1 - phase_ + plane.strideColumns) /
                plane.strideColumns) {}

  // Those of input row `row`, which rows [begin, end) of windows cover.
  void find(const GradientRows &rows, std::int64_t row, std::int64_t begin,
            std::int64_t end) {
    count_ = 0;
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t p = row + plane_.padRows - r * plane_.strideRows;
      const float *gradients = rows.gradients(r) + shift_;
      const std::uint8_t *positions = rows.positions(r) + shift_;
      for (std::int64_t m = perRow_ - 1; m >= 0; --m) {
        taps_[count_++] = {gradients - m, positions - m,
                           static_cast<std::uint8_t>(p * plane_.kernelColumns +
                                                     m * plane_.strideColumns +
                                                     phase_)};
      }
    }
  }

  // Of the columns i * stride + residue and the next fifteen.
  Lanes sum(std::int64_t i) const {
    Lanes total{};
    for (std::int64_t k = 0; k < count_; ++k) {
      const LaneBytes at = loadBytes(taps_[k].positions + i);
      const Lanes gradient = loadLanes(taps_[k].gradients + i);
      total = addWhere(isEqual(at, taps_[k].position), total, gradient);
    }
    return total;
  }

private:
  struct Tap {
    const float *gradients;
    const std::uint8_t *positions;
    std::uint8_t position;
  };

  const Plane &plane_;
  std::int64_t phase_, shift_, perRow_;
  std::int64_t count_ = 0;
  Tap taps_[mostPositions];
};

// Columns residue, residue + stride, ... of a row.
void storeEvery(const Plane &plane, const Taps &taps, std::int64_t residue,
                float *dx) {
  const std::int64_t stride = plane.strideColumns;
  const std::int64_t count = (plane.inColumns - residue + stride - 1) / stride;
  for (std::int64_t i = 0; i < count; i += laneCount) {
    const Lanes sum = taps.sum(i);
    const std::int64_t left = least(count - i, laneCount);
    if (stride == 1) {
      storePart(dx + i, sum, left);
      continue;
    }
    float sums[laneCount];
    storeLanes(sums, sum);
    for (std::int64_t k = 0; k < left; ++k) {
      dx[(i + k) * stride + residue] = sums[k];
    }
  }
}

// All columns of a row, of windows two apart.
void storeRowPairs(const Plane &plane, const Taps &even, const Taps &odd,
                   float *dx) {
  for (std::int64_t j = 0; j < plane.inColumns; j += 2 * laneCount) {
    storePairs(dx + j, {even.sum(j / 2), odd.sum(j / 2)},
               least(plane.inColumns - j, 2 * laneCount));
  }
}

} // namespace

void maxPoolRow(const Plane &plane, const float *x, std::int64_t row, float *y,
                std::uint8_t *indices) {
  const Inside rows = insideOf(row, plane.strideRows, plane.padRows,
                               plane.kernelRows, plane.inRows);
  for (std::int64_t o = 0; o < plane.outColumns; ++o) {
    const Inside columns = insideOf(o, plane.strideColumns, plane.padColumns,
                                    plane.kernelColumns, plane.inColumns);
    const std::int64_t window =
        (row * plane.strideRows - plane.padRows) * plane.inColumns +
        o * plane.strideColumns - plane.padColumns;
    std::int64_t at = -1;
    for (std::int64_t p = rows.begin; p < rows.end; ++p) {
      for (std::int64_t q = columns.begin; q < columns.end; ++q) {
        const float value = x[window + p * plane.inColumns + q];
        if (at < 0 || value > y[o]) {
          y[o] = value;
          at = p * plane.kernelColumns + q;
        }
      }
    }
    indices[o] = static_cast<std::uint8_t>(at);
  }
}

void maxPoolWindows(const Plane &plane, const float *x, float *y,
                    std::uint8_t *indices, float *scratch) {
  RowMaxima maxima(plane, scratch);
  std::int64_t searched = 0; // rows above have been, or are in no window
  std::int64_t lastNan = -1;
  for (std::int64_t row = 0; row < plane.outRows; ++row) {
    const std::int64_t top = row * plane.strideRows - plane.padRows;
    const Inside rows = insideOf(row, plane.strideRows, plane.padRows,
                                 plane.kernelRows, plane.inRows);
    const std::int64_t begin = most(searched, top + rows.begin);
    searched = most(begin, top + rows.end);
    lastNan = most(lastNan, maxima.search(x, begin, searched));
    const std::int64_t to = row * plane.outColumns;
    if (lastNan >= top + rows.begin) {
      maxPoolRow(plane, x, row, y + to, indices + to);
    } else if (rows.end - rows.begin == 3) {
      joinRows<3>(plane, maxima, top, rows, y + to, indices + to);
    } else {
      joinRows<0>(plane, maxima, top, rows, y + to, indices + to);
    }
  }
}

void maxPoolWindowsGrad(const Plane &plane, const float *dy,
                        const std::uint8_t *indices, float *dx,
                        float *scratch) {
  GradientRows rows(plane, scratch);
  Taps even(plane, 0);
  Taps odd(plane, 1);
  std::int64_t begin = 0; // rows [begin, end) of windows cover input row `row`
  std::int64_t end = 0;
  for (std::int64_t row = 0; row < plane.inRows; ++row) {
    const std::int64_t at = row + plane.padRows;
    for (; end < plane.outRows && end * plane.strideRows <= at; ++end) {
      rows.load(dy, indices, end);
    }
    for (; begin < end && begin * plane.strideRows + plane.kernelRows <= at;) {
      ++begin;
    }
    float *to = dx + row * plane.inColumns;
    even.find(rows, row, begin, end);
    if (plane.strideColumns == 1) {
      storeEvery(plane, even, 0, to);
    } else if (plane.strideColumns == 2) {
      odd.find(rows, row, begin, end);
      storeRowPairs(plane, even, odd, to);
    } else {
      for (std::int64_t residue = 0;
           residue < least(plane.strideColumns, plane.inColumns); ++residue) {
        Taps taps(plane, residue);
        taps.find(rows, row, begin, end);
        storeEvery(plane, taps, residue, to);
      }
    }
  }
}

} // namespace kernels::loops::LOOPS_LEVEL
