// The canonical form of a convolution, dimension by dimension.
#include <poplin/ConvParams.hpp>
#include <poplin/ConvUtil.hpp>

#include <algorithm>
#include <cstdint>

namespace poplin {

namespace {

using Int = std::int64_t;

// One dimension as the output sees it: "lower" is where output 0 begins,
// whichever end of the tensor that is. Padding may be negative until the
// elements that it takes away are cut off.
struct Axis {
  Int size = 0;            // elements of the input that are left
  Int cut[2] = {0, 0};     // elements cut off at the lower and the upper end
  Int dilation = 1;        // of the input
  Int padding[2] = {0, 0}; // of the dilated input
  Int kernel = 0;          // dilated elements of the kernel
  Int stride = 1;          // of the output
  Int outputs = 0;         // without padding
  Int outPadding[2] = {0, 0};

  Int dilated() const { return size == 0 ? 0 : (size - 1) * dilation + 1; }
  // What the outputs span.
  Int needed() const { return (outputs - 1) * stride + kernel; }

  void becomeEmpty(unsigned side) {
    cut[side] += size;
    size = 0;
    padding[0] = needed();
    padding[1] = 0;
  }

  // Turns negative padding into elements cut off, with zeros in front of the
  // next one that is left where there was dilation.
  void cutNegativePadding(unsigned side) {
    if (padding[side] >= 0 || size == 0) {
      return;
    }
    const Int elements = (-padding[side] + dilation - 1) / dilation;
    if (elements >= size) {
      becomeEmpty(side);
      return;
    }
    cut[side] += elements;
    size -= elements;
    padding[side] += elements * dilation;
  }

  // Outputs that see only padding become output padding. Says whether there
  // were any.
  bool moveZerosOut() {
    if (size > 0 && padding[0] >= kernel) {
      const Int zeros = (padding[0] - kernel) / stride + 1;
      if (zeros >= outputs) {
        becomeEmpty(0);
        return false;
      }
      padding[0] -= zeros * stride;
      outPadding[0] += zeros;
      outputs -= zeros;
      return true;
    }
    const Int useful = (padding[0] + dilated() - 1) / stride + 1;
    if (size > 0 && useful < outputs) {
      outPadding[1] += outputs - useful;
      outputs = useful;
      return true;
    }
    return false;
  }

  // Stepping over padding may step over elements as well, which may leave
  // outputs without any.
  void simplify() {
    do {
      stride = outputs == 1 ? 1 : stride;
      cutNegativePadding(0);
      fitUpperPadding();
      cutNegativePadding(1);
    } while (moveZerosOut());
  }

  // Just enough, or less where the stride steps over what is too much.
  void fitUpperPadding() {
    if (size > 0) {
      padding[1] = needed() - padding[0] - dilated();
      if (padding[1] > -stride) {
        padding[1] = std::max<Int>(padding[1], 0);
      }
    }
  }
};

Axis axisOf(const ConvParams &params, unsigned dim) {
  const auto &in = params.inputTransform;
  const auto &kernel = params.kernelTransform;
  const auto &out = params.outputTransform;
  const unsigned flip = in.flip[dim];
  const unsigned kernelFlip = kernel.flip[dim];
  Axis axis;
  axis.size = static_cast<Int>(params.getTruncatedInputSize(dim));
  axis.cut[flip] = in.truncationLower[dim];
  axis.cut[1 - flip] = in.truncationUpper[dim];
  axis.dilation = axis.size <= 1 ? 1 : in.dilation[dim];
  axis.padding[flip] = in.paddingLower[dim];
  axis.padding[1 - flip] = in.paddingUpper[dim];
  axis.padding[kernelFlip] -= kernel.paddingLower[dim];
  axis.padding[1 - kernelFlip] -= kernel.paddingUpper[dim];
  axis.padding[0] -= out.truncationLower[dim];
  axis.padding[1] -= out.truncationUpper[dim];
  axis.kernel =
      getDilatedSize(static_cast<unsigned>(params.getTruncatedKernelSize(dim)),
                     kernel.dilation[dim]);
  axis.stride = out.stride[dim];
  axis.outPadding[0] = out.paddingLower[dim];
  axis.outPadding[1] = out.paddingUpper[dim];
  axis.outputs = static_cast<Int>(params.getOutputSize(dim)) -
                 axis.outPadding[0] - axis.outPadding[1];
  return axis;
}

void store(const Axis &axis, unsigned dim, ConvParams &params) {
  const auto count = [](Int value) { return static_cast<unsigned>(value); };
  auto &in = params.inputTransform;
  auto &kernel = params.kernelTransform;
  auto &out = params.outputTransform;
  const unsigned flip = in.flip[dim];
  in.truncationLower[dim] = count(axis.cut[flip]);
  in.truncationUpper[dim] = count(axis.cut[1 - flip]);
  in.dilation[dim] = axis.size <= 1 ? 1 : count(axis.dilation);
  in.paddingLower[dim] = count(axis.padding[flip]);
  in.paddingUpper[dim] = count(axis.padding[1 - flip]);
  const bool isOneElement = params.getTruncatedKernelSize(dim) == 1;
  kernel.dilation[dim] = isOneElement ? 1 : kernel.dilation[dim];
  kernel.flip[dim] = kernel.flip[dim] && !isOneElement;
  kernel.paddingLower[dim] = kernel.paddingUpper[dim] = 0;
  out.truncationLower[dim] = out.truncationUpper[dim] = 0;
  out.stride[dim] = count(axis.stride);
  out.paddingLower[dim] = count(axis.outPadding[0]);
  out.paddingUpper[dim] = count(axis.outPadding[1]);
  if (axis.size <= 1 && flip == 1) {
    in.flip[dim] = false;
    std::swap(in.paddingLower[dim], in.paddingUpper[dim]);
  }
}

} // namespace

ConvParams ConvParams::canonicalize() const {
  validate();
  auto result = *this;
  for (unsigned dim = 0; dim < getNumFieldDims(); ++dim) {
    auto axis = axisOf(*this, dim);
    // No outputs, or zeros only: there is nothing to simplify.
    if (axis.outputs == 0 || axis.kernel == 0 || axis.size == 0) {
      continue;
    }
    axis.simplify();
    store(axis, dim, result);
  }
  return result;
}

} // namespace poplin
