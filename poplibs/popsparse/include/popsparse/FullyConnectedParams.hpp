// The shape of a fully connected layer with sparse weights.
#pragma once

#include <popsparse/SparsityParams.hpp>

#include <cstddef>

namespace popsparse {
namespace dynamic {

// Weights are a sparse [output channels, input channels]. There is one group.
class FullyConnectedParams {
public:
  static FullyConnectedParams
  createWithNzRatio(const SparsityParams &sparsityParams, double nzRatio,
                    std::size_t batchSize, std::size_t numGroups,
                    std::size_t inputChannels, std::size_t outputChannels);
  static FullyConnectedParams
  createWithNumNonZeroValues(const SparsityParams &sparsityParams,
                             std::size_t numNonZeroElems, std::size_t batchSize,
                             std::size_t numGroups, std::size_t inputChannels,
                             std::size_t outputChannels);

  std::size_t getBatchSize() const { return batchSize_; }
  std::size_t getNumGroups() const { return numGroups_; }
  std::size_t getInputChannels() const { return inputChannels_; }
  std::size_t getOutputChannels() const { return outputChannels_; }
  std::size_t getInputChannelsPerGroup() const {
    return inputChannels_ / numGroups_;
  }
  std::size_t getOutputChannelsPerGroup() const {
    return outputChannels_ / numGroups_;
  }
  const SparsityParams &getSparsityParams() const { return sparsityParams_; }
  double getNzRatio() const;
  std::size_t getNumNonZeroValues() const { return numNonZeroValues_; }

private:
  FullyConnectedParams(const SparsityParams &sparsityParams,
                       std::size_t numNonZeros, std::size_t batchSize,
                       std::size_t numGroups, std::size_t inputChannels,
                       std::size_t outputChannels)
      : sparsityParams_(sparsityParams), numNonZeroValues_(numNonZeros),
        batchSize_(batchSize), numGroups_(numGroups),
        inputChannels_(inputChannels), outputChannels_(outputChannels) {}

  SparsityParams sparsityParams_;
  std::size_t numNonZeroValues_;
  std::size_t batchSize_;
  std::size_t numGroups_;
  std::size_t inputChannels_;
  std::size_t outputChannels_;
};

} // namespace dynamic
} // namespace popsparse
