#include <poplin/ConvParams.hpp>

#include <poplin/ConvUtil.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace poplin {

using poputil::poplibs_error;

namespace {

// 0 stays 0; otherwise at least one element is left.
std::size_t transformedSize(std::size_t size, const InputTransform &transform,
                            unsigned dim) {
  const auto cut = std::size_t{transform.truncationLower[dim]} +
                   transform.truncationUpper[dim];
  const auto left = size > cut ? size - cut : 0;
  return transform.paddingLower[dim] +
         getDilatedSize(static_cast<unsigned>(left), transform.dilation[dim]) +
         transform.paddingUpper[dim];
}

void checkDims(const char *what, std::size_t given, std::size_t dims) {
  support::requireUser<poplibs_error>(
      given == dims,
      "[poplin::ConvParams] {} has {} dimensions; the input field has {}", what,
      given, dims);
}

} // namespace

InputTransform::InputTransform(std::size_t numDims)
    : truncationLower(numDims, 0), truncationUpper(numDims, 0),
      dilation(numDims, 1), paddingLower(numDims, 0), paddingUpper(numDims, 0),
      flip(numDims, false) {}

OutputTransform::OutputTransform(std::size_t numDims)
    : truncationLower(numDims, 0), truncationUpper(numDims, 0),
      stride(numDims, 1), paddingLower(numDims, 0), paddingUpper(numDims, 0) {}

ConvParams::ConvParams(poplar::Type dataType, std::size_t batchSize,
                       std::vector<std::size_t> inputFieldShape,
                       std::vector<std::size_t> kernelShape,
                       std::size_t inputChannels, std::size_t outputChannels,
                       std::size_t numConvGroups)
    : ConvParams(dataType, dataType, batchSize, std::move(inputFieldShape),
                 std::move(kernelShape), inputChannels, outputChannels,
                 numConvGroups) {}

ConvParams::ConvParams(poplar::Type inputType, poplar::Type outputType,
                       std::size_t batchSize,
                       std::vector<std::size_t> inputFieldShape,
                       std::vector<std::size_t> kernelShape,
                       std::size_t inputChannels, std::size_t outputChannels,
                       std::size_t numConvGroups)
    : ConvParams(inputType, outputType, batchSize, inputFieldShape, kernelShape,
                 inputChannels, outputChannels, numConvGroups,
                 InputTransform(inputFieldShape.size()),
                 InputTransform(inputFieldShape.size()),
                 OutputTransform(inputFieldShape.size())) {}

ConvParams::ConvParams(poplar::Type inputType, poplar::Type outputType,
                       std::size_t batchSize,
                       std::vector<std::size_t> inputFieldShape,
                       std::vector<std::size_t> kernelShape,
                       std::size_t inputChannels, std::size_t outputChannels,
                       std::size_t numConvGroups, InputTransform inputTransform,
                       InputTransform kernelTransform,
                       OutputTransform outputTransform)
    : inputType(inputType), outputType(outputType), batchSize(batchSize),
      inputFieldShape(std::move(inputFieldShape)),
      kernelShape(std::move(kernelShape)),
      inputChannelsPerConvGroup(inputChannels),
      outputChannelsPerConvGroup(outputChannels), numConvGroups(numConvGroups),
      inputTransform(std::move(inputTransform)),
      kernelTransform(std::move(kernelTransform)),
      outputTransform(std::move(outputTransform)) {}

std::size_t ConvParams::getTransformedInputSize(unsigned dim) const {
  return transformedSize(inputFieldShape[dim], inputTransform, dim);
}

std::size_t ConvParams::getTransformedKernelSize(unsigned dim) const {
  return transformedSize(kernelShape[dim], kernelTransform, dim);
}

std::size_t ConvParams::getOutputSize(unsigned dim) const {
  const auto raw =
      getTransformedInputSize(dim) + 1 - getTransformedKernelSize(dim);
  const auto cut = std::size_t{outputTransform.truncationLower[dim]} +
                   outputTransform.truncationUpper[dim];
  const auto stride = outputTransform.stride[dim];
  return outputTransform.paddingLower[dim] + (raw - cut + stride - 1) / stride +
         outputTransform.paddingUpper[dim];
}

std::vector<std::size_t> ConvParams::getOutputFieldShape() const {
  std::vector<std::size_t> shape;
  for (unsigned dim = 0; dim < getNumFieldDims(); ++dim) {
    shape.push_back(getOutputSize(dim));
  }
  return shape;
}

void ConvParams::validate() const {
  const auto dims = getNumFieldDims();
  checkDims("the kernel", kernelShape.size(), dims);
  checkDims("the input transform", inputTransform.dilation.size(), dims);
  checkDims("the kernel transform", kernelTransform.dilation.size(), dims);
  checkDims("the output transform", outputTransform.stride.size(), dims);
  for (unsigned dim = 0; dim < dims; ++dim) {
    support::requireUser<poplibs_error>(
        getTransformedInputSize(dim) >= getTransformedKernelSize(dim),
        "[poplin::ConvParams] the transformed kernel has {} elements in "
        "dimension {}; the transformed input has only {}",
        getTransformedKernelSize(dim), dim, getTransformedInputSize(dim));
  }
}

unsigned getDilatedSize(unsigned size, unsigned dilation) {
  return size == 0 ? 0 : 1 + (size - 1) * dilation;
}

ConvParams getGradientParams(const ConvParams &params) {
  ConvParams gradient(params.outputType, params.inputType, params.batchSize,
                      params.getOutputFieldShape(), params.kernelShape,
                      params.outputChannelsPerConvGroup,
                      params.inputChannelsPerConvGroup, params.numConvGroups);
  gradient.kernelTransform = params.kernelTransform;
  for (unsigned dim = 0; dim < params.getNumFieldDims(); ++dim) {
    const auto kernel =
        static_cast<std::int64_t>(params.getTransformedKernelSize(dim));
    const auto stride = params.outputTransform.stride[dim];
    const auto outputs = static_cast<std::int64_t>(params.getOutputSize(dim));
    const auto padLower =
        static_cast<std::int64_t>(params.inputTransform.paddingLower[dim]);
    const auto wanted = static_cast<std::int64_t>(params.inputFieldShape[dim]);
    gradient.inputTransform.dilation[dim] = stride;
    // Where the forward padding exceeds the kernel's reach, what it adds to
    // the gradient is cut off again.
    const auto lower = kernel - 1 - padLower;
    const auto dilated = (outputs - 1) * std::int64_t{stride} + 1;
    const auto upper = wanted - (dilated + lower - kernel + 1);
    const auto positive = [](std::int64_t value) {
      return static_cast<unsigned>(std::max<std::int64_t>(value, 0));
    };
    gradient.inputTransform.paddingLower[dim] = positive(lower);
    gradient.inputTransform.paddingUpper[dim] = positive(upper);
    gradient.outputTransform.truncationLower[dim] = positive(-lower);
    gradient.outputTransform.truncationUpper[dim] = positive(-upper);
  }
  return gradient;
}

} // namespace poplin
