#include <popnn/Lstm.hpp>

#include "Options.hpp"
#include "Recurrent.hpp"

#include <popnn/internal/Kinds.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popnn {
namespace lstm {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

constexpr std::size_t units = BASIC_LSTM_CELL_NUM_UNITS;

void checkCall(const Graph &graph, const LstmParams &params,
               const OptionFlags &options) {
  using internal::OptionKind;
  internal::Options(
      options,
      {{"inferenceOnly", OptionKind::Bool},
       {"partialsType", OptionKind::Choice, {"half", "float"}},
       {"weightAccumulatorsType", OptionKind::Choice, {"half", "float"}},
       {"preCalcWeights", OptionKind::Bool},
       {"recomputationMode",
        OptionKind::Choice,
        {"none", "cellAndTanh", "full"}},
       {"availableMemoryProportion", OptionKind::Number},
       {"numShards", OptionKind::Number},
       {"rnnCodeReuse", OptionKind::Bool}});
  internal::checkSizes("lstm", params.rnn);
  poputil::internal::requireCodelets(graph, "popnn", "popnn::BasicLstmCell");
}

Attributes attributesOf(const LstmParams &params) {
  return {{"gates", internal::gatePositions("lstm", params.cellOrder, units)},
          {"activation", internal::gateFunctionName("lstm", params.activation)},
          {"recurrentActivation",
           internal::gateFunctionName("lstm", params.recurrentActivation)},
          {"hasSteps", std::int64_t{params.rnn.variableTimeSteps()}}};
}

// What comes back from behind the layer.
struct Gradients {
  Tensor output;                // of the sequence, or of the last step
  Tensor lastOutput, lastState; // may be invalid
};

LstmState backward(Graph &graph, const LstmParams &params, Sequence &prog,
                   const LstmState &fwdStateInit,
                   const Tensor &fwdIntermediates, const LstmWeights &weights,
                   const Tensor &input, Gradients gradients, Tensor *inputGrad,
                   Tensor *bwdIntermediates, const DebugContext &debugContext,
                   const OptionFlags &options) {
  checkCall(graph, params, options);
  internal::requireOperands("lstm", params.rnn, units, input,
                            weights.inputWeights, weights.outputWeights);
  internal::requireShape(
      "lstm", "output's gradient", gradients.output,
      params.outputFullSequence
          ? internal::sequenceShape(params.rnn, params.rnn.getOutputSize())
          : internal::stateShape(params.rnn));
  support::requireUser<poplibs_error>(
      inputGrad == nullptr || params.calcInputGradients,
      "[popnn::lstm] a gradient of the input was asked for; the parameter "
      "calcInputGradients is false");
  if (!params.outputFullSequence) { // the last output's, by another name
    gradients.lastOutput =
        gradients.lastOutput.valid()
            ? popops::add(graph, gradients.lastOutput, gradients.output, prog,
                          {debugContext, "lastOutputGrad"})
            : gradients.output;
    gradients.output = {};
  }
  auto attributes = attributesOf(params);
  attributes.set("inputGrad", std::int64_t{inputGrad != nullptr});
  std::vector<Tensor> operands{fwdIntermediates, weights.inputWeights,
                               weights.outputWeights, fwdStateInit.output,
                               fwdStateInit.cellState};
  const auto addIf = [&](const char *name, const Tensor &tensor) {
    attributes.set(name, std::int64_t{tensor.valid()});
    if (tensor.valid()) {
      operands.push_back(tensor);
    }
  };
  addIf("hasDy", gradients.output);
  addIf("hasDh", gradients.lastOutput);
  addIf("hasDc", gradients.lastState);
  addIf("hasSteps", params.rnn.varTimeSteps);
  const auto results = internal::lstmGrad(graph, attributes, operands, prog,
                                          {debugContext, "lstmBwd"}, options);
  if (inputGrad != nullptr) {
    *inputGrad = results[3];
  }
  if (bwdIntermediates != nullptr) {
    *bwdIntermediates = results[0];
  }
  return {results[1], results[2]};
}

Gradients gradientsOf(const Tensor &outputGrad, const LstmState *lastState) {
  return lastState == nullptr
             ? Gradients{outputGrad, {}, {}}
             : Gradients{outputGrad, lastState->output, lastState->cellState};
}

Gradients gradientsOf(const Tensor &outputGrad, const Tensor *lastCellState) {
  return lastCellState == nullptr ? Gradients{outputGrad, {}, {}}
                                  : Gradients{outputGrad, {}, *lastCellState};
}

} // namespace

