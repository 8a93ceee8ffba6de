// Where the elements of a view live: tiles and byte counts from the mapping's
// formulas.
#pragma once

#include <poplar/internal/GraphData.hpp>

#include <cstdint>
#include <vector>

namespace poplar::model {

// `tileCount` consecutive tiles that hold `elements` elements each.
struct TileShare {
  unsigned firstTile = 0;
  unsigned tileCount = 0;
  std::int64_t elements = 0;
};

// The shares of elements [begin, end) of one piece. Exact in the total and in
// the largest share; where shares differ by a grain, the larger ones come
// first.
std::vector<TileShare> sharesOf(const internal::MappingPiece &piece,
                                std::int64_t begin, std::int64_t end);

// The shares of the distinct elements of a view, piece after piece. A piece
// that skips elements is taken to be spread evenly over the range it spans.
std::vector<TileShare> sharesOf(const internal::GraphData &graph,
                                const internal::TensorView &view);

// The part of the piece that holds `element`.
unsigned partOf(const internal::MappingPiece &piece, std::int64_t element);

// Runs of consecutive elements that forEachRun() would report.
std::int64_t runCount(const internal::TensorView &view);

} // namespace poplar::model
