#include <poplin/ConvUtil.hpp>

#include <algorithm>
#include <cstdint>

namespace poplin {

namespace {

using Int = std::int64_t;

unsigned count(Int value) {
  return static_cast<unsigned>(value);
}

// No output of a canonical convolution sees an element of both operands in this
// dimension.
bool isAllZero(const ConvParams &canonical, unsigned dim) {
  const auto &out = canonical.outputTransform;
  return canonical.getTruncatedInputSize(dim) == 0 ||
         canonical.getTruncatedKernelSize(dim) == 0 ||
         canonical.getOutputSize(dim) ==
             std::size_t{out.paddingLower[dim]} + out.paddingUpper[dim];
}

// `size` zeros, whatever the operands: one output, cut off again, between
// padding.
void giveZeros(ConvParams &params, unsigned dim, std::size_t size) {
  auto &in = params.inputTransform;
  in.truncationLower[dim] =
      count(static_cast<Int>(params.inputFieldShape[dim]));
  in.truncationUpper[dim] = 0;
  in.paddingLower[dim] =
      count(static_cast<Int>(params.getTransformedKernelSize(dim)));
  in.paddingUpper[dim] = 0;
  params.outputTransform.truncationLower[dim] = 1;
  params.outputTransform.paddingLower[dim] = count(static_cast<Int>(size));
}

// Reverses a convolution's output: the reversed kernel over the reversed input.
void reverseOutput(ConvParams &params, unsigned dim) {
  params.inputTransform.flip[dim] = !params.inputTransform.flip[dim];
  params.kernelTransform.flip[dim] = !params.kernelTransform.flip[dim];
  auto &out = params.outputTransform;
  std::swap(out.truncationLower[dim], out.truncationUpper[dim]);
}

// Sets truncation so that the outputs are `wanted` positions, `stride` apart,
// from `first` on.
void takeOutputs(ConvParams &params, unsigned dim, Int first, Int wanted,
                 unsigned stride) {
  auto &out = params.outputTransform;
  const Int last = first + (wanted - 1) * Int{stride};
  const auto all = static_cast<Int>(params.getUntransformedOutputSize(dim));
  out.stride[dim] = stride;
  out.truncationLower[dim] = count(first);
  out.truncationUpper[dim] = count(all - 1 - last);
}

// Input element j lies at position lower + j * dilation of the transformed
// input; output i sees it through kernel element (position - i * stride). In
// the gradient positions and outputs change places and the kernel is turned
// round.
void setGradientDim(const ConvParams &forward, unsigned dim,
                    ConvParams &gradient) {
  const auto &in = forward.inputTransform;
  const bool isFlipped = in.flip[dim];
  const auto size = static_cast<Int>(forward.getTruncatedInputSize(dim));
  const auto kernel = static_cast<Int>(forward.getTransformedKernelSize(dim));
  const Int lower = isFlipped ? in.paddingUpper[dim] : in.paddingLower[dim];
  const Int span =
      1 + (static_cast<Int>(gradient.getTruncatedInputSize(dim)) - 1) *
              Int{gradient.inputTransform.dilation[dim]};
  const Int padLower = std::max<Int>(0, kernel - 1 - lower);
  const Int first = std::max<Int>(0, lower - (kernel - 1));
  const Int last = first + (size - 1) * Int{in.dilation[dim]};
  gradient.inputTransform.paddingLower[dim] = count(padLower);
  gradient.inputTransform.paddingUpper[dim] =
      count(std::max<Int>(0, last + kernel - padLower - span));
  takeOutputs(gradient, dim, first, size, in.dilation[dim]);
  gradient.outputTransform.paddingLower[dim] = in.truncationLower[dim];
  gradient.outputTransform.paddingUpper[dim] = in.truncationUpper[dim];
  if (isFlipped) {
    reverseOutput(gradient, dim);
  }
}

} // namespace

unsigned getDilatedSize(unsigned size, unsigned dilation) {
  return size == 0 ? 0 : 1 + (size - 1) * dilation;
}

ConvParams getGradientParams(const ConvParams &params) {
  const auto forward = params.canonicalize();
  ConvParams gradient(forward.inputType, forward.outputType, forward.batchSize,
                      forward.getOutputFieldShape(), forward.kernelShape,
                      forward.outputChannelsPerConvGroup,
                      forward.inputChannelsPerConvGroup, forward.numConvGroups);
  // The caller's weights are turned round already.
  gradient.kernelTransform = forward.kernelTransform;
  std::swap(gradient.kernelTransform.truncationLower,
            gradient.kernelTransform.truncationUpper);
  std::swap(gradient.kernelTransform.paddingLower,
            gradient.kernelTransform.paddingUpper);
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    if (isAllZero(forward, dim)) {
      giveZeros(gradient, dim, forward.inputFieldShape[dim]);
      continue;
    }
    const auto &out = forward.outputTransform;
    gradient.inputTransform.truncationLower[dim] = out.paddingLower[dim];
    gradient.inputTransform.truncationUpper[dim] = out.paddingUpper[dim];
    gradient.inputTransform.dilation[dim] = out.stride[dim];
    setGradientDim(forward, dim, gradient);
  }
  return gradient;
}

ConvParams getWeightUpdateParams(const ConvParams &params) {
  const auto forward = params.canonicalize();
  ConvParams update(forward.inputType, forward.outputType,
                    forward.inputChannelsPerConvGroup, forward.inputFieldShape,
                    forward.getOutputFieldShape(), forward.batchSize,
                    forward.outputChannelsPerConvGroup, forward.numConvGroups);
  update.inputTransform = forward.inputTransform;
  const auto &kernel = forward.kernelTransform;
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    if (isAllZero(forward, dim)) {
      update.kernelTransform.paddingLower[dim] = 1; // there may be no outputs
      giveZeros(update, dim, forward.kernelShape[dim]);
      continue;
    }
    const auto &out = forward.outputTransform;
    update.kernelTransform.truncationLower[dim] = out.paddingLower[dim];
    update.kernelTransform.truncationUpper[dim] = out.paddingUpper[dim];
    update.kernelTransform.dilation[dim] = out.stride[dim];
    takeOutputs(update, dim, 0,
                static_cast<Int>(forward.getTruncatedKernelSize(dim)),
                kernel.dilation[dim]);
    update.outputTransform.paddingLower[dim] = kernel.truncationLower[dim];
    update.outputTransform.paddingUpper[dim] = kernel.truncationUpper[dim];
    if (kernel.flip[dim]) {
      reverseOutput(update, dim);
    }
  }
  return update;
}

} // namespace poplin
