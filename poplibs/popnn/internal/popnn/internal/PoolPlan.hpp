// The pooling planner (section 7.10): how batch, field and channels are cut
// over tiles, by the cycles of the vertices and of the exchange.
#pragma once

#include <kernels/cost/NeuralNet.hpp>

namespace popnn::internal {

struct PoolProblem {
  kernels::cost::DataType type = kernels::cost::DataType::Float;
  kernels::cost::PoolPass pass = kernels::cost::PoolPass::Max;
  std::uint64_t batch = 1;
  std::uint64_t channels = 1;
  std::uint64_t rows = 1; // of the result: all dimensions but the innermost
  std::uint64_t columns = 1;
  std::uint64_t windowElements = 1;
  std::uint64_t inputElements = 1; // of the whole operand
  // Channels that lie side by side in the operand; 0 when nobody says.
  std::uint64_t operandChansPerGroup = 0;
};

struct PoolPlan {
  std::uint64_t batchSplit = 1;
  std::uint64_t rowSplit = 1;
  std::uint64_t columnSplit = 1;
  std::uint64_t channelSplit = 1; // in groups
  std::uint64_t chansPerGroup = 1;

  kernels::cost::PoolShare share; // of the busiest tile
  std::uint64_t inputBytes = 0;   // that it takes
  std::uint64_t cycles = 0;       // in all

  std::uint64_t tiles() const {
    return batchSplit * rowSplit * columnSplit * channelSplit;
  }
};

PoolPlan planPool(const kernels::cost::TileSpec &tile,
                  const PoolProblem &problem, unsigned tiles);

} // namespace popnn::internal