const std::vector<BasicLstmCellUnit> getDefaultBasicLstmCellOrder() {
  return {BASIC_LSTM_CELL_FORGET_GATE, BASIC_LSTM_CELL_INPUT_GATE,
          BASIC_LSTM_CELL_CANDIDATE, BASIC_LSTM_CELL_OUTPUT_GATE};
}

LstmParams::LstmParams(poplar::Type dataType, std::size_t batchSize,
                       std::size_t timeSteps,
                       std::vector<std::size_t> layerSizes,
                       NonLinearityType activation,
                       NonLinearityType recurrentActivation)
    : rnn(dataType, batchSize, timeSteps, layerSizes), dataType(dataType),
      batchSize(batchSize), timeSteps(timeSteps),
      layerSizes(std::move(layerSizes)), activation(activation),
      recurrentActivation(recurrentActivation) {}

LstmParams::LstmParams(poplar::Type dataType, std::size_t batchSize,
                       std::size_t maxTimeSteps, const Tensor &timeSteps,
                       std::vector<std::size_t> layerSizes,
                       NonLinearityType activation,
                       NonLinearityType recurrentActivation)
    : rnn(dataType, batchSize, maxTimeSteps, timeSteps, layerSizes),
      dataType(dataType), batchSize(batchSize), timeSteps(maxTimeSteps),
      layerSizes(std::move(layerSizes)), activation(activation),
      recurrentActivation(recurrentActivation) {}

Tensor LstmState::getAsTensor() const {
  return poplar::concat(output.expand({0}), cellState.expand({0}));
}

Tensor createInput(Graph &graph, const LstmParams &params,
                   const DebugContext &debugContext, const OptionFlags &options,
                   poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(
      graph, params.rnn.dataType,
      internal::sequenceShape(params.rnn, params.rnn.getInputSize()),
      {debugContext, "input"});
}

Tensor createInitialOutput(Graph &graph, const LstmParams &params,
                           const DebugContext &debugContext,
                           const OptionFlags &options,
                           poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType,
                              internal::stateShape(params.rnn),
                              {debugContext, "initialOutput"});
}

Tensor createInitialCellState(Graph &graph, const LstmParams &params,
                              const DebugContext &debugContext,
                              const OptionFlags &options,
                              poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType,
                              internal::stateShape(params.rnn),
                              {debugContext, "initialCellState"});
}

LstmState createInitialState(Graph &graph, const LstmParams &params,
                             const DebugContext &debugContext,
                             const OptionFlags &options,
                             poplin::PlanningCache *cache) {
  return {createInitialOutput(graph, params, debugContext, options, cache),
          createInitialCellState(graph, params, debugContext, options, cache)};
}

void zeroInitialState(Graph &graph, const LstmState &initialState,
                      Sequence &prog, const DebugContext &debugContext) {
  popops::zero(graph, initialState.getAsTensor(), prog, debugContext);
}

std::pair<Tensor, Tensor> createWeightsKernel(Graph &graph,
                                              const LstmParams &params,
                                              const DebugContext &debugContext,
                                              const OptionFlags &options,
                                              poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addWeights(graph, params.rnn, units, debugContext);
}

Tensor createWeightsBiases(Graph &graph, const LstmParams &params,
                           const DebugContext &debugContext,
                           const OptionFlags &options,
                           poplin::PlanningCache *) {
  checkCall(graph, params, options);
  return internal::addOperand(graph, params.rnn.dataType,
                              {units, params.rnn.getOutputSize()},
                              {debugContext, "biases"});
}

LstmWeights createWeights(Graph &graph, const LstmParams &params,
                          const DebugContext &debugContext,
                          const OptionFlags &options,
                          poplin::PlanningCache *cache) {
  const auto [input, output] =
      createWeightsKernel(graph, params, debugContext, options, cache);
  return {input, output,
          createWeightsBiases(graph, params, debugContext, options, cache)};
}

