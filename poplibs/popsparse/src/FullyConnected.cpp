#include <popsparse/FullyConnected.hpp>

#include "Dense.hpp"
#include "MetaData.hpp"
#include "Options.hpp"

#include <poplin/MatMul.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popsparse::dynamic {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

void requireShape(const Tensor &tensor, std::size_t batch, std::size_t channels,
                  const char *function) {
  support::requireUser<poplibs_error>(
      tensor.shape() == std::vector<std::size_t>{batch, channels},
      "[popsparse::dynamic::{}] a tensor of shape {} given; {}x{} is needed",
      function, tensor.shapeToString(), batch, channels);
}

Tensor weightsOf(Graph &graph, const SparseTensor &weights,
                 const FullyConnectedParams &params, Sequence &prog,
                 const DebugContext &context) {
  return internal::toDense(graph, internal::metaDataOf(params),
                           weights.getMetaInfoTensor(),
                           weights.getNzValuesTensor(), prog, context);
}

} // namespace

SparseTensor createFullyConnectedWeights(Graph &graph, const poplar::Type &type,
                                         const FullyConnectedParams &params,
                                         const DebugContext &debugContext,
                                         const OptionFlags &options,
                                         PlanningCache *) {
  internal::matMulOptions(options);
  const TensorMetaData metaData = internal::metaDataOf(params);
  return {internal::addMetaInfo(graph, metaData, debugContext),
          internal::addValues(graph, type, metaData, debugContext), metaData};
}

Tensor createFullyConnectedInput(Graph &graph, const poplar::Type &type,
                                 const FullyConnectedParams &params,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options,
                                 PlanningCache *cache) {
  return poplin::createMatMulInputLHS(
      graph, type, {params.getBatchSize(), params.getInputChannels()},
      {params.getInputChannels(), params.getOutputChannels()}, debugContext,
      internal::matMulOptions(options), cache);
}

Tensor fullyConnectedFwd(Graph &graph, const SparseTensor &weights,
                         const Tensor &activations,
                         const FullyConnectedParams &params, Sequence &prog,
                         const DebugContext &debugContext,
                         const OptionFlags &options, PlanningCache *cache) {
  constexpr const char *function = "fullyConnectedFwd";
  requireShape(activations, params.getBatchSize(), params.getInputChannels(),
               function);
  const DebugContext context{debugContext, function};
  const Tensor dense = weightsOf(graph, weights, params, prog, context);
  return poplin::matMul(graph, activations, dense.transpose(), prog, context,
                        internal::matMulOptions(options), cache);
}

Tensor fullyConnectedGradA(Graph &graph, const SparseTensor &weights,
                           const Tensor &gradients,
                           const FullyConnectedParams &params, Sequence &prog,
                           const DebugContext &debugContext,
                           const OptionFlags &options, PlanningCache *cache) {
  constexpr const char *function = "fullyConnectedGradA";
  requireShape(gradients, params.getBatchSize(), params.getOutputChannels(),
               function);
  const DebugContext context{debugContext, function};
  return poplin::matMul(graph, gradients,
                        weightsOf(graph, weights, params, prog, context), prog,
                        context, internal::matMulOptions(options), cache);
}

Tensor fullyConnectedSparseGradW(Graph &graph, const Tensor &sparsityMetaInfo,
                                 const Tensor &gradA, const Tensor &activations,
                                 const FullyConnectedParams &params,
                                 Sequence &prog,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options,
                                 PlanningCache *cache) {
  constexpr const char *function = "fullyConnectedSparseGradW";
  requireShape(gradA, params.getBatchSize(), params.getOutputChannels(),
               function);
  requireShape(activations, params.getBatchSize(), params.getInputChannels(),
               function);
  const DebugContext context{debugContext, function};
  const Tensor dense =
      poplin::matMul(graph, gradA.transpose(), activations, prog, context,
                     internal::matMulOptions(options), cache);
  return internal::atBlocks(graph, internal::metaDataOf(params),
                            sparsityMetaInfo, dense, prog, context);
}

std::tuple<unsigned, unsigned, unsigned> fullyConnectedDenseGradWSerialSplits(
    const Graph &, const poplar::Type &, const FullyConnectedParams &,
    const OptionFlags &options, PlanningCache *) {
  internal::matMulOptions(options);
  return {1, 1, 1}; // at once: nothing is split here
}

} // namespace popsparse::dynamic
