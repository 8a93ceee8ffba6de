#include <poplin/Convolution.hpp>

#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/Kinds.hpp>

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poplin {

using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

using Ints = Attributes::Ints;
using Shape = std::vector<std::size_t>;

bool areAll(const std::vector<unsigned> &values, unsigned value) {
  return std::all_of(values.begin(), values.end(),
                     [value](unsigned each) { return each == value; });
}

// Whether the kinds can express it: fields of one or two dimensions, padding,
// dilation and stride.
void checkSupported(const ConvParams &params) {
  params.validate();
  const auto &in = params.inputTransform;
  const auto &kernel = params.kernelTransform;
  const auto &out = params.outputTransform;
  const auto dims = params.getNumFieldDims();
  requireUser<poplibs_error>(
      dims == 1 || dims == 2,
      "[poplin::convolution] the field has {} dimensions; 1 or 2 are "
      "implemented",
      dims);
  requireUser<poplibs_error>(
      areAll(in.truncationLower, 0) && areAll(in.truncationUpper, 0) &&
          areAll(kernel.truncationLower, 0) &&
          areAll(kernel.truncationUpper, 0) && areAll(kernel.paddingLower, 0) &&
          areAll(kernel.paddingUpper, 0) && areAll(out.paddingLower, 0) &&
          areAll(out.paddingUpper, 0) &&
          std::none_of(in.flip.begin(), in.flip.end(),
                       [](bool flip) { return flip; }) &&
          std::none_of(kernel.flip.begin(), kernel.flip.end(),
                       [](bool flip) { return flip; }),
      "[poplin::convolution] truncated or flipped operands, padded kernels and "
      "padded outputs are not implemented; slice, reverse or concatenate the "
      "tensors instead");
}

// One number per dimension of a two-dimensional field; a missing one is `fill`.
template <typename T>
Ints twoDims(const std::vector<T> &values, std::int64_t fill) {
  Ints result(values.begin(), values.end());
  result.insert(result.begin(), 2 - result.size(), fill);
  return result;
}

// [.., field] as [.., rows, columns].
Tensor asTwoDims(const Tensor &tensor, unsigned fieldDims) {
  return fieldDims == 2 ? tensor : tensor.expand({tensor.rank() - 1u});
}

Tensor withField(const Tensor &tensor, unsigned fieldDims) {
  return fieldDims == 2 ? tensor : tensor.squeeze({tensor.rank() - 2u});
}

Attributes commonAttributes(const ConvParams &params) {
  return {{"strides", twoDims(params.outputTransform.stride, 1)},
          {"padLower", twoDims(params.inputTransform.paddingLower, 0)},
          {"padUpper", twoDims(params.inputTransform.paddingUpper, 0)},
          {"dilations", twoDims(params.kernelTransform.dilation, 1)},
          {"groups", static_cast<std::int64_t>(params.numConvGroups)}};
}

void checkOperands(const Graph &graph, const ConvParams &params) {
  checkSupported(params);
  poputil::internal::requireCodelets(graph, "poplin", "poplin::ConvPartialnx1");
}

// Inputs with zeros between them: the gradient of a strided convolution, which
// has the forward weights.
Tensor gradientConvolution(Graph &graph, const Tensor &in,
                           const Tensor &weights, const ConvParams &params,
                           Sequence &prog, const DebugContext &debugContext,
                           const OptionFlags &options) {
  const auto fieldDims = static_cast<unsigned>(params.getNumFieldDims());
  Ints strides = twoDims(params.inputTransform.dilation, 1);
  Ints padLower{0, 0};
  Ints padUpper{0, 0};
  const auto field = params.getOutputFieldShape();
  for (unsigned dim = 0; dim < fieldDims; ++dim) {
    const auto at = dim + 2 - fieldDims;
    const auto kernel =
        static_cast<std::int64_t>(params.getTransformedKernelSize(dim));
    const auto &transform = params.inputTransform;
    const auto &cut = params.outputTransform;
    padLower[at] =
        kernel - 1 - transform.paddingLower[dim] + cut.truncationLower[dim];
    // What makes the forward convolution give exactly these inputs.
    const auto reach = std::int64_t{transform.dilation[dim]} *
                           static_cast<std::int64_t>(in.dim(2 + dim) - 1) +
                       kernel;
    padUpper[at] = std::max<std::int64_t>(
        0, reach - padLower[at] - static_cast<std::int64_t>(field[dim]));
  }
  Ints inputShape{static_cast<std::int64_t>(params.batchSize),
                  static_cast<std::int64_t>(params.getNumOutputChans())};
  for (const auto extent : twoDims(field, 1)) {
    inputShape.push_back(extent);
  }
  const Attributes attributes{
      {"strides", strides},
      {"padLower", padLower},
      {"padUpper", padUpper},
      {"dilations", twoDims(params.kernelTransform.dilation, 1)},
      {"groups", static_cast<std::int64_t>(params.numConvGroups)},
      {"inputShape", inputShape}};
  return internal::convolutionDataGrad(
             graph, attributes,
             {asTwoDims(in, fieldDims),
              asTwoDims(weights.flatten(0, 2), fieldDims)},
             prog, debugContext, options)
      .front();
}

} // namespace

