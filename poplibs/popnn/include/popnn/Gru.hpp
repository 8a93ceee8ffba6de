// Gated recurrent unit layers. Inputs are [steps, batch, inputs]. Options:
// inferenceOnly (true), partialsType (float), availableMemoryProportion.
#pragma once

#include <popnn/GruDef.hpp>
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
namespace gru {

// The units in the order in which weights have them.
const std::vector<BasicGruCellUnit> getDefaultBasicGruCellOrder();

struct GruParams {
  GruParams(poplar::Type dataType, std::size_t batchSize, std::size_t timeSteps,
            std::vector<std::size_t> layerSizes,
            NonLinearityType activation = NonLinearityType::TANH,
            NonLinearityType recurrentActivation = NonLinearityType::SIGMOID);
  // The number of steps is known at run time only; see rnn::RnnParams.
  GruParams(poplar::Type dataType, std::size_t batchSize,
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
  // False: gruBwd gives no gradient of the input.
  bool calcInputGradients = true;
  std::vector<BasicGruCellUnit> cellOrder = getDefaultBasicGruCellOrder();
  // True: the reset gate multiplies the state behind the candidate's weights,
  // and biases are [units, 2, outputs]: of the input and of the state.
  bool resetAfter = false;
  NonLinearityType activation;
  NonLinearityType recurrentActivation;
};

struct GruWeights {
  poplar::Tensor inputWeights;  // [units, inputs, outputs]
  poplar::Tensor outputWeights; // [units, outputs, outputs]
  poplar::Tensor biases;        // [units, outputs], or as above
};

poplar::Tensor createInput(poplar::Graph &graph, const GruParams &params,
                           const poplar::DebugContext &debugContext,
                           const poplar::OptionFlags &options = {},
                           poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor createInitialState(poplar::Graph &graph, const GruParams &params,
                                  const poplar::DebugContext &debugContext,
                                  const poplar::OptionFlags &options,
                                  poplin::PlanningCache *cache);
// [batch, steps]
poplar::Tensor createAttention(poplar::Graph &graph, const GruParams &params,
                               const poplar::DebugContext &debugContext,
                               const poplar::OptionFlags &options = {});
std::pair<poplar::Tensor, poplar::Tensor>
createWeightsKernel(poplar::Graph &graph, const GruParams &params,
                    const poplar::DebugContext &debugContext,
                    const poplar::OptionFlags &options = {},
                    poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor
createWeightsBiases(poplar::Graph &graph, const GruParams &params,
                    const poplar::DebugContext &debugContext,
                    const poplar::OptionFlags &options = {},
                    poplin::PlanningCache *planningCache = nullptr);
GruWeights createWeights(poplar::Graph &graph, const GruParams &params,
                         const poplar::DebugContext &debugContext,
                         const poplar::OptionFlags &options = {},
                         poplin::PlanningCache *planningCache = nullptr);

// The output, [steps, batch, outputs] or that of the last step.
// `intermediates` is what gruBwd needs; null for inference. `realTimeSteps`
// [batch] has the number of steps of each sample; later outputs are 0. The
// attention scores of auGruFwd weaken the update gate.
poplar::Tensor gruFwd(poplar::Graph &graph, const GruParams &params,
                      const poplar::Tensor &stateInit, const poplar::Tensor &in,
                      const GruWeights &weights, poplar::Tensor *intermediates,
                      poplar::program::Sequence &fwdProg,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {},
                      poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor gruFwd(poplar::Graph &graph, const GruParams &params,
                      const poplar::Tensor &stateInit, const poplar::Tensor &in,
                      const poplar::Tensor &realTimeSteps,
                      const GruWeights &weights, poplar::Tensor *intermediates,
                      poplar::program::Sequence &fwdProg,
                      const poplar::DebugContext &debugContext = {},
                      const poplar::OptionFlags &options = {},
                      poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor auGruFwd(poplar::Graph &graph, const GruParams &params,
                        const poplar::Tensor &stateInit,
                        const poplar::Tensor &in, const GruWeights &weights,
                        poplar::Tensor *intermediates,
                        const poplar::Tensor &attScores,
                        poplar::program::Sequence &fwdProg,
                        const poplar::DebugContext &debugContext = {},
                        const poplar::OptionFlags &options = {},
                        poplin::PlanningCache *planningCache = nullptr);
poplar::Tensor
auGruFwd(poplar::Graph &graph, const GruParams &params,
         const poplar::Tensor &stateInit, const poplar::Tensor &in,
         const poplar::Tensor &realTimeSteps, const GruWeights &weights,
         poplar::Tensor *intermediates, const poplar::Tensor &attScores,
         poplar::program::Sequence &fwdProg,
         const poplar::DebugContext &debugContext = {},
         const poplar::OptionFlags &options = {},
         poplin::PlanningCache *planningCache = nullptr);

// The gradient of the initial state; `inputGrad` and `bwdIntermediates`, what
// gruWU needs, may be null.
poplar::Tensor gruBwd(
    poplar::Graph &graph, const GruParams &params,
    poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
    const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
    const poplar::Tensor &input, const poplar::Tensor &output,
    const poplar::Tensor &outputGrad, poplar::Tensor *inputGrad,
    poplar::Tensor *bwdIntermediates, const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);
poplar::Tensor
gruBwd(poplar::Graph &graph, const GruParams &params,
       poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
       const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
       const poplar::Tensor &input, const poplar::Tensor &realTimeSteps,
       const poplar::Tensor &output, const poplar::Tensor &outputGrad,
       poplar::Tensor *inputGrad, poplar::Tensor *bwdIntermediates,
       const poplar::DebugContext &debugContext,
       const poplar::OptionFlags &options,
       poplin::PlanningCache *planningCache);
poplar::Tensor auGruBwd(
    poplar::Graph &graph, const GruParams &params,
    poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
    const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
    const poplar::Tensor &input, const poplar::Tensor &output,
    const poplar::Tensor &outputGrad, poplar::Tensor *inputGrad,
    poplar::Tensor *bwdIntermediates, const poplar::Tensor &attentions,
    poplar::Tensor *attentionsGrad, const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);
poplar::Tensor
auGruBwd(poplar::Graph &graph, const GruParams &params,
         poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
         const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
         const poplar::Tensor &input, const poplar::Tensor &realTimeSteps,
         const poplar::Tensor &output, const poplar::Tensor &outputGrad,
         poplar::Tensor *inputGrad, poplar::Tensor *bwdIntermediates,
         const poplar::Tensor &attentions, poplar::Tensor *attentionsGrad,
         const poplar::DebugContext &debugContext,
         const poplar::OptionFlags &options,
         poplin::PlanningCache *planningCache);

// The gradients of the weights, from what the passes kept.
GruWeights
gruWU(poplar::Graph &graph, const GruParams &params,
      poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
      const poplar::Tensor &fwdIntermediates,
      const poplar::Tensor &bwdIntermediates, const GruWeights &weights,
      const poplar::Tensor &input, const poplar::Tensor &output,
      const poplar::DebugContext &debugContext,
      const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);
GruWeights auGruWU(poplar::Graph &graph, const GruParams &params,
                   poplar::program::Sequence &prog,
                   const poplar::Tensor &fwdOutputInit,
                   const poplar::Tensor &fwdIntermediates,
                   const poplar::Tensor &bwdIntermediates,
                   const GruWeights &weights, const poplar::Tensor &input,
                   const poplar::Tensor &output,
                   const poplar::DebugContext &debugContext,
                   const poplar::OptionFlags &options,
                   poplin::PlanningCache *planningCache);

// Both in one.
poplar::Tensor gruBwdWithWU(
    poplar::Graph &graph, const GruParams &params,
    poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
    const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
    const poplar::Tensor &input, const poplar::Tensor &output,
    const poplar::Tensor &outputGrad, poplar::Tensor *inputGrad,
    GruWeights &weightsGrad, const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);
poplar::Tensor gruBwdWithWU(
    poplar::Graph &graph, const GruParams &params,
    poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
    const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
    const poplar::Tensor &input, const poplar::Tensor &realTimeSteps,
    const poplar::Tensor &output, const poplar::Tensor &outputGrad,
    poplar::Tensor *inputGrad, GruWeights &weightsGrad,
    const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);
poplar::Tensor auGruBwdWithWU(
    poplar::Graph &graph, const GruParams &params,
    poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
    const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
    const poplar::Tensor &input, const poplar::Tensor &output,
    const poplar::Tensor &outputGrad, poplar::Tensor *inputGrad,
    GruWeights &weightsGrad, const poplar::Tensor &attentions,
    poplar::Tensor *attentionsGrad, const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);
poplar::Tensor auGruBwdWithWU(
    poplar::Graph &graph, const GruParams &params,
    poplar::program::Sequence &prog, const poplar::Tensor &fwdOutputInit,
    const poplar::Tensor &fwdIntermediates, const GruWeights &weights,
    const poplar::Tensor &input, const poplar::Tensor &realTimeSteps,
    const poplar::Tensor &output, const poplar::Tensor &outputGrad,
    poplar::Tensor *inputGrad, GruWeights &weightsGrad,
    const poplar::Tensor &attentions, poplar::Tensor *attentionsGrad,
    const poplar::DebugContext &debugContext,
    const poplar::OptionFlags &options, poplin::PlanningCache *planningCache);

// The products that a layer makes, to be planned ahead.
std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>>
getMatMulPrePlanParameters(GruParams params, poplar::OptionFlags options);

std::uint64_t getBasicGruCellFwdFlops(const GruParams &params);
std::uint64_t getBasicGruCellBwdFlops(const GruParams &params);
std::uint64_t getBasicGruCellWuFlops(const GruParams &params);

} // namespace gru
} // namespace popnn