std::pair<Tensor, Tensor>
lstmFwd(Graph &graph, const LstmParams &params, const LstmState &stateInit,
        const Tensor &in, const LstmWeights &weights, Tensor *intermediates,
        Sequence &fwdProg, const DebugContext &debugContext,
        const OptionFlags &options, poplin::PlanningCache *) {
  checkCall(graph, params, options);
  internal::requireOperands("lstm", params.rnn, units, in, weights.inputWeights,
                            weights.outputWeights);
  auto attributes = attributesOf(params);
  attributes.set("saves", std::int64_t{intermediates != nullptr});
  std::vector<Tensor> operands{in,
                               stateInit.output,
                               stateInit.cellState,
                               weights.inputWeights,
                               weights.outputWeights,
                               weights.biases};
  if (params.rnn.variableTimeSteps()) {
    operands.push_back(params.rnn.varTimeSteps);
  }
  const auto results = internal::lstm(graph, attributes, operands, fwdProg,
                                      {debugContext, "lstmFwd"}, options);
  if (intermediates != nullptr) {
    *intermediates = results[3];
  }
  return {params.outputFullSequence ? results[0] : results[1], results[2]};
}

LstmWeights lstmWU(Graph &graph, const LstmParams &params, Sequence &prog,
                   const LstmState &, const Tensor &,
                   const Tensor &bwdIntermediates, const LstmWeights &weights,
                   const Tensor &input, const Tensor &,
                   const DebugContext &debugContext, const OptionFlags &options,
                   poplin::PlanningCache *) {
  checkCall(graph, params, options);
  internal::requireOperands("lstm", params.rnn, units, input,
                            weights.inputWeights, weights.outputWeights);
  const auto results =
      internal::lstmWeightGrad(graph, {}, {input, bwdIntermediates}, prog,
                               {debugContext, "lstmWU"}, options);
  return {results[0], results[1], results[2]};
}

#define POPNN_LSTM_BACKWARD(Last)                                              \
  LstmState lstmBwd(                                                           \
      Graph &graph, const LstmParams &params, Sequence &prog,                  \
      const LstmState &fwdStateInit, const Tensor &fwdIntermediates,           \
      const LstmWeights &weights, const Tensor &input, const Tensor &,         \
      const Tensor &outputGrad, const Last *lastGrad, Tensor *inputGrad,       \
      Tensor *bwdIntermediates, const DebugContext &debugContext,              \
      const OptionFlags &options, poplin::PlanningCache *) {                   \
    return backward(graph, params, prog, fwdStateInit, fwdIntermediates,       \
                    weights, input, gradientsOf(outputGrad, lastGrad),         \
                    inputGrad, bwdIntermediates, debugContext, options);       \
  }                                                                            \
  LstmState lstmBwdWithWU(                                                     \
      Graph &graph, const LstmParams &params, Sequence &prog,                  \
      const LstmState &fwdStateInit, const Tensor &fwdIntermediates,           \
      const LstmWeights &weights, const Tensor &input, const Tensor &output,   \
      const Tensor &outputGrad, const Last *lastGrad, Tensor *inputGrad,       \
      LstmWeights &weightsGrad, const DebugContext &debugContext,              \
      const OptionFlags &options, poplin::PlanningCache *cache) {              \
    Tensor bwdIntermediates;                                                   \
    const auto state =                                                         \
        lstmBwd(graph, params, prog, fwdStateInit, fwdIntermediates, weights,  \
                input, output, outputGrad, lastGrad, inputGrad,                \
                &bwdIntermediates, debugContext, options, cache);              \
    weightsGrad = lstmWU(graph, params, prog, fwdStateInit, fwdIntermediates,  \
                         bwdIntermediates, weights, input, output,             \
                         debugContext, options, cache);                        \
    return state;                                                              \
  }
POPNN_LSTM_BACKWARD(LstmState)
POPNN_LSTM_BACKWARD(Tensor)
#undef POPNN_LSTM_BACKWARD

std::vector<std::pair<poplin::MatMulParams, OptionFlags>>
getMatMulPrePlanParameters(LstmParams params, OptionFlags options) {
  internal::checkSizes("lstm", params.rnn);
  return internal::layerProducts(params.rnn, units, options);
}

// Products, and for each element of the state: five non-linearities, four
// biases, three products and a sum.
std::uint64_t getBasicLstmCellFwdFlops(const LstmParams &params) {
  return internal::productFlops(params.rnn, units, params.doInputWeightCalc) +
         13 * internal::stateElements(params.rnn);
}

std::uint64_t getBasicLstmCellBwdFlops(const LstmParams &params) {
  return internal::productFlops(params.rnn, units, params.calcInputGradients) +
         18 * internal::stateElements(params.rnn);
}

std::uint64_t getBasicLstmCellWuFlops(const LstmParams &params) {
  return internal::productFlops(params.rnn, units, true) +
         units * internal::stateElements(params.rnn);
}

} // namespace lstm
} // namespace popnn
