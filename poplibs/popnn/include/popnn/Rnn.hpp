// The sizes of recurrent layers.
#pragma once

#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <vector>

namespace popnn {
namespace rnn {

struct RnnParams {
  RnnParams(poplar::Type dataType, std::size_t batchSize,
            std::size_t maxTimeSteps, std::vector<std::size_t> layerSizes);
  // `timeSteps`, INT or UNSIGNED_INT, has the number of steps at run time: one
  // for all samples, or one for each.
  RnnParams(poplar::Type dataType, std::size_t batchSize,
            std::size_t maxTimeSteps, const poplar::Tensor &timeSteps,
            std::vector<std::size_t> layerSizes);

  bool variableTimeSteps() const { return varTimeSteps.valid(); }
  bool batchVariableTimeSteps() const {
    return variableTimeSteps() && varTimeSteps.numElements() > 1;
  }
  std::size_t getInputSize() const { return layerSizes.front(); }
  std::size_t getOutputSize() const { return layerSizes.back(); }

  poplar::Type dataType;
  std::size_t batchSize;
  std::size_t maxTimeSteps;
  std::size_t timeSteps;
  poplar::Tensor varTimeSteps;
  std::vector<std::size_t> layerSizes; // input and output
};

} // namespace rnn
} // namespace popnn
