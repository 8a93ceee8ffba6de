// Long short-term memory layers. Inputs are [steps, batch, inputs]. Options:
// inferenceOnly (false), partialsType (float), weightAccumulatorsType,
// preCalcWeights (false), recomputationMode (none), availableMemoryProportion.
#pragma once

#include <popnn/LstmDef.hpp>
#include <popnn/NonLinearityDef.hpp>
#include <popnn/Rnn.hpp>

#include <poplin/MatMul.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace popnn {
namespace lstm {

// The units in the order in which weights have them.
const std::vector<BasicLstmCellUnit> getDefaultBasicLstmCellOrder();

struct LstmParams {
  LstmParams(poplar::Type dataType, std::size_t batchSize,
             std::size_t timeSteps, std::vector<std::size_t> layerSizes,
             NonLinearityType activation = NonLinearityType::TANH,
             NonLinearityType recurrentActivation = NonLinearityType::SIGMOID);
  // The number of steps is known at run time only; see rnn::RnnParams.
  LstmParams(poplar::Type dataType, std::size_t batchSize,
             std::size_t maxTimeSteps, const poplar::Tensor &timeSteps,
             std::vector<std::size_t> layerSizes,
             NonLinearityType activation = NonLinearityType::TANH,
             NonLinearityType recurrentActivation = NonLinearityType::SIGMOID);

  rnn::RnnParams rnn;
  poplar::Type dataType;
  std::size_t batchSize;
  std::size_t timeSteps;
  std::vector<std::size_t> layerSizes; // inputs, outputs
  // False: the output is that of the last step only, [batch, outputs].
  bool outputFullSequence = true;
  bool doInputWeightCalc = true;
  // False: lstmBwd gives no gradient of the input.
  bool calcInputGradients = true;
  // With steps known at run time: keep the last state of short sequences. They
  // are always kept here.
  bool preserveFinalState = false;
  std::vector<BasicLstmCellUnit> cellOrder = getDefaultBasicLstmCellOrder();
  NonLinearityType activation;
  NonLinearityType recurrentActivation;
};

// Both [batch, outputs].
struct LstmState {
  poplar::Tensor output;
  poplar::Tensor cellState;

