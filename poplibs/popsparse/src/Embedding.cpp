#include <popsparse/Embedding.hpp>

#include "Dense.hpp"
#include "MetaData.hpp"
#include "Options.hpp"

#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>

namespace popsparse::dynamic {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;

Tensor createIndicesTensor(Graph &graph, const FullyConnectedParams &,
                           std::size_t numIndices, const OptionFlags &options,
                           const DebugContext &debugContext) {
  internal::matMulOptions(options);
  const Tensor indices = graph.addVariable(poplar::UNSIGNED_INT, {numIndices},
                                           {debugContext, "indices"});
  poputil::mapTensorLinearly(graph, indices);
  return indices;
}

Tensor createSliceTensor(Graph &graph, const poplar::Type &type,
                         const FullyConnectedParams &params,
                         std::size_t numIndices,
                         const DebugContext &debugContext,
                         const OptionFlags &options, PlanningCache *) {
  internal::matMulOptions(options);
  const Tensor slices = graph.addVariable(
      type, {numIndices, params.getInputChannels()}, {debugContext, "slices"});
  poputil::mapTensorLinearly(graph, slices);
  return slices;
}

Tensor embeddingSlice(Graph &graph, const SparseTensor &t,
                      const Tensor &indices, Sequence &prog,
                      const FullyConnectedParams &params,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *) {
  internal::matMulOptions(options);
  const DebugContext context{debugContext, "embeddingSlice"};
  const std::size_t count = indices.numElements();
  const Tensor table = internal::toDense(graph, internal::metaDataOf(params),
                                         t.getMetaInfoTensor(),
                                         t.getNzValuesTensor(), prog, context);
  return popops::multiSlice(graph, table, indices.reshape({count, 1}), {0}, {1},
                            prog, {}, {}, context)
      .squeeze({1});
}

void embeddingUpdateAdd(Graph &graph, const SparseTensor &t,
                        const Tensor &slices, const Tensor &indices,
                        const Tensor &scale, Sequence &prog,
                        const FullyConnectedParams &params,
                        const DebugContext &debugContext,
                        const OptionFlags &options, PlanningCache *) {
  internal::matMulOptions(options);
  const DebugContext context{debugContext, "embeddingUpdateAdd"};
  const TensorMetaData metaData = internal::metaDataOf(params);
  const std::size_t count = indices.numElements();
  const Tensor sum = graph.addVariable(
      slices.elementType(), {metaData.rows, metaData.columns}, context);
  poputil::mapTensorLinearly(graph, sum);
  popops::zero(graph, sum, prog, context);
  popops::multiUpdateAdd(graph, sum, slices.expand({1}),
                         indices.reshape({count, 1}), scale, {0}, {1}, prog, {},
                         {}, context);
  popops::addInPlace(graph, t.getNzValuesTensor(),
                     internal::atBlocks(graph, metaData, t.getMetaInfoTensor(),
                                        sum, prog, context),
                     prog, context);
}

} // namespace popsparse::dynamic
