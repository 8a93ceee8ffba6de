// Cycles of pooling (section 8.10) and of the vertices of neural networks
// (8.13): non-linearities, losses, norms, CTC.
#pragma once

#include <kernels/cost/Cast.hpp>
#include <kernels/cost/Reduction.hpp>
#include <kernels/cost/Tile.hpp>

#include <string_view>

namespace kernels::cost {

enum class PoolPass { Max, Average, Backward };

// One tile's share of a pooling: `rows` output rows of `rowLength` positions,
// each position made of `windowElements` inputs, for `channelGroups` groups of
// `channels` channels.
struct PoolShare {
  DataType type = DataType::Float;
  PoolPass pass = PoolPass::Max;
  std::uint64_t rows = 1;
  std::uint64_t rowLength = 1;
  std::uint64_t windowElements = 1;
  std::uint64_t channels = 1;
  std::uint64_t channelGroups = 1;
};
Cycles pooling(const TileSpec &tile, const PoolShare &share);

// Non-linearities by the enumerators of popnn: RELU, SIGMOID, TANH, GELU,
// GELU_ERF, SWISH. Supervisor vertices over n elements.
Cycles nonLinearity1D(const TileSpec &tile, std::string_view nonLinearity,
                      DataType type, std::uint64_t n);
Cycles nonLinearityGrad1D(const TileSpec &tile, std::string_view nonLinearity,
                          DataType type, std::uint64_t n);

// Worker vertices over `regions` runs of n elements.
Cycles nonLinearity2D(const TileSpec &tile, std::string_view nonLinearity,
                      DataType type, std::uint64_t regions, std::uint64_t n);
Cycles nonLinearityGrad2D(const TileSpec &tile, std::string_view nonLinearity,
                          DataType type, std::uint64_t regions,
                          std::uint64_t n);

// Worker vertices over n elements.
Cycles lossSumSquared(DataType type, std::uint64_t n);
Cycles lossCrossEntropy(DataType type, std::uint64_t n);
Cycles calcAccuracy(std::uint64_t batch);
Cycles inverseStdDeviation(std::uint64_t n);
// One (time step, label) after another of one sequence.
Cycles ctcAlphaBeta(std::uint64_t timeSteps, std::uint64_t labels);
Cycles ctcGradient(std::uint64_t timeSteps, std::uint64_t labels);

// A supervisor vertex: three channels to four, scaled; bytes or halves in.
Cycles normaliseImage(const TileSpec &tile, DataType inputType,
                      DataType outputType, std::uint64_t pixels);

} // namespace kernels::cost
