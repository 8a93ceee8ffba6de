// What a convolution computes.
#pragma once

#include <poplar/Type.hpp>

#include <cstddef>
#include <iosfwd>
#include <tuple>
#include <vector>

namespace poplar {
class OptionFlags;
class Target;
} // namespace poplar

namespace poplin {

// Applied to an operand's field in this order: truncation, dilation with zeros,
// padding with zeros, reversal.
struct InputTransform {
  InputTransform() = default;
  explicit InputTransform(std::size_t numDims); // changes nothing
  InputTransform(std::vector<unsigned> truncationLower,
                 std::vector<unsigned> truncationUpper,
                 std::vector<unsigned> dilation,
                 std::vector<unsigned> paddingLower,
                 std::vector<unsigned> paddingUpper, std::vector<bool> flip);

  std::vector<unsigned> truncationLower;
  std::vector<unsigned> truncationUpper;
  std::vector<unsigned> dilation;
  std::vector<unsigned> paddingLower;
  std::vector<unsigned> paddingUpper;
  std::vector<bool> flip;
};

// Applied to the result's field: truncation, stride, padding.
struct OutputTransform {
  OutputTransform() = default;
  explicit OutputTransform(std::size_t numDims); // changes nothing
  OutputTransform(std::vector<unsigned> truncationLower,
                  std::vector<unsigned> truncationUpper,
                  std::vector<unsigned> stride,
                  std::vector<unsigned> paddingLower,
                  std::vector<unsigned> paddingUpper);

  std::vector<unsigned> truncationLower;
  std::vector<unsigned> truncationUpper;
  std::vector<unsigned> stride;
  std::vector<unsigned> paddingLower;
  std::vector<unsigned> paddingUpper;
};

struct ConvParams {
  using InputTransform = poplin::InputTransform;
  using OutputTransform = poplin::OutputTransform;

  ConvParams() = default;
  // Channels are counted per group.
  ConvParams(poplar::Type dataType, std::size_t batchSize,
             std::vector<std::size_t> inputFieldShape,
             std::vector<std::size_t> kernelShape, std::size_t inputChannels,
             std::size_t outputChannels, std::size_t numConvGroups);
  ConvParams(poplar::Type inputType, poplar::Type outputType,
             std::size_t batchSize, std::vector<std::size_t> inputFieldShape,
             std::vector<std::size_t> kernelShape, std::size_t inputChannels,
             std::size_t outputChannels, std::size_t numConvGroups);
  ConvParams(poplar::Type inputType, poplar::Type outputType,
             std::size_t batchSize, std::vector<std::size_t> inputFieldShape,
             std::vector<std::size_t> kernelShape, std::size_t inputChannels,
             std::size_t outputChannels, std::size_t numConvGroups,
             InputTransform inputTransform, InputTransform kernelTransform,
             OutputTransform outputTransform);

  std::size_t getNumFieldDims() const { return inputFieldShape.size(); }
  std::size_t getNumConvGroups() const { return numConvGroups; }
  std::size_t getBatchSize() const { return batchSize; }
  std::size_t getNumInputChansPerConvGroup() const {
    return inputChannelsPerConvGroup;
  }
  std::size_t getNumOutputChansPerConvGroup() const {
    return outputChannelsPerConvGroup;
  }
  std::size_t getNumInputChans() const {
    return inputChannelsPerConvGroup * numConvGroups;
  }
  std::size_t getNumOutputChans() const {
    return outputChannelsPerConvGroup * numConvGroups;
  }
  std::size_t getInputSize(unsigned dim) const { return inputFieldShape[dim]; }
  const std::vector<std::size_t> &getInputFieldShape() const {
    return inputFieldShape;
  }
  const std::vector<std::size_t> &getKernelShape() const { return kernelShape; }

  std::size_t getTruncatedInputSize(unsigned dim) const;
  std::size_t getTruncatedKernelSize(unsigned dim) const;
  std::size_t getTransformedInputSize(unsigned dim) const;
  std::size_t getTransformedKernelSize(unsigned dim) const;
  // Before the output transform.
  std::size_t getUntransformedOutputSize(unsigned dim) const;
  std::size_t getOutputSize(unsigned dim) const;
  std::vector<std::size_t> getOutputFieldShape() const;

  // Throws poplibs_error when the parts do not fit together.
  void validate() const;

  // The same function of the same operands with as little of the transforms as
  // possible: kernels have no padding and outputs no truncation, both being
  // part of the input's padding and truncation; every output that is not output
  // padding sees an input.
  ConvParams canonicalize() const;

  poplar::Type inputType;
  poplar::Type outputType;
  std::size_t batchSize = 1;
  std::vector<std::size_t> inputFieldShape;
  std::vector<std::size_t> kernelShape;
  std::size_t inputChannelsPerConvGroup = 1;
  std::size_t outputChannelsPerConvGroup = 1;
  std::size_t numConvGroups = 1;
  InputTransform inputTransform;
  InputTransform kernelTransform;
  OutputTransform outputTransform;
};

bool operator==(const ConvParams &a, const ConvParams &b);
bool operator!=(const ConvParams &a, const ConvParams &b);
bool operator<(const ConvParams &a, const ConvParams &b);
std::ostream &operator<<(std::ostream &stream, const ConvParams &params);

// A convolution to plan before it is built.
using ConvPlanParams = std::tuple<const poplar::Target *, const ConvParams,
                                  const poplar::OptionFlags *>;

} // namespace poplin
