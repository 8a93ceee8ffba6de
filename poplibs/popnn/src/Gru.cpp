#include <popnn/Gru.hpp>

#include "GruShapes.hpp"
#include "Recurrent.hpp"

#include <popnn/internal/Kinds.hpp>

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popnn {
namespace gru {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

void checkOperands(const GruParams &params, const Tensor &in,
                   const GruWeights &weights) {
  internal::requireOperands("gru", params.rnn, units, in, weights.inputWeights,
                            weights.outputWeights);
  internal::requireShape("gru", "bias", weights.biases, biasShape(params));
}

// What a call may have besides; tensors may be invalid.
struct Extras {
  Tensor steps, attention;
};

// Steps given with the call, or with the parameters.
Extras extrasOf(const GruParams &params, const Tensor &realTimeSteps,
                const Tensor &attention) {
  return {realTimeSteps.valid() ? realTimeSteps : params.rnn.varTimeSteps,
          attention};
}

// The attributes that all passes share; the extras join the operands.
Attributes attributesOf(const GruParams &params, const Extras &extras,
                        std::vector<Tensor> &operands) {
  for (const auto &extra : {extras.steps, extras.attention}) {
    if (extra.valid()) {
      operands.push_back(extra);
    }
  }
  return {{"gates", internal::gatePositions("gru", params.cellOrder, units)},
          {"activation", internal::gateFunctionName("gru", params.activation)},
          {"recurrentActivation",
           internal::gateFunctionName("gru", params.recurrentActivation)},
          {"resetAfter", std::int64_t{params.resetAfter}},
          {"hasSteps", std::int64_t{extras.steps.valid()}},
          {"hasAttention", std::int64_t{extras.attention.valid()}}};
}

Tensor forward(Graph &graph, const GruParams &params, const Tensor &stateInit,
               const Tensor &in, const Extras &extras,
               const GruWeights &weights, Tensor *intermediates, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options) {
  checkCall(graph, params, options);
  checkOperands(params, in, weights);
  std::vector<Tensor> operands{in, stateInit, weights.inputWeights,
                               weights.outputWeights, weights.biases};
  auto attributes = attributesOf(params, extras, operands);
  attributes.set("saves", std::int64_t{intermediates != nullptr});
  const auto results = internal::gru(graph, attributes, operands, prog,
                                     {debugContext, "gruFwd"}, options);
  if (intermediates != nullptr) {
    *intermediates = results[2];
  }
  return params.outputFullSequence ? results[0] : results[1];
}

struct Wanted {
  Tensor *input, *intermediates, *attention; // may be null
};

Tensor backward(Graph &graph, const GruParams &params, Sequence &prog,
                const Tensor &fwdIntermediates, const GruWeights &weights,
                const Tensor &input, const Extras &extras,
                const Tensor &outputGrad, const Wanted &wanted,
                const DebugContext &debugContext, const OptionFlags &options) {
  checkCall(graph, params, options);
  checkOperands(params, input, weights);
  internal::requireShape(
      "gru", "output's gradient", outputGrad,
      params.outputFullSequence
          ? internal::sequenceShape(params.rnn, params.rnn.getOutputSize())
          : internal::stateShape(params.rnn));
  support::requireUser<poplibs_error>(
      wanted.input == nullptr || params.calcInputGradients,
      "[popnn::gru] a gradient of the input was asked for; the parameter "
      "calcInputGradients is false");
  std::vector<Tensor> operands{fwdIntermediates, weights.inputWeights,
                               weights.outputWeights, outputGrad};
  auto attributes = attributesOf(params, extras, operands);
  attributes.set("inputGrad", std::int64_t{wanted.input != nullptr});
  attributes.set("hasDy", std::int64_t{params.outputFullSequence});
  attributes.set("hasDh", std::int64_t{!params.outputFullSequence});
  const auto results = internal::gruGrad(graph, attributes, operands, prog,
                                         {debugContext, "gruBwd"}, options);
  if (wanted.input != nullptr) {
    *wanted.input = results.back();
  }
  if (wanted.intermediates != nullptr) {
    *wanted.intermediates = results[0];
  }
  if (wanted.attention != nullptr) {
    *wanted.attention = results[2];
  }
  return results[1];
}

GruWeights update(Graph &graph, const GruParams &params, Sequence &prog,
                  const Tensor &fwdIntermediates,
                  const Tensor &bwdIntermediates, const GruWeights &weights,
                  const Tensor &input, const DebugContext &debugContext,
                  const OptionFlags &options) {
  checkCall(graph, params, options);
  checkOperands(params, input, weights);
  std::vector<Tensor> operands{input, fwdIntermediates, bwdIntermediates};
  const auto attributes = attributesOf(params, {}, operands);
  const auto results = internal::gruWeightGrad(
      graph, attributes, operands, prog, {debugContext, "gruWU"}, options);
  return {results[0], results[1], results[2]};
}

Tensor backwardWithUpdate(Graph &graph, const GruParams &params, Sequence &prog,
                          const Tensor &fwdIntermediates,
                          const GruWeights &weights, const Tensor &input,
                          const Extras &extras, const Tensor &outputGrad,
                          Wanted wanted, GruWeights &weightsGrad,
                          const DebugContext &debugContext,
                          const OptionFlags &options) {
  Tensor bwdIntermediates;
  wanted.intermediates = &bwdIntermediates;
  const auto state =
      backward(graph, params, prog, fwdIntermediates, weights, input, extras,
               outputGrad, wanted, debugContext, options);
  weightsGrad = update(graph, params, prog, fwdIntermediates, bwdIntermediates,
                       weights, input, debugContext, options);
  return state;
}

} // namespace

Tensor gruFwd(Graph &graph, const GruParams &params, const Tensor &stateInit,
              const Tensor &in, const GruWeights &weights,
              Tensor *intermediates, Sequence &fwdProg,
              const DebugContext &debugContext, const OptionFlags &options,
              poplin::PlanningCache *) {
  return forward(graph, params, stateInit, in, extrasOf(params, {}, {}),
                 weights, intermediates, fwdProg, debugContext, options);
}

Tensor gruFwd(Graph &graph, const GruParams &params, const Tensor &stateInit,
              const Tensor &in, const Tensor &realTimeSteps,
              const GruWeights &weights, Tensor *intermediates,
              Sequence &fwdProg, const DebugContext &debugContext,
              const OptionFlags &options, poplin::PlanningCache *) {
  return forward(graph, params, stateInit, in,
                 extrasOf(params, realTimeSteps, {}), weights, intermediates,
                 fwdProg, debugContext, options);
}

Tensor auGruFwd(Graph &graph, const GruParams &params, const Tensor &stateInit,
                const Tensor &in, const GruWeights &weights,
                Tensor *intermediates, const Tensor &att, Sequence &fwdProg,
                const DebugContext &debugContext, const OptionFlags &options,
                poplin::PlanningCache *) {
  return forward(graph, params, stateInit, in, extrasOf(params, {}, att),
                 weights, intermediates, fwdProg, debugContext, options);
}

Tensor auGruFwd(Graph &graph, const GruParams &params, const Tensor &stateInit,
                const Tensor &in, const Tensor &realTimeSteps,
                const GruWeights &weights, Tensor *intermediates,
                const Tensor &att, Sequence &fwdProg,
                const DebugContext &debugContext, const OptionFlags &options,
                poplin::PlanningCache *) {
  return forward(graph, params, stateInit, in,
                 extrasOf(params, realTimeSteps, att), weights, intermediates,
                 fwdProg, debugContext, options);
}

Tensor gruBwd(Graph &graph, const GruParams &params, Sequence &prog,
              const Tensor &, const Tensor &fwdIntermediates,
              const GruWeights &weights, const Tensor &input, const Tensor &,
              const Tensor &outputGrad, Tensor *inputGrad,
              Tensor *bwdIntermediates, const DebugContext &debugContext,
              const OptionFlags &options, poplin::PlanningCache *) {
  return backward(graph, params, prog, fwdIntermediates, weights, input,
                  extrasOf(params, {}, {}), outputGrad,
                  {inputGrad, bwdIntermediates, nullptr}, debugContext,
                  options);
}

Tensor gruBwd(Graph &graph, const GruParams &params, Sequence &prog,
              const Tensor &, const Tensor &fwdIntermediates,
              const GruWeights &weights, const Tensor &input,
              const Tensor &realTimeSteps, const Tensor &,
              const Tensor &outputGrad, Tensor *inputGrad,
              Tensor *bwdIntermediates, const DebugContext &debugContext,
              const OptionFlags &options, poplin::PlanningCache *) {
  return backward(graph, params, prog, fwdIntermediates, weights, input,
                  extrasOf(params, realTimeSteps, {}), outputGrad,
                  {inputGrad, bwdIntermediates, nullptr}, debugContext,
                  options);
}

Tensor auGruBwd(Graph &graph, const GruParams &params, Sequence &prog,
                const Tensor &, const Tensor &fwdIntermediates,
                const GruWeights &weights, const Tensor &input, const Tensor &,
                const Tensor &outputGrad, Tensor *inputGrad,
                Tensor *bwdIntermediates, const Tensor &attentions,
                Tensor *attentionsGrad, const DebugContext &debugContext,
                const OptionFlags &options, poplin::PlanningCache *) {
  return backward(graph, params, prog, fwdIntermediates, weights, input,
                  extrasOf(params, {}, attentions), outputGrad,
                  {inputGrad, bwdIntermediates, attentionsGrad}, debugContext,
                  options);
}

Tensor auGruBwd(Graph &graph, const GruParams &params, Sequence &prog,
                const Tensor &, const Tensor &fwdIntermediates,
                const GruWeights &weights, const Tensor &input,
                const Tensor &realTimeSteps, const Tensor &,
                const Tensor &outputGrad, Tensor *inputGrad,
                Tensor *bwdIntermediates, const Tensor &attentions,
                Tensor *attentionsGrad, const DebugContext &debugContext,
                const OptionFlags &options, poplin::PlanningCache *) {
  return backward(graph, params, prog, fwdIntermediates, weights, input,
                  extrasOf(params, realTimeSteps, attentions), outputGrad,
                  {inputGrad, bwdIntermediates, attentionsGrad}, debugContext,
                  options);
}

GruWeights gruWU(Graph &graph, const GruParams &params, Sequence &prog,
                 const Tensor &, const Tensor &fwdIntermediates,
                 const Tensor &bwdIntermediates, const GruWeights &weights,
                 const Tensor &input, const Tensor &,
                 const DebugContext &debugContext, const OptionFlags &options,
                 poplin::PlanningCache *) {
  return update(graph, params, prog, fwdIntermediates, bwdIntermediates,
                weights, input, debugContext, options);
}

GruWeights auGruWU(Graph &graph, const GruParams &params, Sequence &prog,
                   const Tensor &, const Tensor &fwdIntermediates,
                   const Tensor &bwdIntermediates, const GruWeights &weights,
                   const Tensor &input, const Tensor &,
                   const DebugContext &debugContext, const OptionFlags &options,
                   poplin::PlanningCache *) {
  return update(graph, params, prog, fwdIntermediates, bwdIntermediates,
                weights, input, debugContext, options);
}

Tensor gruBwdWithWU(Graph &graph, const GruParams &params, Sequence &prog,
                    const Tensor &, const Tensor &fwdIntermediates,
                    const GruWeights &weights, const Tensor &input,
                    const Tensor &, const Tensor &outputGrad, Tensor *inputGrad,
                    GruWeights &weightsGrad, const DebugContext &debugContext,
                    const OptionFlags &options, poplin::PlanningCache *) {
  return backwardWithUpdate(graph, params, prog, fwdIntermediates, weights,
                            input, extrasOf(params, {}, {}), outputGrad,
                            {inputGrad, nullptr, nullptr}, weightsGrad,
                            debugContext, options);
}

Tensor gruBwdWithWU(Graph &graph, const GruParams &params, Sequence &prog,
                    const Tensor &, const Tensor &fwdIntermediates,
                    const GruWeights &weights, const Tensor &input,
                    const Tensor &realTimeSteps, const Tensor &,
                    const Tensor &outputGrad, Tensor *inputGrad,
                    GruWeights &weightsGrad, const DebugContext &debugContext,
                    const OptionFlags &options, poplin::PlanningCache *) {
  return backwardWithUpdate(graph, params, prog, fwdIntermediates, weights,
                            input, extrasOf(params, realTimeSteps, {}),
                            outputGrad, {inputGrad, nullptr, nullptr},
                            weightsGrad, debugContext, options);
}

Tensor auGruBwdWithWU(Graph &graph, const GruParams &params, Sequence &prog,
                      const Tensor &, const Tensor &fwdIntermediates,
                      const GruWeights &weights, const Tensor &input,
                      const Tensor &, const Tensor &outputGrad,
                      Tensor *inputGrad, GruWeights &weightsGrad,
                      const Tensor &attentions, Tensor *attentionsGrad,
                      const DebugContext &debugContext,
                      const OptionFlags &options, poplin::PlanningCache *) {
  return backwardWithUpdate(graph, params, prog, fwdIntermediates, weights,
                            input, extrasOf(params, {}, attentions), outputGrad,
                            {inputGrad, nullptr, attentionsGrad}, weightsGrad,
                            debugContext, options);
}

Tensor auGruBwdWithWU(Graph &graph, const GruParams &params, Sequence &prog,
                      const Tensor &, const Tensor &fwdIntermediates,
                      const GruWeights &weights, const Tensor &input,
                      const Tensor &realTimeSteps, const Tensor &,
                      const Tensor &outputGrad, Tensor *inputGrad,
                      GruWeights &weightsGrad, const Tensor &attentions,
                      Tensor *attentionsGrad, const DebugContext &debugContext,
                      const OptionFlags &options, poplin::PlanningCache *) {
  return backwardWithUpdate(graph, params, prog, fwdIntermediates, weights,
                            input, extrasOf(params, realTimeSteps, attentions),
                            outputGrad, {inputGrad, nullptr, attentionsGrad},
                            weightsGrad, debugContext, options);
}

} // namespace gru
} // namespace popnn