  poplar::Tensor getAsTensor() const;
};

struct LstmWeights {
  poplar::Tensor inputWeights;  // [units, inputs, outputs]
  poplar::Tensor outputWeights; // [units, outputs, outputs]
  poplar::Tensor biases;        // [units, outputs]
};

poplar::Tensor createInput(poplar::Graph &graph, const LstmParams &params,
                           const poplar::DebugContext &debugContext,
                           const poplar::OptionFlags &options = {},
                           poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor
createInitialOutput(poplar::Graph &graph, const LstmParams &params,
                    const poplar::DebugContext &debugContext,
                    const poplar::OptionFlags &options = {},
                    poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor
createInitialCellState(poplar::Graph &graph, const LstmParams &params,
                       const poplar::DebugContext &debugContext,
                       const poplar::OptionFlags &options = {},
                       poplin::PlanningCache *planningCache = nullptr);
LstmState createInitialState(poplar::Graph &graph, const LstmParams &params,
                             const poplar::DebugContext &debugContext,
                             const poplar::OptionFlags &options = {},
                             poplin::PlanningCache *planningCache = nullptr);
void zeroInitialState(poplar::Graph &graph, const LstmState &initialState,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {});

// The input and the output weights.
std::pair<poplar::Tensor, poplar::Tensor>
createWeightsKernel(poplar::Graph &graph, const LstmParams &params,
                    const poplar::DebugContext &debugContext,
                    const poplar::OptionFlags &options = {},
                    poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor
createWeightsBiases(poplar::Graph &graph, const LstmParams &params,
                    const poplar::DebugContext &debugContext,
                    const poplar::OptionFlags &options = {},
                    poplin::PlanningCache *planningCache = nullptr);
LstmWeights createWeights(poplar::Graph &graph, const LstmParams &params,
                          const poplar::DebugContext &debugContext,
                          const poplar::OptionFlags &options = {},
                          poplin::PlanningCache *planningCache = nullptr);

// The output, [steps, batch, outputs] or that of the last step, and the last
// cell state. `intermediates` is what lstmBwd needs; null for inference.
std::pair<poplar::Tensor, poplar::Tensor>
lstmFwd(poplar::Graph &graph, const LstmParams &params,
        const LstmState &stateInit, const poplar::Tensor &in,
        const LstmWeights &weights, poplar::Tensor *intermediates,
        poplar::program::Sequence &fwdProg,
        const poplar::DebugContext &debugContext = {},
        const poplar::OptionFlags &options = {},
        poplin::PlanningCache *planningCache = nullptr);

// The gradient of the initial state. Pointers may be null: the gradient of the
// last state, of the input, and what lstmWU needs.
LstmState
lstmBwd(poplar::Graph &graph, const LstmParams &params,
        poplar::program::Sequence &prog, const LstmState &fwdStateInit,
        const poplar::Tensor &fwdIntermediates, const LstmWeights &weights,
        const poplar::Tensor &input, const poplar::Tensor &output,
        const poplar::Tensor &outputGrad, const LstmState *lastStepStateGrad,
        poplar::Tensor *inputGrad, poplar::Tensor *bwdIntermediates,
        const poplar::DebugContext &debugContext = {},
        const poplar::OptionFlags &options = {},
        poplin::PlanningCache *planningCache = nullptr);
LstmState lstmBwd(poplar::Graph &graph, const LstmParams &params,
                  poplar::program::Sequence &prog,
                  const LstmState &fwdStateInit,
                  const poplar::Tensor &fwdIntermediates,
                  const LstmWeights &weights, const poplar::Tensor &input,
                  const poplar::Tensor &output,
                  const poplar::Tensor &outputGrad,
                  const poplar::Tensor *lastCellStateGrad,
                  poplar::Tensor *inputGrad, poplar::Tensor *bwdIntermediates,
                  const poplar::DebugContext &debugContext = {},
                  const poplar::OptionFlags &options = {},
                  poplin::PlanningCache *planningCache = nullptr);

// The gradients of the weights, from what lstmFwd and lstmBwd kept.
LstmWeights lstmWU(poplar::Graph &graph, const LstmParams &params,
                   poplar::program::Sequence &prog,
                   const LstmState &fwdStateInit,
                   const poplar::Tensor &fwdIntermediates,
                   const poplar::Tensor &bwdIntermediates,
                   const LstmWeights &weights, const poplar::Tensor &input,
                   const poplar::Tensor &output,
                   const poplar::DebugContext &debugContext = {},
                   const poplar::OptionFlags &options = {},
                   poplin::PlanningCache *planningCache = nullptr);

// Both in one.
LstmState lstmBwdWithWU(poplar::Graph &graph, const LstmParams &params,
                        poplar::program::Sequence &prog,
                        const LstmState &fwdStateInit,
                        const poplar::Tensor &fwdIntermediates,
                        const LstmWeights &weights, const poplar::Tensor &input,
                        const poplar::Tensor &output,
                        const poplar::Tensor &outputGrad,
                        const LstmState *lastStepStateGrad,
                        poplar::Tensor *inputGrad, LstmWeights &weightsGrad,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {},
                        poplin::PlanningCache *planningCache = nullptr);
LstmState lstmBwdWithWU(poplar::Graph &graph, const LstmParams &params,
                        poplar::program::Sequence &prog,
                        const LstmState &fwdStateInit,
                        const poplar::Tensor &fwdIntermediates,
                        const LstmWeights &weights, const poplar::Tensor &input,
                        const poplar::Tensor &output,
                        const poplar::Tensor &outputGrad,
                        const poplar::Tensor *lastCellStateGrad,
                        poplar::Tensor *inputGrad, LstmWeights &weightsGrad,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {},
                        poplin::PlanningCache *planningCache = nullptr);

// The products that a layer makes, to be planned ahead.
std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>>
getMatMulPrePlanParameters(LstmParams params, poplar::OptionFlags options);

std::uint64_t getBasicLstmCellFwdFlops(const LstmParams &params);
std::uint64_t getBasicLstmCellBwdFlops(const LstmParams &params);
std::uint64_t getBasicLstmCellWuFlops(const LstmParams &params);

} // namespace lstm
} // namespace popnn
