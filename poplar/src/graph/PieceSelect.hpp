// The one operation that all tensor views are made of: reading a strided grid
// of positions through a list of pieces, as few pieces again.
#pragma once

#include <poplar/internal/TensorView.hpp>

#include <cstdint>
#include <vector>

namespace poplar::internal {

// Positions offset + sum(i[d] * strides[d]) of a tensor's row-major elements, i
// running row-major over the extents.
struct Grid {
  std::int64_t offset = 0;
  support::Shape extents;
  support::Strides strides;
};

// The elements at the positions of `grid`, in its order.
std::vector<Piece> selectPieces(const std::vector<Piece> &pieces,
                                const Grid &grid);

// Drops dimensions of extent 1 and joins those that one stride covers.
void simplifyDimensions(support::Shape &extents, support::Strides &strides);

// Simplifies every piece and joins neighbours that one affine map covers.
void joinPieces(std::vector<Piece> &pieces);

} // namespace poplar::internal
