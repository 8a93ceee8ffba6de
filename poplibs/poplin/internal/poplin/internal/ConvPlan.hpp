// The convolution planner: how a convolution, or a matrix product as one, is
// cut over the tiles of an IPU. A pruned search over integer splits that
// minimises cycles within a bound of temporary memory (docs/model.md,
// section 7.3).
#pragma once

#include <kernels/cost/Tile.hpp>

#include <array>
#include <compare>
#include <cstdint>

namespace poplin::internal {

using kernels::cost::DataType;
using Extents = std::array<std::uint64_t, 2>; // rows, columns

// The problem. A matrix product [m,k] x [k,n] has m columns, k input and n
// output channels.
struct ConvProblem {
  DataType inputType = DataType::Float;
  DataType partialsType = DataType::Float;
  DataType outputType = DataType::Float;
  std::uint64_t groups = 1;
  std::uint64_t batch = 1;
  std::uint64_t inChans = 1;  // per group
  std::uint64_t outChans = 1; // per group
  Extents inField{1, 1};
  Extents outField{1, 1};
  Extents kernel{1, 1};
  Extents kernelDilation{1, 1};
  Extents stride{1, 1};
  // Zeros between inputs, as in the gradient of a strided convolution: only one
  // position in so many has work for a kernel element.
  Extents inputDilation{1, 1};

  std::uint64_t kernelElements() const { return kernel[0] * kernel[1]; }
  friend auto operator<=>(const ConvProblem &, const ConvProblem &) = default;
};

// What the plan may use.
struct PlanLimits {
  kernels::cost::TileSpec tile;
  unsigned tiles = 1472;
  double exchangeBytesPerCycle = 4;
  bool sharesExchangeBus = true;
  std::uint64_t bytesPerTile = 638976;
  double availableMemoryProportion = 0.6;
  bool allowMultiStageReduce = true;
  // Swapped operands, kernels unfolded into channels, serial steps.
  bool allowTransforms = true;

  friend auto operator<=>(const PlanLimits &, const PlanLimits &) = default;
};

enum class ConvMethod : std::uint8_t { Amp1x1, AmpNx1, HorizontalMac };

struct ConvSplit {
  std::uint64_t groups = 1;
  std::uint64_t batch = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t outChans = 1;
  std::uint64_t inChans = 1;
  std::uint64_t serialOutChans = 1; // steps one after another

  std::uint64_t tiles() const {
    return groups * batch * rows * columns * outChans * inChans;
  }
};

// Channels of a block: what one pass of the vertex takes.
struct ConvGrouping {
  ConvMethod method = ConvMethod::Amp1x1;
  unsigned inChansPerGroup = 16;
  unsigned outChansPerGroup = 16;
  unsigned kernelHeightPerPass = 1; // AmpNx1
  bool unfoldsKernel = false;       // kernel elements as input channels
};

// Cycles of each part on the busiest tile, of one serial step.
struct ConvCost {
  std::uint64_t exchangeInput = 0;
  std::uint64_t exchangeWeights = 0;
  std::uint64_t exchangePartials = 0;
  std::uint64_t unfold = 0; // copies that rearrange inputs on the tile
  std::uint64_t compute = 0;
  std::uint64_t reduce = 0;
  std::uint64_t tempBytes = 0;

  std::uint64_t cycles() const {
    return exchangeInput + exchangeWeights + exchangePartials + unfold +
           compute + reduce;
  }
};

// What one tile handles in one serial step.
struct ConvTileShare {
  std::uint64_t inputBytes = 0;  // needed on the tile
  std::uint64_t weightBytes = 0; // needed on the tile
  std::uint64_t inputBytesIn = 0;
  std::uint64_t weightBytesIn = 0;
  std::uint64_t partials = 0; // elements made
  std::uint64_t macs = 0;
  bool isInputShared = false; // neighbouring tiles take the same inputs
};

struct ConvPlan {
  ConvSplit split;
  ConvGrouping grouping;
  ConvTileShare share;
  ConvCost cost;
  bool swapsOperands = false; // plan of the transposed matrix product

  std::uint64_t totalCycles() const {
    return cost.cycles() * split.serialOutChans;
  }
};

// Throws poputil::poplibs_error when there is no plan at all.
ConvPlan planConvolution(const ConvProblem &problem, const PlanLimits &limits);
// The same, trying the transposed product as well.
ConvPlan planMatMul(const ConvProblem &problem, const PlanLimits &limits);

// Share and cost of one split; the search calls it for every candidate.
ConvPlan evaluate(const ConvProblem &problem, const PlanLimits &limits,
                  const ConvGrouping &grouping, const ConvSplit &split);

// How many partials each stage of the reduction of `depth` leaves to the next;
// the last is 1 (section 7.6).
std::array<std::uint64_t, 3> reduceStages(std::uint64_t depth,
                                          bool allowMultiStage);

} // namespace poplin::internal
