// Rows cut into phases, so that windows `stride` apart are neighbours: padded
// column t * stride + p is cell t of phase p. Element q of the windows is then
// a run of cells, whatever the stride.
#pragma once

#include "LaneBits.hpp"
#include "Pairs.hpp"

namespace kernels::loops::LOOPS_LEVEL {

struct Phases {
  std::int64_t stride, pad;     // pad may be negative: columns are left out
  std::int64_t columns, padded; // of the row; of the row with its padding
  float filler;                 // of the padding

  // Of a row whose windows see `padded` columns.
  Phases(std::int64_t stride_, std::int64_t pad_, std::int64_t columns_,
         std::int64_t padded_, float filler_)
      : stride(stride_), pad(pad_),
        columns(columns_ < padded_ - pad_ ? columns_ : padded_ - pad_),
        padded(padded_), filler(filler_) {}

  // Of one phase: whole registers may be read and written at its end.
  std::int64_t length() const { return padded / stride + 3 * laneCount; }

  std::int64_t size() const { return stride * length(); } // in floats

  // The cells of window element `q`, which begin with that of output 0.
  const float *element(const float *cells, std::int64_t q) const {
    return cells + q % stride * length() + q / stride;
  }

  void clear(float *cells) const {
    for (std::int64_t i = 0; i < size(); ++i) {
      cells[i] = filler;
    }
  }

  // Cuts row x. `cells` were cleared, or hold another row. Returns whether the
  // row has a NaN.
  bool split(const float *x, float *cells) const {
    const std::int64_t begin = pad < 0 ? -pad : 0;
    if (stride == 2) {
      return splitPairs(x + begin, begin + pad, columns - begin, cells);
    }
    LaneBits nan{};
    if (stride == 1) {
      for (std::int64_t i = begin; i < columns; i += laneCount) {
        const std::int64_t left = columns - i;
        const Lanes values =
            loadPart(x + i, left < laneCount ? left : laneCount, filler);
        nan |= isNan(values);
        storeLanes(cells + i + pad, values);
      }
      return isAny(nan);
    }
    bool hasNan = false;
    for (std::int64_t i = begin; i < begin + stride && i < columns; ++i) {
      float *to = cells + (i + pad) % stride * length() + (i + pad) / stride;
      for (std::int64_t from = i; from < columns; from += stride) {
        hasNan |= x[from] != x[from];
        *to++ = x[from];
      }
    }
    return hasNan;
  }

private:
  // `count` elements from padded column `at` on.
  bool splitPairs(const float *x, std::int64_t at, std::int64_t count,
                  float *cells) const {
    float *even = cells + at % 2 * length() + at / 2;
    float *odd = cells + (at + 1) % 2 * length() + (at + 1) / 2;
    LaneBits nan{};
    for (std::int64_t i = 0; i < count; i += 2 * laneCount) {
      const std::int64_t left = count - i;
      const Pairs pairs =
          loadPairs(x + i, left < 2 * laneCount ? left : 2 * laneCount, filler);
      nan |= isNan(pairs.even);
      nan |= isNan(pairs.odd);
      storeLanes(even + i / 2, pairs.even);
      storeLanes(odd + i / 2, pairs.odd);
    }
    return isAny(nan);
  }
};

} // namespace kernels::loops::LOOPS_LEVEL
