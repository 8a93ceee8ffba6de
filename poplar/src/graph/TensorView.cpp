#include <poplar/internal/TensorView.hpp>

#include "PieceSelect.hpp"

namespace poplar::internal {

bool isOneRun(const TensorView &view) {
  return view.pieces.size() == 1 && (view.pieces[0].extents.empty() ||
                                     (view.pieces[0].extents.size() == 1 &&
                                      view.pieces[0].strides[0] == 1));
}

bool toAffine(const TensorView &view, AffineView &result) {
  if (view.pieces.size() != 1) {
    return false;
  }
  Piece piece = view.pieces[0];
  simplifyDimensions(piece.extents, piece.strides);
  const std::size_t rank = view.shape.size();
  support::Strides strides(rank);
  // Innermost first: each dimension of the shape takes its share of a piece's
  // dimension and leaves the rest to the next.
  std::int64_t next = 1; // the stride that a dimension of extent 1 shows
  for (std::size_t d = rank; d-- > 0;) {
    std::int64_t extent = view.shape[d];
    if (extent == 1) {
      strides[d] = next;
      continue;
    }
    if (piece.extents.empty() || piece.extents.back() % extent != 0) {
      return false;
    }
    strides[d] = piece.strides.back();
    piece.extents.back() /= extent;
    piece.strides.back() *= extent;
    if (piece.extents.back() == 1) {
      piece.extents.pop_back();
      piece.strides.pop_back();
    }
    next = strides[d] * extent;
  }
  result = {piece.variable, piece.offset, view.shape, std::move(strides)};
  return true;
}

} // namespace poplar::internal
