#include <popnn/Pooling.hpp>

#include <popnn/internal/Kinds.hpp>

#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <algorithm>

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

void checkCall(const Graph &graph, const PoolParams &params,
               const OptionFlags &options) {
  for (const auto &option : options) {
    requireUser<poplar::invalid_option>(
        option.first == "poolUseIntrospectiveMapping" ||
            option.first == "optimizeForSpeed",
        "Unrecognised option '{}'", option.first);
  }
  requireUser<poplibs_error>(
      params.poolingType == PoolingType::MAX && params.getNumFieldDims() == 2,
      "[popnn::pooling] only maximum pooling over two field dimensions is "
      "implemented; {} dimensions were given",
      params.getNumFieldDims());
  poputil::internal::requireCodelets(graph, "popnn", "popnn::MaxPooling");
}

// Negative paddings truncate; the kinds pad only.
Tensor truncated(Tensor in, const PoolParams &params) {
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    const auto lower = std::min(params.inputTruncationOrPaddingLower[dim], 0);
    const auto upper = std::min(params.inputTruncationOrPaddingUpper[dim], 0);
    in = in.slice(static_cast<std::size_t>(-lower),
                  in.dim(2 + dim) - static_cast<std::size_t>(-upper), 2 + dim);
  }
  return in;
}

Attributes attributesOf(const PoolParams &params) {
  const auto padding = [](const std::vector<int> &values) {
    Ints result;
    for (const auto value : values) {
      result.push_back(std::max(value, 0));
    }
    return result;
  };
  return {{"kernel", toInts(params.kernelShape)},
          {"strides", toInts(params.stride)},
          {"padLower", padding(params.inputTruncationOrPaddingLower)},
          {"padUpper", padding(params.inputTruncationOrPaddingUpper)},
          {"activation", std::string()}};
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
  return internal::maxPool(graph, attributesOf(params), {truncated(in, params)},
                           prog, debugContext, {})
      .front();
}

Tensor poolInputGradient(Graph &graph, const PoolParams &params,
                         const Tensor &in, const Tensor &,
                         const Tensor &pooledGradient, bool, Sequence &prog,
                         const DebugContext &debugContext,
                         const OptionFlags &options) {
  checkCall(graph, params, options);
  const auto used = truncated(in, params);
  requireUser<poplibs_error>(
      used.shape() == in.shape(),
      "[popnn::pooling] the gradient of a truncated input is not implemented");
  auto attributes = attributesOf(params);
  const auto indices = internal::maxPool(graph, attributes, {in}, prog,
                                         {debugContext, "Positions"}, {})
                           .at(1);
  attributes.set("inputShape", toInts(in.shape()));
  return internal::maxPoolGrad(graph, attributes, {pooledGradient, indices},
                               prog, debugContext, {})
      .front();
}

} // namespace pooling
} // namespace popnn
