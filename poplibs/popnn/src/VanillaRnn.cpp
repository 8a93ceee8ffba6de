#include <popnn/Recurrent.hpp>

#include <popnn/NonLinearity.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popnn::rnn {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using Cache = poplin::matmul::PlanningCache;

namespace {

OptionFlags options(const Type &partialsType, const char *pass) {
  return {{"partialsType", partialsType.toString().cloneAsString()},
          {"fullyConnectedPass", pass}};
}

const char *forwardPass(bool inferenceOnly) {
  return inferenceOnly ? "INFERENCE_FWD" : "TRAINING_FWD";
}

// The gradient of these non-linearities follows from their output.
void requireOutputGradient(NonLinearityType type) {
  support::requireUser<poputil::poplibs_error>(
      type == NonLinearityType::TANH || type == NonLinearityType::SIGMOID ||
          type == NonLinearityType::RELU ||
          type == NonLinearityType::HARD_SIGMOID,
      "[popnn::rnn] the gradient of this non-linearity needs its input; TANH, "
      "SIGMOID, HARD_SIGMOID and RELU are allowed");
}

Tensor zeros(Graph &graph, const Type &type,
             const std::vector<std::size_t> &shape, Sequence &prog,
             const DebugContext &debugContext) {
  const Tensor tensor = graph.addVariable(type, shape, debugContext);
  poputil::mapTensorLinearly(graph, tensor);
  popops::zero(graph, tensor, prog, debugContext);
  return tensor;
}

// Of all steps, as one matrix.
Tensor rows(const Tensor &sequence) {
  return sequence.flatten(0, 2);
}

} // namespace

Tensor createInput(Graph &graph, unsigned numSteps, unsigned batchSize,
                   unsigned inputSize, unsigned outputSize, const Type &dType,
                   const Type &partialsType, bool inferenceOnly,
                   const DebugContext &debugContext, Cache *cache) {
  const std::size_t samples = std::size_t{numSteps} * batchSize;
  return poplin::createMatMulInputLHS(
             graph, dType, {samples, inputSize}, {inputSize, outputSize},
             {debugContext, "input"},
             options(partialsType, forwardPass(inferenceOnly)), cache)
      .reshape({numSteps, batchSize, inputSize});
}

Tensor createFwdState(Graph &graph, const Type &dType, unsigned batchSize,
                      unsigned outputSize, Sequence &prog, bool initState, bool,
                      const DebugContext &debugContext, Cache *) {
  const Tensor state = graph.addVariable(dType, {batchSize, outputSize},
                                         {debugContext, "fwdState"});
  poputil::mapTensorLinearly(graph, state);
  if (initState) {
    popops::zero(graph, state, prog, {debugContext, "fwdState"});
  }
  return state;
}

Tensor getOutputFromFwdState(const Tensor &fwdState) {
  return fwdState;
}

Tensor createWeightsInput(Graph &graph, unsigned sequenceSize,
                          unsigned batchSize, unsigned inputSize,
                          unsigned outputSize, const Type &dType,
                          const Type &partialsType, bool inferenceOnly,
                          const DebugContext &debugContext, Cache *cache) {
  const std::size_t samples = std::size_t{sequenceSize} * batchSize;
  return poplin::createMatMulInputRHS(
             graph, dType, {samples, inputSize}, {inputSize, outputSize},
             {debugContext, "weightsInput"},
             options(partialsType, forwardPass(inferenceOnly)), cache)
      .transpose();
}

Tensor createWeightsFeedback(Graph &graph, unsigned batchSize,
                             unsigned outputSize, const Type &dType,
                             const Type &partialsType, bool inferenceOnly,
                             const DebugContext &debugContext, Cache *cache) {
  return poplin::createMatMulInputRHS(
             graph, dType, {batchSize, outputSize}, {outputSize, outputSize},
             {debugContext, "weightsFeedback"},
             options(partialsType, forwardPass(inferenceOnly)), cache)
      .transpose();
}

Tensor forwardWeightInput(Graph &graph, const Tensor &actIn,
                          const Tensor &weights, Sequence &prog,
                          const Type &partialsType, bool inferenceOnly,
                          const DebugContext &debugContext, Cache *cache) {
  return poplin::matMul(graph, rows(actIn), weights.transpose(), prog,
                        {debugContext, "forwardWeightInput"},
                        options(partialsType, forwardPass(inferenceOnly)),
                        cache)
      .reshape({actIn.dim(0), actIn.dim(1), weights.dim(0)});
}

Tensor forwardIterate(Graph &graph, const Tensor &feedFwdIn,
                      const Tensor &initState, const Tensor &feedbackWeights,
                      const Tensor &biases, Sequence &prog,
                      NonLinearityType nonLinearityType,
                      const Type &partialsType, bool inferenceOnly,
                      const DebugContext &debugContext, Cache *cache) {
  const DebugContext context(debugContext, "forwardIterate");
  std::vector<Tensor> outputs;
  Tensor state = initState;
  for (std::size_t step = 0; step < feedFwdIn.dim(0); ++step) {
    const Tensor sum = poplin::matMul(
        graph, state, feedbackWeights.transpose(), prog, context,
        options(partialsType, forwardPass(inferenceOnly)), cache);
    using namespace popops::expr;
    popops::mapInPlace(graph, _1 + _2 + _3, {sum, feedFwdIn[step], biases},
                       prog, context);
    nonLinearityInPlace(graph, nonLinearityType, sum, prog, context);
    outputs.push_back(sum.expand({0}));
    state = sum;
  }
  return poplar::concat(outputs);
}

Tensor createBwdState(Graph &graph, const Type &dType, unsigned batchSize,
                      unsigned outputSize, Sequence &prog,
                      const DebugContext &debugContext, Cache *) {
  return zeros(graph, dType, {batchSize, outputSize}, prog,
               {debugContext, "bwdState"});
}

