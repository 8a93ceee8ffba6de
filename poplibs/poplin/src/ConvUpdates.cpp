// Gradients of weights and biases, updates by them, and weights as the backward
// pass wants them.
#include <poplin/Convolution.hpp>

#include "ConvForm.hpp"
#include "ConvOperands.hpp"

#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/Kinds.hpp>

#include <popops/Cast.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace poplin {

using internal::ConvForm;
using internal::ConvTensors;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

template <typename Scale>
void updateWeights(Graph &graph, const Tensor &zDeltas, const Tensor &weights,
                   const Tensor &activations, const ConvParams &params,
                   const Scale &scale, Sequence &prog,
                   const DebugContext &debugContext, const OptionFlags &options,
                   PlanningCache *cache) {
  params.validate();
  internal::checkConvOperand("convolutionWeightUpdate", "weights", weights,
                             internal::convWeightsShape(params),
                             params.inputType);
  const auto deltas = calculateWeightDeltas(graph, zDeltas, activations, params,
                                            prog, debugContext, options, cache);
  popops::scaledAddTo(graph, weights, deltas, scale, prog,
                      {debugContext, "UpdateWeights"});
}

template <typename Scale>
void updateBiases(Graph &graph, const Tensor &zDeltas, const Tensor &biases,
                  const Scale &scale, const OptionFlags &options,
                  Sequence &prog, const DebugContext &debugContext) {
  internal::parseConvOptions(options); // rejects unknown ones
  requireUser<poplibs_error>(
      zDeltas.rank() >= 2 && biases.rank() == 1 &&
          biases.dim(0) == zDeltas.dim(1),
      "[poplin::convolutionBiasUpdate] the biases have shape {}; deltas of "
      "shape {} need one for each channel",
      biases.shapeToString(), zDeltas.shapeToString());
  std::vector<std::size_t> dims{0};
  for (unsigned dim = 2; dim < zDeltas.rank(); ++dim) {
    dims.push_back(dim);
  }
  const auto deltas = popops::reduce(graph, zDeltas, biases.elementType(), dims,
                                     popops::Operation::ADD, prog,
                                     {debugContext, "BiasUpdate"});
  popops::scaledAddTo(graph, biases, deltas, scale, prog,
                      {debugContext, "BiasUpdate"});
}

} // namespace

Tensor calculateWeightDeltas(Graph &graph, const Tensor &zDeltas,
                             const Tensor &activations,
                             const ConvParams &params, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  constexpr auto function = "calculateWeightDeltas";
  internal::usePlanningCache(graph, cache);
  poputil::internal::requireCodelets(graph, "poplin", "poplin::ConvPartialnx1");
  params.validate();
  internal::parseConvOptions(options);
  internal::checkConvOperand(function, "activations", activations,
                             internal::convInputShape(params),
                             params.inputType);
  internal::checkConvOperand(function, "deltas", zDeltas,
                             internal::convOutputShape(params),
                             zDeltas.elementType());
  const ConvForm form(params, false);
  const ConvTensors tensors{graph, form, prog, debugContext};
  if (form.isZero || params.batchSize == 0) {
    return tensors.zeros(params.inputType, internal::convWeightsShape(params),
                         activations);
  }
  auto attributes =
      form.isGradient ? gradientAttributes(form) : forwardAttributes(form);
  kernels::Attributes::Ints kernel;
  for (unsigned dim = 0; dim < form.params.getNumFieldDims(); ++dim) {
    kernel.push_back(
        static_cast<std::int64_t>(form.params.getTruncatedKernelSize(dim)));
  }
  attributes.set("kernelShape", kernel);
  auto deltas = tensors.withoutPadding(zDeltas);
  if (deltas.elementType() != params.inputType) {
    deltas = popops::cast(graph, deltas, params.inputType, prog,
                          {debugContext, "CastDeltas"});
  }
  // The gradient of a strided convolution has its input where that one has its
  // output.
  auto first = deltas;
  auto second = tensors.input(activations);
  if (form.isGradient) {
    std::swap(first, second);
  }
  return tensors.weights(internal::convolutionWeightGrad(graph, attributes,
                                                         {first, second}, prog,
                                                         debugContext, options)
                             .front());
}

void convolutionWeightUpdate(Graph &graph, const Tensor &zDeltas,
                             const Tensor &weights, const Tensor &activations,
                             ConvParams params, const Tensor &scale,
                             Sequence &prog, const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  updateWeights(graph, zDeltas, weights, activations, params, scale, prog,
                debugContext, options, cache);
}

void convolutionWeightUpdate(Graph &graph, const Tensor &zDeltas,
                             const Tensor &weights, const Tensor &activations,
                             ConvParams params, float scale, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  updateWeights(graph, zDeltas, weights, activations, params, scale, prog,
                debugContext, options, cache);
}

void convolutionBiasUpdate(Graph &graph, const Tensor &zDeltas,
                           const Tensor &biases, const Tensor &scale,
                           const OptionFlags &options, Sequence &prog,
                           const DebugContext &debugContext) {
  updateBiases(graph, zDeltas, biases, scale, options, prog, debugContext);
}

void convolutionBiasUpdate(Graph &graph, const Tensor &zDeltas,
                           const Tensor &biases, float scale,
                           const OptionFlags &options, Sequence &prog,
                           const DebugContext &debugContext) {
  updateBiases(graph, zDeltas, biases, scale, options, prog, debugContext);
}

void weightsTransposeChansFlipXY(Graph &, const Tensor &weightsIn,
                                 const Tensor &weightsOut, Sequence &prog,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options) {
  internal::parseConvOptions(options);
  requireUser<poplibs_error>(
      weightsIn.rank() >= 3,
      "[poplin::weightsTransposeChansFlipXY] the weights have shape {}; they "
      "need groups, output and input channels",
      weightsIn.shapeToString());
  auto turned = weightsIn.dimShufflePartial({1, 2}, {2, 1});
  for (unsigned dim = 3; dim < turned.rank(); ++dim) {
    turned = turned.reverse(dim);
  }
  internal::checkConvOperand("weightsTransposeChansFlipXY", "result",
                             weightsOut, turned.shape(), turned.elementType());
  prog.add(Copy(turned, weightsOut, false, debugContext));
}

Tensor fullyConnectedWeightTranspose(Graph &graph, Tensor weights,
                                     const ConvParams &params, Sequence &prog,
                                     const DebugContext &debugContext,
                                     const OptionFlags &options,
                                     PlanningCache *cache) {
  constexpr auto function = "fullyConnectedWeightTranspose";
  requireUser<poplibs_error>(
      params.getNumFieldDims() == 1,
      "[poplin::{}] the parameters have {} field dimensions; a fully connected "
      "layer has 1",
      function, params.getNumFieldDims());
  params.validate();
  const auto groups = params.numConvGroups;
  internal::checkConvOperand(function, "weights", weights,
                             {params.batchSize,
                              groups * params.inputFieldShape[0],
                              params.inputChannelsPerConvGroup},
                             params.inputType);
  const auto result =
      createInput(graph, params, {debugContext, "transposed"}, options, cache);
  prog.add(
      Copy(weights.reshapePartial(1, 2, {groups, params.inputFieldShape[0]})
               .dimShuffle({0, 1, 3, 2})
               .reshape(result.shape()),
           result, false, debugContext));
  return result;
}

} // namespace poplin
