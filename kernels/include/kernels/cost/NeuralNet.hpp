// Cycles of pooling (section 8.10), non-linearity and loss vertices (8.13).
#pragma once

#include <kernels/cost/Tile.hpp>

#include <string_view>

namespace kernels::cost {

enum class PoolPass { Max, Average, Backward };

// One tile's share of a pooling: `rows` output rows of `rowLength` positions,
// each position made of `windowElements` inputs, for `channels` channels.
struct PoolShare {
  DataType type = DataType::Float;
  PoolPass pass = PoolPass::Max;
  std::uint64_t rows = 1;
  std::uint64_t rowLength = 1;
  std::uint64_t windowElements = 1;
  std::uint64_t channels = 1;
};
Cycles pooling(const TileSpec &tile, const PoolShare &share);

// Non-linearities by the enumerators of popnn: RELU, SIGMOID, TANH, GELU,
// GELU_ERF, SWISH. Supervisor vertices over n elements.
Cycles nonLinearity1D(const TileSpec &tile, std::string_view nonLinearity,
                      DataType type, std::uint64_t n);
Cycles nonLinearityGrad1D(const TileSpec &tile, std::string_view nonLinearity,
                          DataType type, std::uint64_t n);

// Worker vertices over n elements.
Cycles lossSumSquared(DataType type, std::uint64_t n);
Cycles lossCrossEntropy(DataType type, std::uint64_t n);
Cycles calcAccuracy(std::uint64_t batch);
Cycles inverseStdDeviation(std::uint64_t n);
Cycles encodeOneHot(DataType type, std::uint64_t indices);
// Index of the largest of n classes; a supervisor vertex.
Cycles reduceMaxClassGather(const TileSpec &tile, std::uint64_t n);

} // namespace kernels::cost
