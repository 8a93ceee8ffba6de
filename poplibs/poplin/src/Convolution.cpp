// Convolutions forward: operands, results, and what is emitted for them.
#include <poplin/Convolution.hpp>

#include "ConvForm.hpp"
#include "ConvOperands.hpp"

#include <poplin/internal/ConvPhases.hpp>
#include <poplin/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>
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
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

using Shape = std::vector<std::size_t>;

Shape withField(Shape shape, const Shape &field) {
  shape.insert(shape.end(), field.begin(), field.end());
  return shape;
}

Tensor create(Graph &graph, const ConvParams &params, const poplar::Type &type,
              const Shape &shape, const DebugContext &debugContext,
              const OptionFlags &flags, PlanningCache *cache) {
  params.validate();
  const auto options = internal::parseConvOptions(flags);
  const auto tensor = graph.addVariable(type, shape, debugContext);
  internal::usePlanningCache(graph, cache);
  internal::mapOperand(graph, tensor, internal::convProblem(params, options),
                       options, false);
  return tensor;
}

} // namespace

namespace internal {

Shape convInputShape(const ConvParams &params) {
  return withField({params.batchSize, params.getNumInputChans()},
                   params.inputFieldShape);
}

Shape convWeightsShape(const ConvParams &params) {
  return withField({params.numConvGroups, params.outputChannelsPerConvGroup,
                    params.inputChannelsPerConvGroup},
                   params.kernelShape);
}

Shape convOutputShape(const ConvParams &params) {
  return withField({params.batchSize, params.getNumOutputChans()},
                   params.getOutputFieldShape());
}

void checkConvOperand(const char *function, const char *operand,
                      const Tensor &tensor, const Shape &shape,
                      const poplar::Type &type) {
  requireUser<poplibs_error>(
      tensor.shape() == shape,
      "[poplin::{}] '{}' has shape {}; the parameters ask for {}", function,
      operand, tensor.shapeToString(),
      support::toString(support::Shape(shape.begin(), shape.end())));
  requireUser<poplibs_error>(
      tensor.elementType() == type,
      "[poplin::{}] '{}' has type {}; the parameters ask for {}", function,
      operand, tensor.elementType().toString().cloneAsString(),
      type.toString().cloneAsString());
}

void setOutputType(kernels::Attributes &attributes, const poplar::Type &input,
                   const poplar::Type &output) {
  if (input != output) {
    attributes.set("outType", static_cast<std::int64_t>(
                                  poplar::internal::toDataType(output)));
  }
}

} // namespace internal

Tensor createWeights(Graph &graph, const ConvParams &params,
                     const DebugContext &debugContext,
                     const OptionFlags &options, PlanningCache *cache) {
  return create(graph, params, params.inputType,
                internal::convWeightsShape(params), debugContext, options,
                cache);
}

Tensor createInput(Graph &graph, const ConvParams &params,
                   const DebugContext &debugContext, const OptionFlags &options,
                   PlanningCache *cache) {
  return create(graph, params, params.inputType,
                internal::convInputShape(params), debugContext, options, cache);
}

Tensor createConvOutput(Graph &graph, const ConvParams &params,
                        const DebugContext &debugContext,
                        const OptionFlags &options, PlanningCache *cache) {
  params.validate(); // before the shape is computed
  return create(graph, params, params.outputType,
                internal::convOutputShape(params), debugContext, options,
                cache);
}

Tensor createBiases(Graph &graph, const Tensor &activations,
                    const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      activations.rank() >= 2,
      "[poplin::createBiases] the activations have shape {}; they need a batch "
      "and a channel dimension",
      activations.shapeToString());
  return poputil::createBroadcastOperand(
      graph, activations, activations.elementType(), 1, false, debugContext);
}

Tensor createBiases(Graph &graph, const Tensor &activations,
                    const ConvParams &params, const DebugContext &debugContext,
                    const OptionFlags &options, PlanningCache *) {
  params.validate();
  internal::parseConvOptions(options);
  return createBiases(graph, activations, debugContext);
}

Tensor convolution(Graph &graph, const Tensor &in, const Tensor &weights,
                   const ConvParams &params, bool transposeAndFlipWeights,
                   Sequence &prog, const DebugContext &debugContext,
                   const OptionFlags &options, PlanningCache *cache) {
  constexpr auto function = "convolution";
  internal::usePlanningCache(graph, cache);
  poputil::internal::requireCodelets(graph, "poplin", "poplin::ConvPartialnx1");
  params.validate();
  internal::parseConvOptions(options);
  auto weightsShape = internal::convWeightsShape(params);
  if (transposeAndFlipWeights) {
    std::swap(weightsShape[1], weightsShape[2]);
  }
  internal::checkConvOperand(function, "input", in,
                             internal::convInputShape(params),
                             params.inputType);
  internal::checkConvOperand(function, "weights", weights, weightsShape,
                             params.inputType);

  const ConvForm form(params, transposeAndFlipWeights);
  const ConvTensors tensors{graph, form, prog, debugContext};
  if (form.isZero) {
    return tensors.zeros(params.outputType, internal::convOutputShape(params),
                         in);
  }
  auto attributes =
      form.isGradient ? gradientAttributes(form) : forwardAttributes(form);
  internal::setOutputType(attributes, params.inputType, params.outputType);
  if (!form.isGradient) {
    attributes.set("bias", std::int64_t{0});
    attributes.set("activation", std::string());
  }
  auto *const kind =
      form.isGradient ? internal::convolutionDataGrad : internal::convolution;
  const auto out =
      kind(graph, attributes, {tensors.input(in), tensors.kernel(weights)},
           prog, debugContext, options);
  return tensors.withPadding(out.front());
}

void convolutionWithOutput(Graph &graph, const Tensor &in,
                           const Tensor &weights, const Tensor &out,
                           const ConvParams &params,
                           bool transposeAndFlipWeights, Sequence &prog,
                           const DebugContext &debugContext,
                           const OptionFlags &options, PlanningCache *cache) {
  params.validate();
  internal::checkConvOperand("convolutionWithOutput", "output", out,
                             internal::convOutputShape(params),
                             params.outputType);
  const auto result =
      convolution(graph, in, weights, params, transposeAndFlipWeights, prog,
                  debugContext, options, cache);
  prog.add(poplar::program::Copy(result, out, false, debugContext));
}

void addBias(Graph &graph, const Tensor &in, const Tensor &biases,
             Sequence &prog, const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      in.rank() >= 2 && biases.rank() == 1 && biases.dim(0) == in.dim(1),
      "[poplin::addBias] the biases have shape {}; a tensor of shape {} needs "
      "one for each channel",
      biases.shapeToString(), in.shapeToString());
  Shape shape(in.rank() - 1, 1);
  shape[0] = biases.dim(0);
  popops::addInPlace(graph, in, biases.reshape(shape), prog,
                     {debugContext, "AddBias"});
}

} // namespace poplin
