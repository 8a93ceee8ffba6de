// Spreading the elements of tensors over tiles.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorCloneMethod.hpp>

#include <cstddef>
#include <memory>
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

// A clone on another IPU: tile t of its IPU becomes tile t of dstIPU.
poplar::Tensor
cloneToIpu(poplar::Graph &graph, const poplar::Tensor &t, unsigned dstIPU,
           const poplar::DebugContext &debugContext = {},
           poplar::TensorCloneMethod method =
               poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
// A clone on the tiles of another (virtual) graph that have the same numbers.
poplar::Tensor
cloneToGraph(poplar::Graph &srcGraph, poplar::Graph &dstGraph,
             const poplar::Tensor &t,
             const poplar::DebugContext &debugContext = {},
             poplar::TensorCloneMethod method =
                 poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
// The clone, with the values copied.
poplar::Tensor
copyToIpu(poplar::Graph &graph, const poplar::Tensor &t,
          poplar::program::Sequence &prog, unsigned dstIPU,
          const poplar::DebugContext &debugContext = {},
          poplar::TensorCloneMethod method =
              poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
// The clone, and views of which Copy(copySrc, copyDst) copies each element
// once, in the order of memory.
poplar::Tensor
createIpuCopy(poplar::Graph &graph, const poplar::Tensor &t, unsigned dstIpu,
              poplar::Tensor &copySrc, poplar::Tensor &copyDst,
              const poplar::DebugContext &debugContext = {},
              poplar::TensorCloneMethod method =
                  poplar::TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES);
// A tensor of the same shape with an element of its own for each of t's: those
// that t repeats are mapped linearly from tile `offset` on, the others as in t.
// Also returns where the next one may start.
std::pair<poplar::Tensor, unsigned>
cloneAndExpandAliasing(poplar::Graph &graph, const poplar::Tensor &t,
                       unsigned offset = 0,
                       const poplar::DebugContext &debugContext = {});

// A vector for dimension `dim` of a tensor, spread over the tiles that hold it:
// what is added to or multiplied with it along that dimension. Dithering starts
// on a tile that depends on the shape.
poplar::Tensor
createBroadcastOperand(poplar::Graph &graph, const poplar::Tensor &fullTensor,
                       const poplar::Type &type, unsigned dim,
                       bool ditherMapping = false,
                       const poplar::DebugContext &debugContext = {});

// Whether elements that differ only in this dimension are on different tiles,
// or on different IPUs.
bool dimIsSplitOverTiles(const poplar::Graph &graph, const poplar::Tensor &t,
                         unsigned dimension);
bool dimIsSplitOverIPUs(const poplar::Graph &graph, const poplar::Tensor &t,
                        unsigned dimension);

// The tile that a rotated (and reversed) order has in place of tile `tile`, and
// back.
unsigned transformTileIndex(unsigned tile, unsigned numTiles, unsigned offset,
                            bool ascending);
unsigned invTransformTileIndex(unsigned tile, unsigned numTiles,
                               unsigned offset, bool ascending);

// Collects which tiles use which elements, then maps each element to a tile
// that uses it.
class TensorUseTracker {
public:
  // OptimizeHaloRegions: what several tiles use may go to any of them, each
  // tensor's halo as a whole. ConstrainMappingToUsedTiles: only tiles that use
  // an element get it, however unequal that is.
  enum class MappingMethod {
    OptimizeHaloRegions,
    ConstrainMappingToUsedTiles,
    None
  };

  // Elements are dealt out to tiles in the order that starts at startTile.
  explicit TensorUseTracker(unsigned numTiles, unsigned startTile = 0,
                            bool ascendingMappingOrder = true);
  TensorUseTracker(const TensorUseTracker &other);
  TensorUseTracker(TensorUseTracker &&other) noexcept;
  TensorUseTracker &operator=(const TensorUseTracker &other);
  TensorUseTracker &operator=(TensorUseTracker &&other) noexcept;
  ~TensorUseTracker();

  void add(const poplar::Graph &graph, unsigned tile, const poplar::Tensor &t);
  void add(TensorUseTracker other);

  // Leaves each element one use. Elements that the same tiles use are divided
  // between those tiles in whole grains of at least minElementsPerTile; with
  // extendPartialUsage, elements of the variables that nothing uses go with the
  // used ones before them.
  void resolve(const poplar::Graph &graph, unsigned grainSize,
               unsigned minElementsPerTile, bool extendPartialUsage = false,
               MappingMethod mappingMethod = MappingMethod::None);
  // Resolves and sets the tile mapping.
  void mapTensorsByUse(poplar::Graph &graph, unsigned grainSize,
                       unsigned minElementsPerTile,
                       bool extendPartialUsage = false,
                       MappingMethod mappingMethod = MappingMethod::None);
  bool empty() const;

private:
  struct Data;
  std::unique_ptr<Data> data_;
};

} // namespace poputil
