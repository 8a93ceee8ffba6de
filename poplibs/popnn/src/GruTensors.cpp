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

std::vector<std::size_t> biasShape(const GruParams &params) {
  const auto out = params.rnn.getOutputSize();
  return params.resetAfter ? std::vector<std::size_t>{units, 2, out}
                           : std::vector<std::size_t>{units, out};
}

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
  return internal::addOperand(
      graph, params.rnn.dataType,
      internal::sequenceShape(params.rnn, params.rnn.getInputSize()),
      {debugContext, "input"});
}

Tensor createInitialState(Graph &graph, const GruParams &params,
                          const DebugContext &debugContext,
                          const OptionFlags &options, poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType,
                              internal::stateShape(params.rnn),
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
  return internal::addWeights(graph, params.rnn, units, debugContext);
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
  return internal::productFlops(params.rnn, units, true) +
         13 * internal::stateElements(params.rnn);
}

std::uint64_t getBasicGruCellBwdFlops(const GruParams &params) {
  return internal::productFlops(params.rnn, units, params.calcInputGradients) +
         16 * internal::stateElements(params.rnn);
}

std::uint64_t getBasicGruCellWuFlops(const GruParams &params) {
  return internal::productFlops(params.rnn, units, true) +
         units * internal::stateElements(params.rnn);
}

} // namespace gru
} // namespace popnn
