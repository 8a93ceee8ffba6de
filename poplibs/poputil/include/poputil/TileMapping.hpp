// Spreading the elements of tensors over tiles.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace poputil {

// Equal contiguous shares in whole grains on ascending tiles, each of at least
// minElementsPerTile. Without figures: whole vectors, at least 128 bytes.
void mapTensorLinearly(poplar::Graph &graph, const poplar::Tensor &tensor);
void mapTensorLinearly(poplar::Graph &graph, const poplar::Tensor &tensor,
                       unsigned minElementsPerTile, unsigned grainSize);

// The same from tile `offset` on, wrapping; descending from the last tile less
// the offset when not `ascending`.
void mapTensorLinearlyWithOffset(poplar::Graph &graph,
                                 const poplar::Tensor &tensor,
                                 unsigned offset = 0, bool ascending = true);
void mapTensorLinearlyWithOffset(poplar::Graph &graph,
                                 const poplar::Tensor &tensor,
                                 unsigned minElementsPerTile,
                                 unsigned grainSize, unsigned offset,
                                 bool ascending = true);

poplar::Graph::TileToTensorMapping
calcLinearTileMapping(const poplar::Graph &graph,
                      const std::vector<std::size_t> &shape,
                      unsigned minElementsPerTile, unsigned grainSize,
                      unsigned offset = 0, bool ascending = true);
poplar::Graph::TileToTensorMapping
calcLinearTileMapping(const poplar::Target &target,
                      const std::vector<std::size_t> &shape,
                      unsigned minElementsPerTile, unsigned grainSize,
                      unsigned offset = 0, bool ascending = true);
poplar::Graph::TileToTensorMapping
calcLinearTileMapping(const poplar::Graph &graph, const poplar::Tensor &tensor,
                      unsigned offset = 0, bool ascending = true);
poplar::Graph::TileToTensorMapping calcLinearTileMapping(
    const poplar::Target &target, const std::vector<std::size_t> &shape,
    const poplar::Type &type, unsigned offset = 0, bool ascending = true);
std::pair<poplar::Graph::TileToTensorMapping, unsigned>
calcLinearTileMappingAndNewOffset(const poplar::Graph &graph,
                                  const poplar::Tensor &tensor,
                                  unsigned offset = 0);

// How many elements the fullest tile holds more than a balanced spread would
// put there.
unsigned getTileImbalance(const poplar::Graph::TileToTensorMapping &mapping,
                          unsigned minElementsPerTile = 0,
                          unsigned grainSize = 1);
unsigned getTileImbalance(const poplar::Graph &graph,
                          const poplar::Tensor &tensor,
                          unsigned minElementsPerTile = 0,
                          unsigned grainSize = 1);

// A start tile that spreads tensors of different shapes over the tiles.
std::size_t chooseMappingOffset(std::size_t numTiles,
                                const std::vector<std::size_t> &shape);
std::size_t chooseMappingOffset(std::size_t numTiles,
                                const std::vector<std::size_t> &shape,
                                std::size_t seed);

} // namespace poputil
