// Where tensors that are sliced at run time lie: rows cut over tiles, so that
// all tiles take part in a slice.
#pragma once

#include <popops/internal/SlicePlan.hpp>

namespace popops::internal {

// Rows of consecutive elements: each is cut into `parts`, at most, of whole
// grains on consecutive tiles; every `rowsPerBlock` rows the next tiles follow.
struct RowSpread {
  std::uint64_t rows = 1;
  std::uint64_t rowElements = 1;
  std::uint64_t parts = 1;
  std::uint64_t rowsPerBlock = 1;
  std::uint64_t grain = 1;
};

// Of a tensor sliced along `dims`: the rows are the last sliced dimension and
// all before it. Tiles that the elements of a slice do not fill take other
// rows.
RowSpread spreadForSlices(const poplar::Graph &graph,
                          const kernels::TensorType &tensor,
                          const std::vector<std::size_t> &dims,
                          std::size_t minGrainSize);

// Maps a new variable; linearly where this takes too many pieces. `seed`
// chooses the first tile, where there is a choice.
void mapRows(poplar::Graph &graph, const poplar::Tensor &variable,
             const RowSpread &spread, std::size_t seed);

// `t` without all but the first sizes[i] entries of dims[i].
poplar::Tensor firstSlice(const poplar::Tensor &t,
                          const std::vector<std::size_t> &dims,
                          const std::vector<std::size_t> &sizes);

// A new variable that lies as the first slice of `t` does, linearly if that is
// on few tiles.
poplar::Tensor addSliceVariable(poplar::Graph &graph, const poplar::Tensor &t,
                                const std::vector<std::size_t> &dims,
                                const std::vector<std::size_t> &sizes,
                                const poplar::DebugContext &debugContext);

} // namespace popops::internal
