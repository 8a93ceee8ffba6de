// A GRU layer's parameters, tensors and counts of operations.
#include <popnn/Gru.hpp>

#include "GruShapes.hpp"
#include "Options.hpp"
#include "Recurrent.hpp"

#include <poputil/internal/Emit.hpp>

namespace popnn {
namespace gru {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;

void checkCall(const Graph &graph, const GruParams &params,
               const OptionFlags &options) {
  using internal::OptionKind;
  internal::Options(options,
                    {{"inferenceOnly", OptionKind::Bool},
                     {"partialsType", OptionKind::Choice, {"half", "float"}},
                     {"availableMemoryProportion", OptionKind::Number},
                     {"numShards", OptionKind::Number},
                     {"rnnCodeReuse", OptionKind::Bool}});
  internal::checkSizes("gru", params.rnn);
  poputil::internal::requireCodelets(graph, "popnn", "popnn::BasicGruCell");
}

std::vector<std::size_t> stateShape(const GruParams &params) {
  return {params.rnn.batchSize, params.rnn.getOutputSize()};
}

std::vector<std::size_t> sequenceShape(const GruParams &params,
                                       std::size_t size) {
  return {params.rnn.maxTimeSteps, params.rnn.batchSize, size};
}

std::vector<std::size_t> biasShape(const GruParams &params) {
  const auto out = params.rnn.getOutputSize();
  return params.resetAfter ? std::vector<std::size_t>{units, 2, out}
                           : std::vector<std::size_t>{units, out};
}

namespace {

std::uint64_t productFlops(const GruParams &params, bool withInput) {
  const std::uint64_t rows = params.rnn.maxTimeSteps * params.rnn.batchSize;
  const std::uint64_t in = withInput ? params.rnn.getInputSize() : 0;
  const std::uint64_t out = params.rnn.getOutputSize();
  return 2 * rows * units * out * (in + out);
}

std::uint64_t stateElements(const GruParams &params) {
  return params.rnn.maxTimeSteps * params.rnn.batchSize *
         params.rnn.getOutputSize();
}

} // namespace

const std::vector<BasicGruCellUnit> getDefaultBasicGruCellOrder() {
  return {BASIC_GRU_CELL_RESET_GATE, BASIC_GRU_CELL_UPDATE_GATE,
          BASIC_GRU_CELL_CANDIDATE};
}

GruParams::GruParams(poplar::Type dataType, std::size_t batchSize,
                     std::size_t timeSteps, std::vector<std::size_t> layerSizes,
                     NonLinearityType activation,
                     NonLinearityType recurrentActivation)
    : rnn(dataType, batchSize, timeSteps, layerSizes), dataType(dataType),
      batchSize(batchSize), timeSteps(timeSteps),
      layerSizes(std::move(layerSizes)), activation(activation),
      recurrentActivation(recurrentActivation) {}

GruParams::GruParams(poplar::Type dataType, std::size_t batchSize,
                     std::size_t maxTimeSteps, const Tensor &timeSteps,
                     std::vector<std::size_t> layerSizes,
                     NonLinearityType activation,
                     NonLinearityType recurrentActivation)
    : rnn(dataType, batchSize, maxTimeSteps, timeSteps, layerSizes),
      dataType(dataType), batchSize(batchSize), timeSteps(maxTimeSteps),
      layerSizes(std::move(layerSizes)), activation(activation),
      recurrentActivation(recurrentActivation) {}

Tensor createInput(Graph &graph, const GruParams &params,
                   const DebugContext &debugContext, const OptionFlags &options,
                   poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType,
                              sequenceShape(params, params.rnn.getInputSize()),
                              {debugContext, "input"});
}

Tensor createInitialState(Graph &graph, const GruParams &params,
                          const DebugContext &debugContext,
                          const OptionFlags &options, poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType, stateShape(params),
                              {debugContext, "initialState"});
}

Tensor createAttention(Graph &graph, const GruParams &params,
                       const DebugContext &debugContext,
                       const OptionFlags &options) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType,
                              {params.rnn.batchSize, params.rnn.maxTimeSteps},
                              {debugContext, "attention"});
}

std::pair<Tensor, Tensor> createWeightsKernel(Graph &graph,
                                              const GruParams &params,
                                              const DebugContext &debugContext,
                                              const OptionFlags &options,
                                              poplin::PlanningCache *) {
  checkCall(graph, params, options);
  const auto out = params.rnn.getOutputSize();
  return {internal::addOperand(graph, params.rnn.dataType,
                               {units, params.rnn.getInputSize(), out},
                               {debugContext, "inputWeights"}),
          internal::addOperand(graph, params.rnn.dataType, {units, out, out},
                               {debugContext, "outputWeights"})};
}

Tensor createWeightsBiases(Graph &graph, const GruParams &params,
                           const DebugContext &debugContext,
                           const OptionFlags &options,
                           poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType, biasShape(params),
                              {debugContext, "biases"});
}

GruWeights createWeights(Graph &graph, const GruParams &params,
                         const DebugContext &debugContext,
                         const OptionFlags &options,
                         poplin::PlanningCache *cache) {
  const auto [input, output] =
      createWeightsKernel(graph, params, debugContext, options, cache);
  return {input, output,
          createWeightsBiases(graph, params, debugContext, options, cache)};
}

std::vector<std::pair<poplin::MatMulParams, OptionFlags>>
getMatMulPrePlanParameters(GruParams params, OptionFlags options) {
  internal::checkSizes("gru", params.rnn);
  return internal::layerProducts(params.rnn, units, options);
}

// Products, and for each element of the state: three non-linearities, three
// biases, four products, two sums and a difference.
std::uint64_t getBasicGruCellFwdFlops(const GruParams &params) {
  return productFlops(params, true) + 13 * stateElements(params);
}

std::uint64_t getBasicGruCellBwdFlops(const GruParams &params) {
  return productFlops(params, params.calcInputGradients) +
         16 * stateElements(params);
}

std::uint64_t getBasicGruCellWuFlops(const GruParams &params) {
  return productFlops(params, true) + units * stateElements(params);
}

} // namespace gru
} // namespace popnn
