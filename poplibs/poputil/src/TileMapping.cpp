#include <poputil/TileMapping.hpp>

#include <poplar/internal/Access.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Tiles.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace poputil {

using poplar::Graph;
using poplar::Interval;
using poplar::Target;
using poplar::Tensor;
using poplar::internal::MappingPiece;

namespace {

constexpr unsigned minBytesPerTile = 128;

unsigned defaultMinElements(const Target &target, const poplar::Type &type) {
  const auto size = target.getTypeSize(type);
  return (minBytesPerTile + size - 1) / size;
}

std::size_t elementCount(const std::vector<std::size_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         std::multiplies<>());
}

MappingPiece piece(const Target &target, std::size_t elements,
                   unsigned minElementsPerTile, unsigned grainSize) {
  support::requireUser<poplibs_error>(
      grainSize > 0, "[poputil::mapTensorLinearly] the grain size is 0; it "
                     "must be at least 1 element");
  return internal::linearPiece(static_cast<std::int64_t>(elements),
                               minElementsPerTile, grainSize,
                               {0, target.getNumTiles()});
}

} // namespace

void mapTensorLinearly(Graph &graph, const Tensor &tensor) {
  const auto &target = graph.getTarget();
  const auto type = tensor.elementType();
  mapTensorLinearly(graph, tensor, defaultMinElements(target, type),
                    target.getVectorWidth(type));
}

void mapTensorLinearly(Graph &graph, const Tensor &tensor,
                       unsigned minElementsPerTile, unsigned grainSize) {
  if (tensor.numElements() != 0 && internal::isWholeVariable(graph, tensor)) {
    poplar::internal::setLinearMapping(graph, tensor,
                                       piece(graph.getTarget(),
                                             tensor.numElements(),
                                             minElementsPerTile, grainSize));
    return;
  }
  mapTensorLinearlyWithOffset(graph, tensor, minElementsPerTile, grainSize, 0);
}

void mapTensorLinearlyWithOffset(Graph &graph, const Tensor &tensor,
                                 unsigned offset, bool ascending) {
  graph.setTileMapping(tensor,
                       calcLinearTileMapping(graph, tensor, offset, ascending));
}

void mapTensorLinearlyWithOffset(Graph &graph, const Tensor &tensor,
                                 unsigned minElementsPerTile,
                                 unsigned grainSize, unsigned offset,
                                 bool ascending) {
  graph.setTileMapping(
      tensor, calcLinearTileMapping(graph, tensor.shape(), minElementsPerTile,
                                    grainSize, offset, ascending));
}

Graph::TileToTensorMapping
calcLinearTileMapping(const Target &target,
                      const std::vector<std::size_t> &shape,
                      unsigned minElementsPerTile, unsigned grainSize,
                      unsigned offset, bool ascending) {
  Graph::TileToTensorMapping mapping(target.getNumTiles());
  const auto elements = elementCount(shape);
  if (elements == 0) {
    return mapping;
  }
  const auto linear = piece(target, elements, minElementsPerTile, grainSize);
  for (unsigned part = 0; part < linear.parts; ++part) {
    const auto range = linear.partRange(part);
    mapping[transformTileIndex(part, target.getNumTiles(), offset, ascending)]
        .emplace_back(static_cast<std::size_t>(range.begin),
                      static_cast<std::size_t>(range.end));
  }
  return mapping;
}

Graph::TileToTensorMapping
calcLinearTileMapping(const Graph &graph, const std::vector<std::size_t> &shape,
                      unsigned minElementsPerTile, unsigned grainSize,
                      unsigned offset, bool ascending) {
  return calcLinearTileMapping(graph.getTarget(), shape, minElementsPerTile,
                               grainSize, offset, ascending);
}

Graph::TileToTensorMapping calcLinearTileMapping(const Graph &graph,
                                                 const Tensor &tensor,
                                                 unsigned offset,
                                                 bool ascending) {
  return calcLinearTileMapping(graph.getTarget(), tensor.shape(),
                               tensor.elementType(), offset, ascending);
}

Graph::TileToTensorMapping calcLinearTileMapping(
    const Target &target, const std::vector<std::size_t> &shape,
    const poplar::Type &type, unsigned offset, bool ascending) {
  return calcLinearTileMapping(target, shape, defaultMinElements(target, type),
                               target.getVectorWidth(type), offset, ascending);
}

std::pair<Graph::TileToTensorMapping, unsigned>
calcLinearTileMappingAndNewOffset(const Graph &graph, const Tensor &tensor,
                                  unsigned offset) {
  auto mapping = calcLinearTileMapping(graph, tensor, offset);
  const auto used = static_cast<unsigned>(
      std::count_if(mapping.begin(), mapping.end(),
                    [](const auto &intervals) { return !intervals.empty(); }));
  return {std::move(mapping),
          (offset + used) % graph.getTarget().getNumTiles()};
}

unsigned getTileImbalance(const Graph::TileToTensorMapping &mapping,
                          unsigned minElementsPerTile, unsigned grainSize) {
  std::size_t total = 0;
  std::size_t largest = 0;
  for (const auto &intervals : mapping) {
    std::size_t here = 0;
    for (const auto &interval : intervals) {
      here += interval.size();
    }
    total += here;
    largest = std::max(largest, here);
  }
  if (mapping.empty() || total == 0) {
    return 0;
  }
  const auto balanced = internal::linearPiece(
      static_cast<std::int64_t>(total), minElementsPerTile, grainSize,
      {0, static_cast<unsigned>(mapping.size())});
  const auto grains = (total + grainSize - 1) / grainSize;
  const auto share = (grains + balanced.parts - 1) / balanced.parts * grainSize;
  return largest > share ? static_cast<unsigned>(largest - share) : 0;
}

unsigned getTileImbalance(const Graph &graph, const Tensor &tensor,
                          unsigned minElementsPerTile, unsigned grainSize) {
  return getTileImbalance(graph.getTileMapping(tensor), minElementsPerTile,
                          grainSize);
}

std::size_t chooseMappingOffset(std::size_t numTiles,
                                const std::vector<std::size_t> &shape) {
  return chooseMappingOffset(numTiles, shape, 0x9e3779b9);
}

std::size_t chooseMappingOffset(std::size_t numTiles,
                                const std::vector<std::size_t> &shape,
                                std::size_t seed) {
  // Boost's hash_range for 64-bit numbers.
  constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995;
  std::uint64_t hash = seed;
  for (std::uint64_t extent : shape) {
    extent *= multiplier;
    extent ^= extent >> 47;
    extent *= multiplier;
    hash = (hash ^ extent) * multiplier + 0xe6546b64;
  }
  return hash % numTiles;
}

unsigned transformTileIndex(unsigned tile, unsigned numTiles, unsigned offset,
                            bool ascending) {
  const auto rotated = (offset + tile) % numTiles;
  return ascending ? rotated : numTiles - 1 - rotated;
}

unsigned invTransformTileIndex(unsigned tile, unsigned numTiles,
                               unsigned offset, bool ascending) {
  const auto rotated = ascending ? tile : numTiles - 1 - tile;
  return (rotated + numTiles - offset % numTiles) % numTiles;
}

} // namespace poputil