Tensor backwardGradientStep(Graph &graph, const Tensor &nextLayerGrad,
                            const Tensor &bwdState, const Tensor &actOut,
                            const Tensor &weightsFeedback, Sequence &prog,
                            NonLinearityType nonLinearityType,
                            const Type &partialsType,
                            const DebugContext &debugContext, Cache *cache) {
  requireOutputGradient(nonLinearityType);
  const DebugContext context(debugContext, "backwardGradientStep");
  const Tensor gradient =
      poplin::matMul(graph, bwdState, weightsFeedback, prog, context,
                     options(partialsType, "TRAINING_BWD"), cache);
  popops::addInPlace(graph, gradient, nextLayerGrad, prog, context);
  return nonLinearityInputGradient(graph, nonLinearityType, actOut, gradient,
                                   prog, context);
}

std::pair<Tensor, Tensor>
backwardGradientStep(Graph &graph, const Tensor &nextLayerGrad,
                     const Tensor &bwdState, const Tensor &actOut,
                     const Tensor &weightsInput, const Tensor &weightsFeedback,
                     Sequence &prog, NonLinearityType nonLinearityType,
                     const Type &partialsType, const DebugContext &debugContext,
                     Cache *cache) {
  const Tensor state = backwardGradientStep(
      graph, nextLayerGrad, bwdState, actOut, weightsFeedback, prog,
      nonLinearityType, partialsType, debugContext, cache);
  const Tensor inputGradient = poplin::matMul(
      graph, state, weightsInput, prog, {debugContext, "inputGradient"},
      options(partialsType, "TRAINING_BWD"), cache);
  return {inputGradient, state};
}

void paramDeltaUpdate(Graph &graph, const Tensor &bwdState, const Tensor &actIn,
                      const Tensor &prevOut, Tensor &weightsInputDeltasAcc,
                      Tensor &weightsFeedbackDeltasAcc, Tensor &biasDeltasAcc,
                      Sequence &prog, const Type &partialsType,
                      const DebugContext &debugContext, Cache *cache) {
  const DebugContext context(debugContext, "paramDeltaUpdate");
  const OptionFlags flags = options(partialsType, "TRAINING_WU");
  poplin::matMulAcc(graph, weightsInputDeltasAcc, 1.0F, bwdState.transpose(),
                    actIn, prog, context, flags, cache);
  poplin::matMulAcc(graph, weightsFeedbackDeltasAcc, 1.0F, bwdState.transpose(),
                    prevOut, prog, context, flags, cache);
  popops::reduceWithOutput(graph, bwdState, biasDeltasAcc, {0},
                           {popops::Operation::ADD, true}, prog, context);
}

Tensor rnnFwdSequence(Graph &graph, Sequence &prog, const Tensor &fwdStateInit,
                      const Tensor *weightedIn, const Tensor &biases,
                      const Tensor &feedFwdWeights,
                      const Tensor &feedbackWeights, const Tensor &prevLayerAct,
                      const NonLinearityType &nonLinearityType,
                      const Type &partialsType, bool inferenceOnly,
                      const DebugContext &debugContext, Cache *cache) {
  const Tensor feedFwdIn =
      weightedIn != nullptr
          ? *weightedIn
          : forwardWeightInput(graph, prevLayerAct, feedFwdWeights, prog,
                               partialsType, inferenceOnly, debugContext,
                               cache);
  return forwardIterate(graph, feedFwdIn, fwdStateInit, feedbackWeights, biases,
                        prog, nonLinearityType, partialsType, inferenceOnly,
                        debugContext, cache);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> rnnBwdSequence(
    Graph &graph, bool doWU, bool ignoreInputGradientCalc, Sequence &prog,
    const Tensor &fwdStateInit, const Tensor &fwdState, const Tensor &biases,
    const Tensor &feedFwdWeights, const Tensor &feedbackWeights,
    const Tensor &outGradient, const Tensor &actIn,
    const NonLinearityType &nonLinearityType, const Type &partialsType,
    const DebugContext &debugContext, Cache *cache) {
  const DebugContext context(debugContext, "rnnBwdSequence");
  const Type type = fwdState.elementType();
  Tensor inputDeltas, feedbackDeltas, biasDeltas;
  if (doWU) {
    inputDeltas = zeros(graph, type, feedFwdWeights.shape(), prog, context);
    feedbackDeltas = zeros(graph, type, feedbackWeights.shape(), prog, context);
    biasDeltas = zeros(graph, type, biases.shape(), prog, context);
  }
  Tensor state = zeros(graph, type, fwdStateInit.shape(), prog, context);
  std::vector<Tensor> states(fwdState.dim(0)); // of each step
  for (std::size_t step = fwdState.dim(0); step-- > 0;) {
    state = backwardGradientStep(
        graph, outGradient[step], state, fwdState[step], feedbackWeights, prog,
        nonLinearityType, partialsType, context, cache);
    states[step] = state.expand({0});
    if (doWU) {
      paramDeltaUpdate(graph, state, actIn[step],
                       step == 0 ? fwdStateInit : fwdState[step - 1],
                       inputDeltas, feedbackDeltas, biasDeltas, prog,
                       partialsType, context, cache);
    }
  }
  Tensor inputGradient;
  if (!ignoreInputGradientCalc) { // of all steps at once
    inputGradient =
        poplin::matMul(graph, rows(poplar::concat(states)), feedFwdWeights,
                       prog, {context, "inputGradient"},
                       options(partialsType, "TRAINING_BWD"), cache)
            .reshape(actIn.shape());
  }
  return {inputGradient, inputDeltas, feedbackDeltas, biasDeltas};
}

} // namespace popnn::rnn
