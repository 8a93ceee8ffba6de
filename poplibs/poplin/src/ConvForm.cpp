#include "ConvForm.hpp"

#include <poplar/internal/Access.hpp>
#include <popops/Zero.hpp>
#include <poputil/internal/Tiles.hpp>

#include <algorithm>

namespace poplin::internal {

using kernels::Attributes;
using poplar::Tensor;

namespace {

using Ints = Attributes::Ints;
using Shape = std::vector<std::size_t>;

bool anyAbove(const std::vector<unsigned> &values, unsigned limit) {
  return std::any_of(values.begin(), values.end(),
                     [limit](unsigned value) { return value > limit; });
}

// Fields of fewer dimensions get rows of one element.
ConvParams withTwoDims(ConvParams params) {
  const auto missing = 2 - std::min<std::size_t>(2, params.getNumFieldDims());
  const auto extend = [missing](auto &values, auto value) {
    values.insert(values.begin(), missing, value);
  };
  extend(params.inputFieldShape, 1u);
  extend(params.kernelShape, 1u);
  for (auto *transform : {&params.inputTransform, &params.kernelTransform}) {
    extend(transform->truncationLower, 0u);
    extend(transform->truncationUpper, 0u);
    extend(transform->dilation, 1u);
    extend(transform->paddingLower, 0u);
    extend(transform->paddingUpper, 0u);
    extend(transform->flip, false);
  }
  auto &out = params.outputTransform;
  extend(out.truncationLower, 0u);
  extend(out.truncationUpper, 0u);
  extend(out.stride, 1u);
  extend(out.paddingLower, 0u);
  extend(out.paddingUpper, 0u);
  return params;
}

template <typename T> Ints asInts(const std::vector<T> &values) {
  return Ints(values.begin(), values.end());
}

bool givesZeros(const ConvForm &form) {
  const auto &params = form.params;
  if (params.inputChannelsPerConvGroup == 0) {
    return true;
  }
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    if (params.getTruncatedInputSize(dim) == 0 ||
        params.getTruncatedKernelSize(dim) == 0 || form.outputSize(dim) == 0) {
      return true;
    }
  }
  return false;
}

Tensor withTwoDims(const Tensor &tensor, unsigned fieldDims) {
  std::vector<std::size_t> at(2 - std::min(2u, fieldDims),
                              tensor.rank() - fieldDims);
  return at.empty() ? tensor : tensor.expand(at);
}

Tensor withField(const Tensor &tensor, unsigned fieldDims) {
  std::vector<std::size_t> dims;
  for (unsigned dim = fieldDims; dim < 2; ++dim) {
    dims.push_back(tensor.rank() - 2u + dim - fieldDims);
  }
  return dims.empty() ? tensor : tensor.squeeze(dims);
}

} // namespace

ConvForm::ConvForm(const ConvParams &original, bool turnsWeights)
    : params(withTwoDims(original.canonicalize())),
      fieldDims(static_cast<unsigned>(original.getNumFieldDims())),
      isZero(givesZeros(*this)), turnsWeights(turnsWeights),
      inputDilation(params.getNumFieldDims(), 1) {
  const bool isDilated = anyAbove(params.inputTransform.dilation, 1);
  const bool isStrided = anyAbove(params.outputTransform.stride, 1);
  isGradient = (isDilated || turnsWeights) && !isStrided;
  if (isDilated && isStrided) {
    inputDilation.swap(params.inputTransform.dilation);
  }
}

std::size_t ConvForm::outputSize(unsigned dim) const {
  const auto &out = params.outputTransform;
  return params.getOutputSize(dim) - out.paddingLower[dim] -
         out.paddingUpper[dim];
}

Attributes forwardAttributes(const ConvForm &form) {
  const auto &params = form.params;
  auto lower = params.inputTransform.paddingLower;
  auto upper = params.inputTransform.paddingUpper;
  for (std::size_t dim = 0; dim < lower.size(); ++dim) {
    if (params.inputTransform.flip[dim]) {
      std::swap(lower[dim], upper[dim]);
    }
  }
  return {{"strides", asInts(params.outputTransform.stride)},
          {"padLower", asInts(lower)},
          {"padUpper", asInts(upper)},
          {"dilations", asInts(params.kernelTransform.dilation)},
          {"groups", static_cast<std::int64_t>(params.numConvGroups)}};
}

Attributes gradientAttributes(const ConvForm &form) {
  const auto &params = form.params;
  const auto attributes = forwardAttributes(form);
  auto lower = attributes.getInts("padLower");
  Ints upper;
  Ints inputShape{static_cast<std::int64_t>(params.batchSize),
                  static_cast<std::int64_t>(params.getNumOutputChans())};
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    const auto size = static_cast<std::int64_t>(form.outputSize(dim));
    const auto kernel =
        static_cast<std::int64_t>(params.getTransformedKernelSize(dim));
    const std::int64_t stride = params.inputTransform.dilation[dim];
    const auto inputs =
        static_cast<std::int64_t>(params.getTruncatedInputSize(dim));
    lower[dim] = kernel - 1 - lower[dim];
    // What makes the forward convolution give exactly these inputs.
    upper.push_back(std::max<std::int64_t>(0, (inputs - 1) * stride + kernel -
                                                  lower[dim] - size));
    inputShape.push_back(size);
  }
  return {{"strides", asInts(params.inputTransform.dilation)},
          {"padLower", lower},
          {"padUpper", upper},
          {"dilations", attributes.getInts("dilations")},
          {"groups", attributes.getInt("groups")},
          {"inputShape", inputShape}};
}

