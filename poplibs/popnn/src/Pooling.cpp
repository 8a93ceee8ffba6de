#include <popnn/Pooling.hpp>

#include "Options.hpp"

#include <popnn/internal/Kinds.hpp>

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace popnn {
namespace pooling {

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

template <typename T> Ints toInts(const std::vector<T> &values) {
  return Ints(values.begin(), values.end());
}

const char *nameOf(PoolingType type) {
  switch (type) {
  case PoolingType::MAX:
    return "MAX";
  case PoolingType::AVG:
    return "AVG";
  case PoolingType::SUM:
    return "SUM";
  }
  throw poplibs_error("[popnn::pooling] unknown type of pooling");
}

void checkCall(const Graph &graph, const PoolParams &params,
               const OptionFlags &options) {
  using internal::OptionKind;
  internal::Options(options, {{"poolUseIntrospectiveMapping", OptionKind::Bool},
                              {"optimizeForSpeed", OptionKind::Bool}});
  const auto dims = params.getNumFieldDims();
  requireUser<poplibs_error>(
      dims > 0 && params.kernelShape.size() == dims &&
          params.stride.size() == dims &&
          params.inputTruncationOrPaddingLower.size() == dims &&
          params.inputTruncationOrPaddingUpper.size() == dims,
      "[popnn::pooling] mismatch of dimensions: the field has {}, the kernel "
      "{}, the stride {}, the paddings {} and {}",
      dims, params.kernelShape.size(), params.stride.size(),
      params.inputTruncationOrPaddingLower.size(),
      params.inputTruncationOrPaddingUpper.size());
  poputil::internal::requireCodelets(graph, "popnn", "popnn::MaxPooling");
}

std::vector<std::size_t> tensorShape(const PoolParams &params,
                                     const std::vector<std::size_t> &field) {
  std::vector<std::size_t> shape{params.batchSize, params.numChannels};
  shape.insert(shape.end(), field.begin(), field.end());
  return shape;
}

void requireShape(const char *name, const Tensor &tensor,
                  const std::vector<std::size_t> &shape) {
  requireUser<poplibs_error>(
      tensor.shape() == shape,
      "[popnn::pooling] the {} has shape {}; the parameters say {}", name,
      tensor.shapeToString(), support::toString(toInts(shape)));
}

Attributes attributesOf(const PoolParams &params) {
  return {{"poolingType", std::string(nameOf(params.poolingType))},
          {"kernel", toInts(params.kernelShape)},
          {"strides", toInts(params.stride)},
          {"padLower", toInts(params.inputTruncationOrPaddingLower)},
          {"padUpper", toInts(params.inputTruncationOrPaddingUpper)}};
}

Attributes gradientAttributes(const PoolParams &params, bool isScaled) {
  auto attributes = attributesOf(params);
  attributes.set("inputShape",
                 toInts(tensorShape(params, params.inputFieldShape)));
  attributes.set("scaled", std::int64_t{isScaled});
  return attributes;
}

} // namespace

PoolParams::PoolParams(PoolingType poolingType,
                       std::vector<std::size_t> inputFieldShape,
                       std::vector<std::size_t> kernelShape,
                       std::vector<unsigned> stride,
                       std::vector<int> inputTruncationOrPaddingLower,
                       std::vector<int> inputTruncationOrPaddingUpper,
                       std::size_t numChannels, std::size_t batchSize,
                       poplar::Type dType)
    : poolingType(poolingType), inputFieldShape(std::move(inputFieldShape)),
      kernelShape(std::move(kernelShape)), stride(std::move(stride)),
      inputTruncationOrPaddingLower(std::move(inputTruncationOrPaddingLower)),
      inputTruncationOrPaddingUpper(std::move(inputTruncationOrPaddingUpper)),
      numChannels(numChannels), batchSize(batchSize), dType(dType) {}

std::vector<std::size_t> PoolParams::getOutputFieldShape() const {
  std::vector<std::size_t> shape;
  for (std::size_t dim = 0; dim < inputFieldShape.size(); ++dim) {
    const auto size = static_cast<std::int64_t>(inputFieldShape[dim]) +
                      inputTruncationOrPaddingLower[dim] +
                      inputTruncationOrPaddingUpper[dim];
    const auto positions = size - static_cast<std::int64_t>(kernelShape[dim]);
    requireUser<poplibs_error>(
        positions >= 0,
        "[popnn::pooling] the kernel has {} elements in dimension {}; the "
        "padded input has only {}",
        kernelShape[dim], dim, size);
    shape.push_back(static_cast<std::size_t>(positions) / stride[dim] + 1);
  }
  return shape;
}

Tensor pool(Graph &graph, const PoolParams &params, const Tensor &in,
            Sequence &prog, const DebugContext &debugContext,
            const OptionFlags &options) {
  checkCall(graph, params, options);
  params.getOutputFieldShape(); // checks that the kernel fits
  requireShape("input", in, tensorShape(params, params.inputFieldShape));
  return internal::pool(graph, attributesOf(params), {in}, prog, debugContext,
                        {})
      .front();
}

Tensor poolInputGradient(Graph &graph, const PoolParams &params,
                         const Tensor &in, const Tensor &pooled,
                         const Tensor &pooledGradient, bool useScaledGradient,
                         Sequence &prog, const DebugContext &debugContext,
                         const OptionFlags &options) {
  checkCall(graph, params, options);
  const auto output = tensorShape(params, params.getOutputFieldShape());
  requireShape("pooled gradient", pooledGradient, output);
  std::vector<Tensor> inputs{pooledGradient};
  if (params.poolingType == PoolingType::MAX) {
    requireShape("input", in, tensorShape(params, params.inputFieldShape));
    requireShape("pooled tensor", pooled, output);
    inputs.push_back(in);
    inputs.push_back(pooled);
  }
  return internal::poolGrad(graph,
                            gradientAttributes(params, useScaledGradient),
                            inputs, prog, debugContext, {})
      .front();
}

Tensor poolInputGradient(Graph &graph, const PoolParams &params, unsigned,
                         const Tensor &pooledGradient, Sequence &prog,
                         const DebugContext &debugContext,
                         const OptionFlags &options) {
  requireUser<poplibs_error>(
      params.poolingType != PoolingType::MAX,
      "[popnn::pooling] the gradient of maximum pooling needs the input and "
      "the pooled tensor; use the form that takes them");
  return poolInputGradient(graph, params, {}, {}, pooledGradient, false, prog,
                           debugContext, options);
}

} // namespace pooling
} // namespace popnn
