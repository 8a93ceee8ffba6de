// The body of forEachRun(); include TensorView.hpp instead.
#pragma once

#include <poplar/internal/TensorView.hpp>

namespace poplar::internal {

template <typename F> void forEachRun(const TensorView &view, F &&f) {
  for (const Piece &piece : view.pieces) {
    if (support::elementCount(piece.extents) == 0) {
      continue;
    }
    // Dimensions [dims, rank) are contiguous together: one run covers them.
    std::size_t dims = piece.extents.size();
    std::int64_t run = 1;
    while (dims > 0 &&
           (piece.strides[dims - 1] == run || piece.extents[dims - 1] == 1)) {
      run *= piece.extents[dims - 1];
      --dims;
    }
    std::vector<std::int64_t> index(dims, 0);
    for (;;) {
      std::int64_t element = piece.offset;
      for (std::size_t d = 0; d < dims; ++d) {
        element += index[d] * piece.strides[d];
      }
      f(piece.variable, element, run);
      std::size_t d = dims;
      while (d > 0 && ++index[d - 1] == piece.extents[d - 1]) {
        index[--d] = 0;
      }
      if (d == 0) {
        break;
      }
    }
  }
}

} // namespace poplar::internal