Tensor createWeights(Graph &graph, const ConvParams &params,
                     const DebugContext &debugContext,
                     const OptionFlags &options, PlanningCache *) {
  checkSupported(params);
  internal::parseConvOptions(options); // rejects unknown ones
  Shape shape{params.numConvGroups, params.outputChannelsPerConvGroup,
              params.inputChannelsPerConvGroup};
  shape.insert(shape.end(), params.kernelShape.begin(),
               params.kernelShape.end());
  const auto weights = graph.addVariable(params.inputType, shape, debugContext);
  poputil::mapTensorLinearly(graph, weights);
  return weights;
}

Tensor createInput(Graph &graph, const ConvParams &params,
                   const DebugContext &debugContext, const OptionFlags &options,
                   PlanningCache *) {
  checkSupported(params);
  internal::parseConvOptions(options);
  Shape shape{params.batchSize, params.getNumInputChans()};
  shape.insert(shape.end(), params.inputFieldShape.begin(),
               params.inputFieldShape.end());
  const auto input = graph.addVariable(params.inputType, shape, debugContext);
  poputil::mapTensorLinearly(graph, input);
  return input;
}

Tensor createBiases(Graph &graph, const Tensor &activations,
                    const DebugContext &debugContext) {
  const auto biases = graph.addVariable(activations.elementType(),
                                        {activations.dim(1)}, debugContext);
  poputil::mapTensorLinearly(graph, biases);
  return biases;
}

Tensor convolution(Graph &graph, const Tensor &in, const Tensor &weights,
                   const ConvParams &params, bool transposeAndFlipWeights,
                   Sequence &prog, const DebugContext &debugContext,
                   const OptionFlags &options, PlanningCache *) {
  checkOperands(graph, params);
  const auto fieldDims = static_cast<unsigned>(params.getNumFieldDims());
  Tensor out;
  if (transposeAndFlipWeights) {
    requireUser<poplibs_error>(
        areAll(params.outputTransform.stride, 1),
        "[poplin::convolution] a stride together with transposed weights is "
        "not implemented");
    out = gradientConvolution(graph, in, weights, params, prog, debugContext,
                              options);
  } else {
    requireUser<poplibs_error>(
        areAll(params.inputTransform.dilation, 1) &&
            areAll(params.outputTransform.truncationLower, 0) &&
            areAll(params.outputTransform.truncationUpper, 0),
        "[poplin::convolution] dilated inputs and truncated outputs are only "
        "implemented with transposed weights");
    auto attributes = commonAttributes(params);
    attributes.set("bias", std::int64_t{0});
    attributes.set("activation", std::string());
    out = internal::convolution(graph, attributes,
                                {asTwoDims(in, fieldDims),
                                 asTwoDims(weights.flatten(0, 2), fieldDims)},
                                prog, debugContext, options)
              .front();
  }
  out = withField(out, fieldDims);
  return out.elementType() == params.outputType
             ? out
             : popops::cast(graph, out, params.outputType, prog, debugContext);
}

void convolutionWithOutput(Graph &graph, const Tensor &in,
                           const Tensor &weights, const Tensor &out,
                           const ConvParams &params,
                           bool transposeAndFlipWeights, Sequence &prog,
                           const DebugContext &debugContext,
                           const OptionFlags &options, PlanningCache *cache) {
  const auto result =
      convolution(graph, in, weights, params, transposeAndFlipWeights, prog,
                  debugContext, options, cache);
  prog.add(poplar::program::Copy(result, out, false, debugContext));
}

Tensor calculateWeightDeltas(Graph &graph, const Tensor &zDeltas,
                             const Tensor &activations,
                             const ConvParams &params, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *) {
  checkOperands(graph, params);
  const auto fieldDims = static_cast<unsigned>(params.getNumFieldDims());
  auto attributes = commonAttributes(params);
  attributes.set("kernelShape", twoDims(params.kernelShape, 1));
  const auto deltas = withField(
      internal::convolutionWeightGrad(
          graph, attributes,
          {asTwoDims(zDeltas, fieldDims), asTwoDims(activations, fieldDims)},
          prog, debugContext, options)
          .front(),
      fieldDims);
  return deltas.reshapePartial(
      0, 1, {params.numConvGroups, params.outputChannelsPerConvGroup});
}

void convolutionWeightUpdate(Graph &graph, const Tensor &zDeltas,
                             const Tensor &weights, const Tensor &activations,
                             ConvParams params, float scale, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  const auto deltas = calculateWeightDeltas(graph, zDeltas, activations, params,
                                            prog, debugContext, options, cache);
  popops::scaledAddTo(graph, weights, deltas, scale, prog,
                      {debugContext, "UpdateWeights"});
}

void convolutionBiasUpdate(Graph &graph, const Tensor &zDeltas,
                           const Tensor &biases, float scale,
                           const OptionFlags &options, Sequence &prog,
                           const DebugContext &debugContext) {
  internal::parseConvOptions(options);
  Shape dims{0};
  for (unsigned dim = 2; dim < zDeltas.rank(); ++dim) {
    dims.push_back(dim);
  }
  const auto deltas =
      popops::reduce(graph, zDeltas, dims, popops::Operation::ADD, prog,
                     {debugContext, "BiasUpdate"});
  popops::scaledAddTo(graph, biases, deltas, scale, prog,
                      {debugContext, "BiasUpdate"});
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
