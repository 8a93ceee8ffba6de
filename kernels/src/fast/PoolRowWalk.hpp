// The rows of a pooling of any rank: outputs along the innermost dimension, and
// the rows of the input that are in their windows.
#pragma once

#include "kinds/FieldPool.hpp"
#include "loops/Loops.hpp"

#include <array>

namespace kernels {

// Walks over the rows of a plane, and over the window elements of a row.
class RowWalk {
public:
  static constexpr std::size_t maxRank = 8;

  explicit RowWalk(const FieldPool &pool) : pool_(pool) {
    for (std::size_t d = 0; d + 1 < pool.dims.size(); ++d) {
      rows_ *= pool.dims[d].out;
      kernelRows_ *= pool.dims[d].kernel;
    }
  }

  const FieldPool &pool() const { return pool_; }
  const FieldPool::Dimension &inner() const { return pool_.dims.back(); }
  std::int64_t rows() const { return rows_; }

  PoolRowLoops::Row innerRow() const {
    return {inner().in, inner().out, inner().kernel, inner().stride,
            inner().padLower};
  }

  // Calls visit(offset) for the input rows in the windows of row `row`; offsets
  // count from the plane's first element.
  template <typename Visit>
  void forEachRow(std::int64_t row, const Visit &visit) const {
    Index output{};
    unravel(row, &FieldPool::Dimension::out, output);
    for (std::int64_t k = 0; k < kernelRows_; ++k) {
      Index window{};
      unravel(k, &FieldPool::Dimension::kernel, window);
      std::int64_t offset = 0;
      bool isInside = true;
      for (std::size_t d = 0; d + 1 < pool_.dims.size(); ++d) {
        const auto &dim = pool_.dims[d];
        const auto at = dim.inputOf(output[d], window[d]);
        isInside = isInside && dim.isInside(at);
        offset = offset * dim.in + at;
      }
      if (isInside) {
        visit(offset * inner().in);
      }
    }
  }

  // Calls visit(input offset of the row's first element, first output, count)
  // for every window element that lies inside for some outputs of row `row`.
  template <typename Visit>
  void forEachElement(std::int64_t row, const Visit &visit) const {
    forEachRow(row, [&](std::int64_t offset) {
      for (std::int64_t q = 0; q < inner().kernel; ++q) {
        const auto range = inner().outputsInside(q);
        if (range.begin < range.end) {
          visit(offset + inner().inputOf(range.begin, q), range.begin,
                range.end - range.begin);
        }
      }
    });
  }

  // Elements inside the windows of a row, all dimensions but the innermost.
  std::int64_t outerElements(std::int64_t row) const {
    Index output{};
    unravel(row, &FieldPool::Dimension::out, output);
    std::int64_t count = 1;
    for (std::size_t d = 0; d + 1 < pool_.dims.size(); ++d) {
      count *= pool_.dims[d].elementsInside(output[d]);
    }
    return count;
  }

private:
  using Index = std::array<std::int64_t, maxRank>;

  void unravel(std::int64_t number, std::int64_t FieldPool::Dimension::*extent,
               Index &index) const {
    for (std::size_t d = pool_.dims.size() - 1; d-- > 0;) {
      index[d] = number % (pool_.dims[d].*extent);
      number /= pool_.dims[d].*extent;
    }
  }

  FieldPool pool_;
  std::int64_t rows_ = 1;       // of outputs, in a plane
  std::int64_t kernelRows_ = 1; // of a window
};

} // namespace kernels
