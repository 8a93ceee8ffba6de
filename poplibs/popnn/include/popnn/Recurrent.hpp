// Vanilla recurrent layers: h[t] = f(W x[t] + V h[t-1] + b). Activations are
// {steps, batch, size}, states {batch, outputs}, weights {outputs, inputs}.
#pragma once

#include <popnn/NonLinearityDef.hpp>
#include <popnn/Rnn.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplin/MatMul.hpp>

#include <tuple>
#include <utility>

namespace popnn {
namespace rnn {

poplar::Tensor createInput(poplar::Graph &graph, unsigned numSteps,
                           unsigned batchSize, unsigned inputSize,
                           unsigned outputSize, const poplar::Type &dType,
                           const poplar::Type &partialsType = poplar::FLOAT,
                           bool inferenceOnly = false,
                           const poplar::DebugContext &debugContext = {},
                           poplin::matmul::PlanningCache *cache = nullptr);
// Zeros if `initState`.
poplar::Tensor createFwdState(poplar::Graph &graph, const poplar::Type &dType,
                              unsigned batchSize, unsigned outputSize,
                              poplar::program::Sequence &prog, bool initState,
                              bool inferenceOnly,
                              const poplar::DebugContext &debugContext = {},
                              poplin::matmul::PlanningCache *cache = nullptr);
poplar::Tensor getOutputFromFwdState(const poplar::Tensor &fwdState);
poplar::Tensor createWeightsInput(
    poplar::Graph &graph, unsigned sequenceSize, unsigned batchSize,
    unsigned inputSize, unsigned outputSize, const poplar::Type &dType,
    const poplar::Type &partialsType = poplar::FLOAT,
    bool inferenceOnly = false, const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);
poplar::Tensor createWeightsFeedback(
    poplar::Graph &graph, unsigned batchSize, unsigned outputSize,
    const poplar::Type &dType, const poplar::Type &partialsType = poplar::FLOAT,
    bool inferenceOnly = false, const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);

// W x of all steps.
poplar::Tensor forwardWeightInput(
    poplar::Graph &graph, const poplar::Tensor &actIn,
    const poplar::Tensor &weights, poplar::program::Sequence &prog,
    const poplar::Type &partialsType = poplar::FLOAT,
    bool inferenceOnly = false, const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);
// The outputs of all steps, of what forwardWeightInput() gave.
poplar::Tensor forwardIterate(
    poplar::Graph &graph, const poplar::Tensor &feedFwdIn,
    const poplar::Tensor &initState, const poplar::Tensor &feedbackWeights,
    const poplar::Tensor &biases, poplar::program::Sequence &prog,
    popnn::NonLinearityType nonLinearityType,
    const poplar::Type &partialsType = poplar::FLOAT,
    bool inferenceOnly = false, const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);

// The gradient by what the non-linearity takes, of the step after the last:
// zeros.
poplar::Tensor createBwdState(poplar::Graph &graph, const poplar::Type &dType,
                              unsigned batchSize, unsigned outputSize,
                              poplar::program::Sequence &prog,
                              const poplar::DebugContext &debugContext = {},
                              poplin::matmul::PlanningCache *cache = nullptr);
// One step back: the gradient by its input, and the state of this step.
std::pair<poplar::Tensor, poplar::Tensor> backwardGradientStep(
    poplar::Graph &graph, const poplar::Tensor &nextLayerGrad,
    const poplar::Tensor &bwdState, const poplar::Tensor &actOut,
    const poplar::Tensor &weightsInput, const poplar::Tensor &weightsFeedback,
    poplar::program::Sequence &prog, popnn::NonLinearityType nonLinearityType,
    const poplar::Type &partialsType = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);
// The same without the gradient by the input.
poplar::Tensor backwardGradientStep(
    poplar::Graph &graph, const poplar::Tensor &nextLayerGrad,
    const poplar::Tensor &bwdState, const poplar::Tensor &actOut,
    const poplar::Tensor &weightsFeedback, poplar::program::Sequence &prog,
    popnn::NonLinearityType nonLinearityType,
    const poplar::Type &partialsType = poplar::FLOAT,
    const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);
// Adds a step's gradients by the weights and the biases.
void paramDeltaUpdate(poplar::Graph &graph, const poplar::Tensor &bwdState,
                      const poplar::Tensor &actIn,
                      const poplar::Tensor &prevOut,
                      poplar::Tensor &weightsInputDeltasAcc,
                      poplar::Tensor &weightsFeedbackDeltasAcc,
                      poplar::Tensor &biasDeltasAcc,
                      poplar::program::Sequence &prog,
                      const poplar::Type &partialsType = poplar::FLOAT,
                      const poplar::DebugContext &debugContext = {},
                      poplin::matmul::PlanningCache *cache = nullptr);

// All steps: forwardWeightInput(), unless `weightedIn` has its result, and
// forwardIterate().
poplar::Tensor rnnFwdSequence(
    poplar::Graph &graph, poplar::program::Sequence &prog,
    const poplar::Tensor &fwdStateInit, const poplar::Tensor *weightedIn,
    const poplar::Tensor &biases, const poplar::Tensor &feedFwdWeights,
    const poplar::Tensor &feedbackWeights, const poplar::Tensor &prevLayerAct,
    const popnn::NonLinearityType &nonLinearityType,
    const poplar::Type &partialsType = poplar::FLOAT,
    bool inferenceOnly = false, const poplar::DebugContext &debugContext = {},
    poplin::matmul::PlanningCache *cache = nullptr);
// All steps back: the gradients by the input, and of both weights and the
// biases; tensors that were not asked for are invalid.
std::tuple<poplar::Tensor, poplar::Tensor, poplar::Tensor, poplar::Tensor>
rnnBwdSequence(poplar::Graph &graph, bool doWU, bool ignoreInputGradientCalc,
               poplar::program::Sequence &prog,
               const poplar::Tensor &fwdStateInit,
               const poplar::Tensor &fwdState, const poplar::Tensor &biases,
               const poplar::Tensor &feedFwdWeights,
               const poplar::Tensor &feedbackWeights,
               const poplar::Tensor &outGradient, const poplar::Tensor &actIn,
               const popnn::NonLinearityType &nonLinearityType,
               const poplar::Type &partialsType = poplar::FLOAT,
               const poplar::DebugContext &debugContext = {},
               poplin::matmul::PlanningCache *cache = nullptr);

} // namespace rnn
} // namespace popnn
