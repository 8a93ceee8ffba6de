// Where tensors live: ranges of tiles, the share of a tensor on each tile, and
// linear mappings inside a range.
#pragma once

#include <kernels/Signature.hpp>
#include <kernels/cost/Tile.hpp>
#include <poplar/Graph.hpp>
#include <poplar/internal/TensorView.hpp>
#include <poplar/internal/TileMapping.hpp>

#include <vector>

namespace poputil::internal {

// Consecutive tiles, numbered over the whole graph.
struct TileRange {
  unsigned first = 0;
  unsigned count = 0;

  unsigned end() const { return first + count; }
  friend bool operator==(const TileRange &, const TileRange &) = default;
};

// `elements` of a tensor on each tile of a range; the largest share where the
// tiles' shares differ by a grain.
struct TileShare {
  TileRange tiles;
  std::int64_t elements = 0;

  friend bool operator==(const TileShare &, const TileShare &) = default;
};

kernels::cost::TileSpec tileSpec(const poplar::Graph &graph);

// All tiles of the IPUs that hold the tensor: operations on it run there.
TileRange tilesOf(const poplar::Graph &graph, const poplar::Tensor &tensor);

// What each tile holds of the tensor, in ascending, disjoint ranges. Exact up
// to the grain for views of few runs; finely strided views count as spread
// evenly over their variable's tiles.
std::vector<TileShare> sharesOf(const poplar::Graph &graph,
                                const poplar::Tensor &tensor);

// The same of elements that the tensor repeats, counted once: what tiles have
// to send for it.
std::vector<TileShare> distinctSharesOf(const poplar::Graph &graph,
                                        const poplar::Tensor &tensor);

// True when the tensor is a whole variable in its own order, whatever its
// shape.
bool isWholeVariable(const poplar::Graph &graph, const poplar::Tensor &tensor);

// Elements that the tensor refers to, each counted once.
std::int64_t distinctElements(const poplar::Tensor &tensor);
// The length of its shortest runs of consecutive elements.
std::int64_t runLength(const poplar::Tensor &tensor);

// The mapping of poputil::mapTensorLinearly inside a range of tiles.
poplar::internal::MappingPiece linearPiece(std::int64_t elements,
                                           std::int64_t minElementsPerTile,
                                           std::int64_t grain, TileRange tiles);
// The same with the defaults for a type: whole vectors, at least 128 bytes.
poplar::internal::MappingPiece linearPiece(const poplar::Graph &graph,
                                           const kernels::TensorType &tensor,
                                           TileRange tiles);

// From now on, linear variables that do not fill the tiles begin where the last
// one ended, in place of all on the first tiles: for programs of thousands of
// small tensors. The libraries alone map as the SDK's do.
void takeTurns(poplar::Graph &graph);

// A new variable mapped linearly to the tiles.
poplar::Tensor addLinearVariable(poplar::Graph &graph,
                                 const kernels::TensorType &tensor,
                                 TileRange tiles,
                                 const poplar::DebugContext &debugContext);
// A new variable with the tile mapping of `like`, a whole variable.
poplar::Tensor addVariableLike(poplar::Graph &graph,
                               const kernels::TensorType &tensor,
                               const poplar::Tensor &like,
                               const poplar::DebugContext &debugContext);

// The tiles and the largest share when `elements` are spread over a range in
// whole grains.
TileShare spread(std::int64_t elements, std::int64_t grain, TileRange tiles);

kernels::TensorType tensorType(const poplar::Tensor &tensor);

} // namespace poputil::internal
