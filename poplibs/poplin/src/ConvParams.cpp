#include <poplin/ConvParams.hpp>

#include <poplin/ConvUtil.hpp>

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/ranges.h>

#include <ostream>
#include <tuple>

namespace poplin {

using poputil::poplibs_error;
using support::requireUser;

namespace {

std::size_t truncatedSize(std::size_t size, const InputTransform &transform,
                          unsigned dim) {
  const auto cut = std::size_t{transform.truncationLower[dim]} +
                   transform.truncationUpper[dim];
  return size > cut ? size - cut : 0;
}

std::size_t transformedSize(std::size_t size, const InputTransform &transform,
                            unsigned dim) {
  const auto left = truncatedSize(size, transform, dim);
  return transform.paddingLower[dim] +
         getDilatedSize(static_cast<unsigned>(left), transform.dilation[dim]) +
         transform.paddingUpper[dim];
}

void checkDims(const char *what, std::size_t given, std::size_t dims) {
  requireUser<poplibs_error>(
      given == dims,
      "[poplin::ConvParams] {} has {} dimensions; the input field has {}", what,
      given, dims);
}

void checkTransform(const char *operand, const std::vector<std::size_t> &shape,
                    const InputTransform &transform) {
  const auto dims = shape.size();
  const auto what = fmt::format("the {} transform", operand);
  for (const auto *values :
       {&transform.truncationLower, &transform.truncationUpper,
        &transform.dilation, &transform.paddingLower,
        &transform.paddingUpper}) {
    checkDims(what.c_str(), values->size(), dims);
  }
  checkDims(what.c_str(), transform.flip.size(), dims);
  for (unsigned dim = 0; dim < dims; ++dim) {
    requireUser<poplibs_error>(transform.dilation[dim] > 0,
                               "[poplin::ConvParams] {} dilates dimension {} "
                               "by 0; it must be at least 1",
                               what, dim);
    const auto cut = std::size_t{transform.truncationLower[dim]} +
                     transform.truncationUpper[dim];
    requireUser<poplibs_error>(
        cut <= shape[dim],
        "[poplin::ConvParams] {} truncates dimension {} by {}; it has only {} "
        "elements",
        what, dim, cut, shape[dim]);
  }
}

void checkTransform(const OutputTransform &transform, std::size_t dims) {
  for (const auto *values :
       {&transform.truncationLower, &transform.truncationUpper,
        &transform.stride, &transform.paddingLower, &transform.paddingUpper}) {
    checkDims("the output transform", values->size(), dims);
  }
  for (unsigned dim = 0; dim < dims; ++dim) {
    requireUser<poplibs_error>(transform.stride[dim] > 0,
                               "[poplin::ConvParams] the stride of dimension "
                               "{} is 0; it must be at least 1",
                               dim);
  }
}

auto asTuple(const InputTransform &transform) {
  return std::tie(transform.truncationLower, transform.truncationUpper,
                  transform.dilation, transform.paddingLower,
                  transform.paddingUpper, transform.flip);
}

auto asTuple(const OutputTransform &transform) {
  return std::tie(transform.truncationLower, transform.truncationUpper,
                  transform.stride, transform.paddingLower,
                  transform.paddingUpper);
}

auto asTuple(const ConvParams &params) {
  return std::tuple_cat(
      std::tie(params.inputType, params.outputType, params.batchSize,
               params.inputFieldShape, params.kernelShape,
               params.inputChannelsPerConvGroup,
               params.outputChannelsPerConvGroup, params.numConvGroups),
      asTuple(params.inputTransform), asTuple(params.kernelTransform),
      asTuple(params.outputTransform));
}

void print(std::ostream &stream, const char *operand,
           const InputTransform &transform) {
  stream << fmt::format("        {}TruncationLower        {{{}}}\n"
                        "        {}TruncationUpper        {{{}}}\n"
                        "        {}Dilation               {{{}}}\n"
                        "        {}PaddingLower           {{{}}}\n"
                        "        {}PaddingUpper           {{{}}}\n"
                        "        {}Flip                   {{{}}}\n",
                        operand, fmt::join(transform.truncationLower, ","),
                        operand, fmt::join(transform.truncationUpper, ","),
                        operand, fmt::join(transform.dilation, ","), operand,
                        fmt::join(transform.paddingLower, ","), operand,
                        fmt::join(transform.paddingUpper, ","), operand,
                        fmt::join(transform.flip, ","));
}

} // namespace

InputTransform::InputTransform(std::size_t numDims)
    : truncationLower(numDims, 0), truncationUpper(numDims, 0),
      dilation(numDims, 1), paddingLower(numDims, 0), paddingUpper(numDims, 0),
      flip(numDims, false) {}

InputTransform::InputTransform(std::vector<unsigned> truncationLower,
                               std::vector<unsigned> truncationUpper,
                               std::vector<unsigned> dilation,
                               std::vector<unsigned> paddingLower,
                               std::vector<unsigned> paddingUpper,
                               std::vector<bool> flip)
    : truncationLower(std::move(truncationLower)),
      truncationUpper(std::move(truncationUpper)),
      dilation(std::move(dilation)), paddingLower(std::move(paddingLower)),
      paddingUpper(std::move(paddingUpper)), flip(std::move(flip)) {}

OutputTransform::OutputTransform(std::size_t numDims)
    : truncationLower(numDims, 0), truncationUpper(numDims, 0),
      stride(numDims, 1), paddingLower(numDims, 0), paddingUpper(numDims, 0) {}

OutputTransform::OutputTransform(std::vector<unsigned> truncationLower,
                                 std::vector<unsigned> truncationUpper,
                                 std::vector<unsigned> stride,
                                 std::vector<unsigned> paddingLower,
                                 std::vector<unsigned> paddingUpper)
    : truncationLower(std::move(truncationLower)),
      truncationUpper(std::move(truncationUpper)), stride(std::move(stride)),
      paddingLower(std::move(paddingLower)),
      paddingUpper(std::move(paddingUpper)) {}

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

std::size_t ConvParams::getTruncatedInputSize(unsigned dim) const {
  return truncatedSize(inputFieldShape[dim], inputTransform, dim);
}

std::size_t ConvParams::getTruncatedKernelSize(unsigned dim) const {
  return truncatedSize(kernelShape[dim], kernelTransform, dim);
}

std::size_t ConvParams::getTransformedInputSize(unsigned dim) const {
  return transformedSize(inputFieldShape[dim], inputTransform, dim);
}

std::size_t ConvParams::getTransformedKernelSize(unsigned dim) const {
  return transformedSize(kernelShape[dim], kernelTransform, dim);
}

std::size_t ConvParams::getUntransformedOutputSize(unsigned dim) const {
  return getTransformedInputSize(dim) + 1 - getTransformedKernelSize(dim);
}

std::size_t ConvParams::getOutputSize(unsigned dim) const {
  const auto cut = std::size_t{outputTransform.truncationLower[dim]} +
                   outputTransform.truncationUpper[dim];
  const auto stride = outputTransform.stride[dim];
  return outputTransform.paddingLower[dim] +
         (getUntransformedOutputSize(dim) - cut + stride - 1) / stride +
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
  checkTransform("input", inputFieldShape, inputTransform);
  checkTransform("kernel", kernelShape, kernelTransform);
  checkTransform(outputTransform, dims);
  for (unsigned dim = 0; dim < dims; ++dim) {
    const auto kernel = getTransformedKernelSize(dim);
    requireUser<poplibs_error>(
        kernel > 0,
        "[poplin::ConvParams] the transformed kernel has no elements in "
        "dimension {}",
        dim);
    requireUser<poplibs_error>(
        getTransformedInputSize(dim) >= kernel,
        "[poplin::ConvParams] the transformed kernel has {} elements in "
        "dimension {}; the transformed input has only {}",
        kernel, dim, getTransformedInputSize(dim));
    const auto cut = std::size_t{outputTransform.truncationLower[dim]} +
                     outputTransform.truncationUpper[dim];
    requireUser<poplibs_error>(
        cut <= getUntransformedOutputSize(dim),
        "[poplin::ConvParams] the output transform truncates dimension {} by "
        "{}; it has only {} elements",
        dim, cut, getUntransformedOutputSize(dim));
  }
}

bool operator==(const ConvParams &a, const ConvParams &b) {
  return asTuple(a) == asTuple(b);
}

bool operator!=(const ConvParams &a, const ConvParams &b) {
  return !(a == b);
}

bool operator<(const ConvParams &a, const ConvParams &b) {
  return asTuple(a) < asTuple(b);
}

std::ostream &operator<<(std::ostream &stream, const ConvParams &params) {
  const auto &out = params.outputTransform;
  stream << "Params:\n"
         << "        inputType                  " << params.inputType << '\n'
         << "        outputType                 " << params.outputType << '\n'
         << fmt::format("        batchSize                  {}\n"
                        "        numConvGroups              {}\n"
                        "        inputFieldShape            {{{}}}\n"
                        "        kernelShape                {{{}}}\n"
                        "        inputChannelsPerConvGroup  {}\n"
                        "        outputChannelsPerConvGroup {}\n",
                        params.batchSize, params.numConvGroups,
                        fmt::join(params.inputFieldShape, ","),
                        fmt::join(params.kernelShape, ","),
                        params.inputChannelsPerConvGroup,
                        params.outputChannelsPerConvGroup);
  print(stream, "input", params.inputTransform);
  print(stream, "kernel", params.kernelTransform);
  return stream << fmt::format(
             "        outputTruncationLower       {{{}}}\n"
             "        outputTruncationUpper       {{{}}}\n"
             "        stride                      {{{}}}\n"
             "        outputPaddingLower          {{{}}}\n"
             "        outputPaddingUpper          {{{}}}\n"
             "        outputFieldShape            {{{}}}\n",
             fmt::join(out.truncationLower, ","),
             fmt::join(out.truncationUpper, ","), fmt::join(out.stride, ","),
             fmt::join(out.paddingLower, ","), fmt::join(out.paddingUpper, ","),
             fmt::join(params.getOutputFieldShape(), ","));
}

} // namespace poplin
