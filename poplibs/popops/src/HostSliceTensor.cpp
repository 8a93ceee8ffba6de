#include <popops/HostSliceTensor.hpp>

#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

namespace popops {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;

Tensor createHostTransferableTensor(Graph &graph, const poplar::Type &type,
                                    const std::vector<std::size_t> &shape, bool,
                                    std::size_t offset,
                                    const DebugContext &debugContext) {
  const auto tensor =
      graph.addVariable(type, shape, {debugContext, "hostTransferable"});
  poputil::mapTensorLinearlyWithOffset(
      graph, tensor,
      static_cast<unsigned>(offset % graph.getTarget().getNumTiles()));
  return tensor;
}

// Without an offset, transfers of different shapes start on different tiles.
Tensor createHostTransferableTensor(Graph &graph, const poplar::Type &type,
                                    const std::vector<std::size_t> &shape,
                                    bool isRead,
                                    const DebugContext &debugContext) {
  return createHostTransferableTensor(
      graph, type, shape, isRead,
      poputil::chooseMappingOffset(graph.getTarget().getNumTiles(), shape),
      debugContext);
}

IndicesAndTensor
createHostSliceableTensor(Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape, bool isRead,
                          std::size_t offset,
                          const DebugContext &debugContext) {
  support::requireUser<poputil::poplibs_error>(
      shape.size() == 2,
      "[popops::createHostSliceableTensor] the shape is {{{}}}; it must be "
      "rows and their elements",
      fmt::join(shape, ","));
  const auto indices = graph.addVariable(poplar::UNSIGNED_INT, {shape[0]},
                                         {debugContext, "indices"});
  graph.setTileMapping(indices, 0);
  return {indices, createHostTransferableTensor(graph, type, shape, isRead,
                                                offset, debugContext)};
}

IndicesAndTensor
createHostSliceableTensor(Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape, bool isRead,
                          const DebugContext &debugContext) {
  return createHostSliceableTensor(
      graph, type, shape, isRead,
      poputil::chooseMappingOffset(graph.getTarget().getNumTiles(), shape),
      debugContext);
}

} // namespace popops
