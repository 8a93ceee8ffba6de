// Entries of a tensor at indices that only the run knows.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace popops {

struct GatherParams {
  GatherParams() = default;
  GatherParams(std::size_t maxElementsPerTile)
      : maxElementsPerTile(maxElementsPerTile) {}

  std::size_t maxElementsPerTile = 65535;
};

poplar::Tensor createGatherInput(poplar::Graph &graph, const poplar::Type &type,
                                 const std::vector<std::size_t> &operandShape,
                                 unsigned axis, GatherParams params = {},
                                 const poplar::DebugContext &debugContext = {});
// result[..., i, ...] = input[..., indices[i], ...] along `axis`: an input of
// rank x and indices of rank y give a result of rank x + y - 1. Entries whose
// index is out of range are undefined (zeros, here).
poplar::Tensor gather(poplar::Graph &graph, const poplar::Tensor &input,
                      const poplar::Tensor &indices, unsigned axis,
                      poplar::program::Sequence &prog, GatherParams params,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});

poplar::Tensor createGatherInput(poplar::Graph &graph, const poplar::Type &type,
                                 const std::vector<std::size_t> &inputShape,
                                 const std::vector<std::size_t> &sliceSizes,
                                 std::vector<unsigned> startIndexMap,
                                 const poplar::DebugContext &debugContext = {});
// XLA's gather. Along `indexVectorDim` the indices say where slices of
// `sliceSizes` start, in the dimensions of `startIndexMap`; a start is moved so
// that its slice lies inside. The dimensions of the slices less those of
// `collapsedSliceDims` become `offsetDims` of the result, the other dimensions
// of the indices the rest of it.
poplar::Tensor gather(poplar::Graph &graph, const poplar::Tensor &input,
                      const poplar::Tensor &indices, std::size_t indexVectorDim,
                      const std::vector<std::size_t> &offsetDims,
                      const std::vector<std::size_t> &sliceSizes,
                      const std::vector<std::size_t> &collapsedSliceDims,
                      const std::vector<unsigned> &startIndexMap,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {});

} // namespace popops