Tensor ConvTensors::arranged(const Tensor &view) const {
  const auto result = poputil::internal::addLinearVariable(
      graph, poputil::internal::tensorType(view),
      poputil::internal::tilesOf(graph, view), {debugContext, "arranged"});
  prog.add(poplar::program::Copy(view, result, false, debugContext));
  return result;
}

Tensor ConvTensors::zeros(const poplar::Type &type, const Shape &shape,
                          const Tensor &like) const {
  const auto result = poputil::internal::addLinearVariable(
      graph,
      {poplar::internal::toDataType(type),
       support::Shape(shape.begin(), shape.end())},
      poputil::internal::tilesOf(graph, like), {debugContext, "out"});
  popops::zero(graph, result, prog, debugContext);
  return result;
}

Tensor ConvTensors::constantZeros(const Tensor &like, unsigned dim,
                                  std::size_t size) const {
  auto shape = like.shape();
  shape[dim] = size;
  auto zeros = graph.addConstant(like.elementType(), Shape(shape.size(), 1),
                                 0.f, {debugContext, "zero"});
  graph.setTileMapping(zeros, poputil::internal::tilesOf(graph, like).first);
  for (unsigned i = 0; i < shape.size(); ++i) {
    zeros = zeros.broadcast(static_cast<unsigned>(shape[i]), i);
  }
  return zeros;
}

Tensor ConvTensors::padded(const Tensor &tensor, unsigned dim,
                           std::size_t lower, std::size_t upper) const {
  return poplar::concat({constantZeros(tensor, dim, lower), tensor,
                         constantZeros(tensor, dim, upper)},
                        dim);
}

Tensor ConvTensors::input(const Tensor &in) const {
  const auto &transform = form.params.inputTransform;
  auto view = withTwoDims(in, form.fieldDims);
  bool isChanged = false;
  for (unsigned dim = 0; dim < form.params.getNumFieldDims(); ++dim) {
    const auto at = dim + 2;
    view = view.slice(transform.truncationLower[dim],
                      view.dim(at) - transform.truncationUpper[dim], at);
    if (transform.flip[dim]) {
      view = view.reverse(at);
      isChanged = true;
    }
    const auto dilation = form.inputDilation[dim];
    if (dilation > 1) {
      const auto size = (view.dim(at) - 1) * dilation + 1;
      const auto apart = view.expand({at + 1u});
      view = poplar::concat(apart, constantZeros(apart, at + 1, dilation - 1),
                            at + 1)
                 .flatten(at, at + 2)
                 .slice(0, size, at);
      isChanged = true;
    }
  }
  return isChanged ? arranged(view) : view;
}

Tensor ConvTensors::kernel(Tensor weights) const {
  const auto &transform = form.params.kernelTransform;
  weights = withTwoDims(weights, form.fieldDims);
  bool isReversed = false;
  for (unsigned dim = 0; dim < form.params.getNumFieldDims(); ++dim) {
    const auto at = dim + 3;
    // The transform is of the kernel after it was turned round.
    auto lower = transform.truncationLower[dim];
    auto upper = transform.truncationUpper[dim];
    if (form.turnsWeights) {
      std::swap(lower, upper);
    }
    weights = weights.slice(lower, weights.dim(at) - upper, at);
    if (weights.dim(at) > 1 &&
        (transform.flip[dim] != form.turnsWeights) != form.isGradient) {
      weights = weights.reverse(at);
      isReversed = true;
    }
  }
  if (form.turnsWeights != form.isGradient) {
    weights = weights.dimShufflePartial({1, 2}, {2, 1});
  }
  return (isReversed ? arranged(weights) : weights).flatten(0, 2);
}

Tensor ConvTensors::weights(Tensor kernel) const {
  const auto &transform = form.params.kernelTransform;
  const auto groups = form.params.numConvGroups;
  auto weights = kernel.reshapePartial(0, 1, {groups, kernel.dim(0) / groups});
  bool isChanged = false;
  if (form.isGradient) {
    weights = weights.dimShufflePartial({1, 2}, {2, 1});
    isChanged = true;
  }
  for (unsigned dim = 0; dim < form.params.getNumFieldDims(); ++dim) {
    const auto at = dim + 3;
    if (transform.flip[dim] != form.isGradient) {
      weights = weights.reverse(at);
      isChanged = true;
    }
    if (transform.truncationLower[dim] + transform.truncationUpper[dim] > 0) {
      weights = padded(weights, at, transform.truncationLower[dim],
                       transform.truncationUpper[dim]);
      isChanged = true;
    }
  }
  return withField(isChanged ? arranged(weights) : weights, form.fieldDims);
}

Tensor ConvTensors::withoutPadding(Tensor out) const {
  const auto &transform = form.params.outputTransform;
  out = withTwoDims(out, form.fieldDims);
  for (unsigned dim = 0; dim < form.params.getNumFieldDims(); ++dim) {
    const auto at = dim + 2;
    out = out.slice(transform.paddingLower[dim],
                    out.dim(at) - transform.paddingUpper[dim], at);
  }
  return out;
}

Tensor ConvTensors::withPadding(Tensor out) const {
  const auto &transform = form.params.outputTransform;
  bool isPadded = false;
  for (unsigned dim = 0; dim < form.params.getNumFieldDims(); ++dim) {
    if (transform.paddingLower[dim] + transform.paddingUpper[dim] > 0) {
      out = padded(out, dim + 2, transform.paddingLower[dim],
                   transform.paddingUpper[dim]);
      isPadded = true;
    }
  }
  return withField(isPadded ? arranged(out) : out, form.fieldDims);
}

} // namespace poplin::internal
