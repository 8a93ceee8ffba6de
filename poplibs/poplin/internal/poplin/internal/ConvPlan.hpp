// The convolution planner: how a convolution, or a matrix product as one, is
// transformed, which vertex does it, and how it is cut over the tiles of an
// IPU. A pruned search that minimises cycles within a bound of temporary memory
// (docs/model.md, "Plans").
#pragma once

#include <kernels/cost/Tile.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace poplin::internal {

using kernels::cost::DataType;
using Extents = std::array<std::uint64_t, 2>; // rows, columns

// A field of any number of dimensions as rows and columns: the innermost one
// and all others together.
template <typename Range> Extents foldedField(const Range &field) {
  Extents folded{1, 1};
  std::size_t left = std::size(field);
  for (const auto extent : field) {
    folded[--left == 0 ? 1 : 0] *= static_cast<std::uint64_t>(extent);
  }
  return folded;
}

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
  std::uint64_t outPositions() const {
    return batch * outField[0] * outField[1];
  }
  std::uint64_t inputs() const {
    return groups * batch * inField[0] * inField[1] * inChans;
  }
  std::uint64_t weights() const {
    return groups * kernelElements() * inChans * outChans;
  }
  std::uint64_t outputs() const { return groups * outPositions() * outChans; }
  std::uint64_t macs() const {
    return outputs() * inChans * kernelElements() /
           (inputDilation[0] * inputDilation[1]);
  }
  friend auto operator<=>(const ConvProblem &, const ConvProblem &) = default;
};

enum class ConvMethod : std::uint8_t {
  Amp1x1,
  AmpNx1,
  Slic,
  HorizontalMac,
  VerticalMac,
  OuterProduct
};
std::string_view toString(ConvMethod method);

// Which product of a fully-connected layer a plan is for; such plans may share
// their partition with the two others.
enum class ConvPass : std::uint8_t {
  None,
  Forward, // of a layer that is trained
  Backward,
  WeightUpdate
};

// What a user fixes of a plan (option planConstraints), or a test.
struct PlanConstraints {
  std::optional<ConvMethod> method; // either AMP form stands for both
  std::optional<unsigned> convGroupsPerGroup;
  std::optional<unsigned> inChansPerGroup;
  std::optional<unsigned> outChansPerGroup;
  std::optional<bool> swapsOperands;
  std::optional<std::uint64_t> batchSplit;
  std::optional<std::uint64_t> groupSplit;
  std::optional<std::uint64_t> rowSplit;
  std::optional<std::uint64_t> columnSplit;
  std::optional<std::uint64_t> kernelSplit;
  std::optional<std::uint64_t> inChanSplit;
  std::optional<std::uint64_t> outChanSplit;
  std::optional<std::uint64_t> serialInChans;
  std::optional<std::uint64_t> serialOutChans;

  friend auto operator<=>(const PlanConstraints &,
                          const PlanConstraints &) = default;
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
  // Partials in one region where they are few, and always in interleaved
  // memory.
  bool allowSingleInputReduce = true;
  bool useFastReduce = false;
  // Swapped operands, kernels unfolded into channels, serial steps, ...
  bool allowTransforms = true;
  ConvPass pass = ConvPass::None; // of a fully-connected layer
  PlanConstraints constraints;

  friend auto operator<=>(const PlanLimits &, const PlanLimits &) = default;
};

struct ConvSplit {
  std::uint64_t groups = 1;
  std::uint64_t batch = 1;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t kernelRows = 1;
  std::uint64_t outChans = 1;
  std::uint64_t inChans = 1;
  // Steps one after another; at most one of the two is more than 1.
  std::uint64_t serialOutChans = 1;
  std::uint64_t serialInChans = 1;

  std::uint64_t tiles() const { return field() * groups * outChans * depth(); }
  std::uint64_t field() const { return batch * rows * columns; }
  // Partials of each output.
  std::uint64_t depth() const { return kernelRows * inChans; }
  std::uint64_t steps() const { return serialOutChans * serialInChans; }
  friend bool operator==(const ConvSplit &, const ConvSplit &) = default;
};

// Channels of a block: what one pass of the vertex takes.
struct ConvGrouping {
  ConvMethod method = ConvMethod::Amp1x1;
  unsigned convGroupsPerGroup = 1;
  unsigned inChansPerGroup = 16;
  unsigned outChansPerGroup = 16;
  unsigned kernelHeightPerPass = 1; // AmpNx1
};

// How the problem is turned into the one that is cut.
struct ConvTransforms {
  // Kernel elements along these dimensions as input channels.
  std::array<bool, 2> expandsDims{false, false};
  bool flattensField = false;       // batch and field as one row
  std::uint64_t combinedGroups = 1; // with zeros between their channels

  friend bool operator==(const ConvTransforms &,
                         const ConvTransforms &) = default;
};

// Cycles of each part on the busiest tile.
struct ConvCost {
  // Of one serial step.
  std::uint64_t dynamicSlice = 0;
  std::uint64_t transformCopy = 0;
  std::uint64_t transformExchange = 0;
  std::uint64_t exchangeInput = 0;
  std::uint64_t exchangeWeights = 0;
  std::uint64_t exchangePartials = 0;
  std::uint64_t compute = 0;
  std::uint64_t reduce = 0;
  std::uint64_t dynamicUpdate = 0;
  std::uint64_t addInPlace = 0;
  // Once, before or after the steps.
  std::uint64_t broadcastInput = 0;
  std::uint64_t rearrangeBeforeSlice = 0;
  std::uint64_t outputCast = 0;

  std::uint64_t transformBytes = 0; // of the largest operand, on a tile
  std::uint64_t tempBytes = 0;

  std::uint64_t step() const {
    return dynamicSlice + transformCopy + transformExchange + exchangeInput +
           exchangeWeights + exchangePartials + compute + reduce +
           dynamicUpdate + addInPlace;
  }
  std::uint64_t once() const {
    return broadcastInput + rearrangeBeforeSlice + outputCast;
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
  ConvTransforms transforms;
  bool swapsOperands = false; // plan of the transposed matrix product
  bool isJoint = false;       // one partition for all passes of a layer

  std::uint64_t totalCycles() const {
    return cost.step() * split.steps() + cost.once();
  }
};

// Throws poputil::poplibs_error when there is no plan at all. A bound on memory
// that cannot be met is doubled, with a warning, and given up in the end.
ConvPlan planConvolution(const ConvProblem &problem, const PlanLimits &limits);
// The same of a product whose operands may change places for nothing.
ConvPlan planMatMul(const ConvProblem &problem, const PlanLimits &limits);

} // namespace poplin::internal
