// The products of a fully connected layer, to plan them before they are built.
#pragma once

#include <poplin/MatMul.hpp>

#include <poplar/OptionFlags.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace poplin {
namespace fc {

struct FullyConnectedParams {
  std::size_t numGroups;
  std::size_t batchSize;
  std::size_t inputSize;
  std::size_t outputSize;
};

// The forward pass and, unless `inferenceOnly`, the gradients by the input and
// by the weights, each with the options for its pass.
std::vector<std::pair<MatMulParams, poplar::OptionFlags>>
getMatMulPrePlanParameters(FullyConnectedParams parameters,
                           poplar::OptionFlags matmulOptions, poplar::Type type,
                           bool inferenceOnly);

} // namespace fc
} // namespace poplin
