#include <popops/internal/SliceMapping.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

namespace popops::internal {

using kernels::cost::ceilDiv;

namespace {

// Rows that get a piece of the mapping each.
constexpr std::uint64_t exactRows = 1024;

std::uint64_t product(const support::Shape &shape, std::size_t begin,
                      std::size_t end) {
  return static_cast<std::uint64_t>(
      support::elementCount(std::span(shape).subspan(begin, end - begin)));
}

} // namespace

RowSpread spreadForSlices(const poplar::Graph &graph,
                          const kernels::TensorType &tensor,
                          const std::vector<std::size_t> &dims,
                          std::size_t minGrainSize) {
  const std::uint64_t tiles = graph.getTarget().getTilesPerIPU();
  const auto [first, last] = std::minmax_element(dims.begin(), dims.end());
  const auto &shape = tensor.shape;
  RowSpread spread;
  spread.rows = std::max<std::uint64_t>(product(shape, 0, *last + 1), 1);
  spread.rowElements =
      std::max<std::uint64_t>(product(shape, *last + 1, shape.size()), 1);
  spread.grain = std::max<std::uint64_t>(
      minGrainSize,
      vectorWidth(poputil::internal::tileSpec(graph), tensor.type));
  spread.parts = std::min(ceilDiv(spread.rowElements, spread.grain), tiles);
  // Entries of the sliced dimensions that belong together.
  const auto outer = std::max<std::uint64_t>(product(shape, 0, *first), 1);
  const auto together = outer == 1 ? 1 : spread.rows / outer;
  const auto blocks = std::min(tiles / spread.parts, spread.rows);
  spread.rowsPerBlock =
      ceilDiv(ceilDiv(spread.rows, blocks), together) * together;
  return spread;
}

void mapRows(poplar::Graph &graph, const poplar::Tensor &variable,
             const RowSpread &spread, std::size_t seed) {
  const auto elements = static_cast<std::int64_t>(variable.numElements());
  if (elements == 0) {
    return;
  }
  const auto tiles = graph.getTarget().getNumTiles();
  const auto parts =
      std::min(spread.parts, ceilDiv(spread.rowElements, spread.grain));
  const auto blocks = ceilDiv(spread.rows, spread.rowsPerBlock);
  const auto used =
      static_cast<unsigned>(std::min<std::uint64_t>(parts * blocks, tiles));
  const auto first = static_cast<unsigned>(seed % (tiles - used + 1));
  const auto rowElements = static_cast<std::int64_t>(spread.rowElements);
  if (parts == 1) {
    poplar::internal::setLinearMapping(
        graph, variable,
        {0, elements, first, used,
         rowElements * static_cast<std::int64_t>(spread.rowsPerBlock)});
    return;
  }
  if (spread.rows > exactRows) {
    poputil::mapTensorLinearly(graph, variable);
    return;
  }
  for (std::uint64_t row = 0; row < spread.rows; ++row) {
    const auto begin = static_cast<std::int64_t>(row) * rowElements;
    poplar::internal::setLinearMapping(
        graph, variable,
        {begin, begin + rowElements,
         first + static_cast<unsigned>(row / spread.rowsPerBlock * parts),
         static_cast<unsigned>(parts),
         static_cast<std::int64_t>(spread.grain)});
  }
}

poplar::Tensor firstSlice(const poplar::Tensor &t,
                          const std::vector<std::size_t> &dims,
                          const std::vector<std::size_t> &sizes) {
  auto slice = t;
  for (std::size_t j = 0; j < dims.size(); ++j) {
    slice = slice.slice(0, sizes[j], static_cast<unsigned>(dims[j]));
  }
  return slice;
}

poplar::Tensor addSliceVariable(poplar::Graph &graph, const poplar::Tensor &t,
                                const std::vector<std::size_t> &dims,
                                const std::vector<std::size_t> &sizes,
                                const poplar::DebugContext &debugContext) {
  constexpr std::int64_t tolerated = 4; // times the balanced share
  const auto slice = firstSlice(t, dims, sizes);
  const auto type = poputil::internal::tensorType(slice);
  const auto tiles = poputil::internal::tilesOf(graph, t);
  std::int64_t largest = 0;
  for (const auto &share : poputil::internal::sharesOf(graph, slice)) {
    largest = std::max(largest, share.elements);
  }
  const auto linear = poputil::internal::linearPiece(graph, type, tiles);
  const auto elements = static_cast<std::int64_t>(slice.numElements());
  const auto balanced = elements / linear.parts + linear.grain;
  auto variable =
      poputil::internal::addLinearVariable(graph, type, tiles, debugContext);
  if (elements > 0 && largest > 0 && largest <= tolerated * balanced) {
    graph.setTileMapping(variable, graph.getTileMapping(slice));
  }
  return variable;
}

} // namespace popops::internal
