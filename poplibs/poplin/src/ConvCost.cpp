// What one cut of a candidate costs (section 7.3).
#include "ConvCandidate.hpp"

#include <kernels/cost/Cast.hpp>
#include <kernels/cost/Convolution.hpp>
#include <kernels/cost/Elementwise.hpp>
#include <kernels/cost/Memory.hpp>
#include <kernels/cost/Reduction.hpp>
#include <kernels/cost/Slice.hpp>

#include <algorithm>
#include <cmath>

namespace poplin::internal {

using kernels::cost::ceilDiv;
using kernels::cost::Cycles;

namespace {

ConvExtent extentOf(const ConvCandidate &candidate, const ConvSplit &split) {
  const auto &problem = candidate.problem;
  return {ceilDiv(candidate.groupGroups(), split.groups),
          ceilDiv(problem.batch, split.batch),
          ceilDiv(problem.outField[0], split.rows),
          ceilDiv(problem.outField[1], split.columns),
          ceilDiv(problem.kernel[0], split.kernelRows),
          ceilDiv(ceilDiv(candidate.inGroups(), split.serialInChans),
                  split.inChans),
          ceilDiv(ceilDiv(candidate.outGroups(), split.serialOutChans),
                  split.outChans)};
}

// Inputs along one dimension that `outputs` positions of a part of the kernel
// read.
std::uint64_t inputsFor(const ConvProblem &problem, std::size_t d,
                        std::uint64_t outputs, std::uint64_t kernel) {
  const auto reach = (kernel - 1) * problem.kernelDilation[d];
  const auto span = (outputs - 1) * problem.stride[d] + reach + 1;
  return std::min(problem.inField[d], ceilDiv(span, problem.inputDilation[d]));
}

// What a tile has to fetch when its operand is spread over those that need it.
std::uint64_t withoutLocal(std::uint64_t elements, std::uint64_t sharers) {
  return elements - ceilDiv(elements, sharers);
}

ConvTileShare shareOf(const ConvCandidate &candidate, const PlanLimits &limits,
                      const ConvSplit &split, const ConvExtent &extent) {
  const auto &problem = candidate.problem;
  const auto &grouping = candidate.grouping;
  const auto size = support::sizeOf(problem.inputType);
  const auto groups = extent.groupGroups * grouping.convGroupsPerGroup;
  const auto inChans = extent.inGroups * grouping.inChansPerGroup;
  const auto outChans = extent.outGroups * grouping.outChansPerGroup;
  const auto kernel = extent.kernelRows * problem.kernel[1];
  const auto inputs = groups * extent.batch *
                      inputsFor(problem, 0, extent.rows, extent.kernelRows) *
                      inputsFor(problem, 1, extent.columns, problem.kernel[1]) *
                      inChans;
  const auto weights = groups * kernel * inChans * outChans;
  ConvTileShare share;
  share.inputBytes = inputs * size;
  share.weightBytes = weights * size;
  share.inputBytesIn = withoutLocal(inputs, split.outChans) * size;
  share.weightBytesIn = withoutLocal(weights, split.field()) * size;
  share.partials =
      groups * extent.batch * extent.rows * extent.columns * outChans;
  share.isInputShared = limits.sharesExchangeBus && split.outChans % 2 == 0;
  const auto dilation = problem.inputDilation[0] * problem.inputDilation[1];
  share.macs = share.partials * inChans * kernel / dilation;
  return share;
}

// Tensors that are rearranged before the exchange or after the vertices.
void addTransformCost(const ConvCandidate &candidate, std::uint64_t tiles,
                      ConvCost &cost) {
  for (const auto &tensor : candidate.rearranged) {
    const auto size = support::sizeOf(tensor.type);
    const auto bytes = ceilDiv(tensor.elements * size, tiles);
    // An element at a time; faster when channels fill whole vectors.
    const bool isAligned = tensor.runLength * size % 8 == 0;
    cost.transformCopy += bytes * 5 / (size * (isAligned ? 4 : 3));
    cost.transformExchange += bytes / 4;
    cost.transformBytes = std::max<std::uint64_t>(cost.transformBytes, bytes);
  }
}

// Slices of the operands and of the output, and the sum of the outputs of
// steps. `accumulated` counts outputs on a tile.
std::uint64_t addSerialCost(const ConvCandidate &candidate,
                            const PlanLimits &limits, const ConvSplit &split,
                            const ConvTileShare &share,
                            std::uint64_t accumulated, ConvCost &cost) {
  if (split.steps() == 1) {
    return 0;
  }
  const auto &problem = candidate.problem;
  const auto &tile = limits.tile;
  const auto tiles = split.tiles();
  const auto sliced = [&](std::uint64_t elements, DataType type) {
    return kernels::cost::dynamicSlice1D(
        tile, type, ceilDiv(elements, tiles * split.steps()), 1);
  };
  cost.dynamicSlice = sliced(problem.weights(), problem.inputType);
  if (split.serialOutChans > 1) {
    cost.dynamicUpdate = sliced(problem.outputs(), problem.outputType);
    // Every step reads the same inputs: they are brought once.
    cost.broadcastInput = cost.exchangeInput + ceilDiv(share.inputBytes, 8);
    cost.exchangeInput = 0;
    return 0;
  }
  cost.dynamicSlice += sliced(problem.inputs(), problem.inputType);
  const auto &add = kernels::elementwiseOpInfo(kernels::ElementwiseOp::ADD);
  cost.addInPlace = kernels::cost::binaryOp1D(tile, add, problem.partialsType,
                                              accumulated, true);
  if (problem.partialsType != problem.outputType) {
    cost.outputCast = kernels::cost::cast1D(tile, problem.partialsType,
                                            problem.outputType, accumulated);
  }
  // The slices of the inputs' channels have to lie together.
  const auto size = support::sizeOf(problem.inputType);
  const auto bytes = ceilDiv(problem.inputs() * size, tiles);
  const auto run =
      std::min<std::uint64_t>(8, candidate.grouping.inChansPerGroup * size);
  cost.rearrangeBeforeSlice = bytes * 5 / (4 * run) + bytes / 4;
  return bytes + accumulated * support::sizeOf(problem.partialsType);
}

std::uint64_t root(std::uint64_t n, double power) {
  return static_cast<std::uint64_t>(std::pow(static_cast<double>(n), power) +
                                    1e-9);
}

// The depth after a stage of `stages` that are left: that with fewer messages.
std::uint64_t nextDepth(std::uint64_t depth, unsigned stages) {
  const auto low =
      std::max<std::uint64_t>(1, root(depth, (stages - 1.0) / stages));
  const auto messages = [&](std::uint64_t next) {
    const auto n = static_cast<double>(next);
    const double after = stages == 2 ? n : 2 * std::sqrt(n);
    return static_cast<double>(depth) / n + after;
  };
  return messages(low + 1) < messages(low) ? low + 1 : low;
}

} // namespace

std::array<std::uint64_t, 3> reduceDepths(std::uint64_t depth,
                                          bool allowMultiStage) {
  if (!allowMultiStage || depth < 16) {
    return {1, 1, 1};
  }
  if (depth < 125) {
    return {nextDepth(depth, 2), 1, 1};
  }
  const auto first = nextDepth(depth, 3);
  return {first, nextDepth(first, 2), 1};
}

ReduceStages reduceStages(const ConvProblem &problem, const PlanLimits &limits,
                          std::uint64_t partials, std::uint64_t depth) {
  const auto &tile = limits.tile;
  const auto type = problem.partialsType;
  ReduceStages result;
  if (depth == 1) {
    if (type != problem.outputType) {
      result.stages[result.count++] = {
          1,
          partials,
          problem.outputType,
          0,
          kernels::cost::convReduceCast(tile, type, problem.outputType,
                                        partials),
          false};
    }
    return result;
  }
  constexpr std::uint64_t elementBytes = 16 * 1024;
  const auto accumulators = 2 * vectorWidth(tile, type);
  auto before = depth;
  for (const auto after : reduceDepths(depth, limits.allowMultiStageReduce)) {
    if (before == 1) {
      break;
    }
    ReduceStage stage{};
    stage.outputs = ceilDiv(partials * after, depth);
    stage.fanIn = ceilDiv(before, after);
    stage.type = after == 1 ? problem.outputType : type;
    stage.exchangedBytes = stage.outputs * stage.fanIn * support::sizeOf(type);
    const bool isSmall =
        ceilDiv(stage.exchangedBytes, elementBytes) * elementBytes <
        limits.bytesPerTile / 16;
    stage.isSingleInput =
        stage.outputs % accumulators == 0 &&
        (limits.useFastReduce || (limits.allowSingleInputReduce && isSmall));
    stage.cycles =
        stage.isSingleInput
            ? kernels::cost::convReduceAddSingleInput(
                  tile, type, stage.type, stage.outputs, stage.fanIn,
                  limits.useFastReduce)
            : kernels::cost::convReduceAdd(tile, type, stage.type,
                                           stage.outputs, stage.fanIn);
    result.stages[result.count++] = stage;
    before = after;
  }
  return result;
}

FieldBound fieldBound(const ConvCandidate &candidate, const PlanLimits &limits,
                      const ConvSplit &split) {
  const auto &problem = candidate.problem;
  auto uncut = split;
  uncut.batch = uncut.rows = uncut.columns = 1;
  auto extent = extentOf(candidate, uncut);
  const auto whole = shareOf(candidate, limits, uncut, extent);
  const auto real = [](std::uint64_t n) { return static_cast<double>(n); };
  // What the vertices take beside their positions: a position for each worker
  // shows it, but short ranges take a little longer than their length tells.
  const std::uint64_t workers = limits.tile.workers;
  const double compute = real(whole.macs) / candidate.peakRate(limits);
  const double positions =
      real(problem.outPositions()) /
      real(problem.inputDilation[0] * problem.inputDilation[1]);
  extent.batch = extent.rows = 1;
  extent.columns = workers * problem.inputDilation[1];
  const double overhead = real(vertexCycles(candidate, limits, extent)) -
                          compute * real(workers) / positions;
  constexpr double safety = 0.8;
  ConvCost transform;
  addTransformCost(candidate, limits.tiles, transform);

  const double rate = limits.exchangeBytesPerCycle;
  const auto partialBytes =
      real(whole.partials * support::sizeOf(problem.partialsType));
  FieldBound bound;
  bound.fixedCycles =
      safety * std::max(0.0, overhead) +
      real(transform.transformCopy + transform.transformExchange);
  bound.weightCycles = real(whole.weightBytes) / rate;
  bound.fieldCycles = compute;
  if (split.serialOutChans == 1) {
    bound.fieldCycles +=
        real(whole.inputBytesIn) / (rate * (whole.isInputShared ? 2 : 1));
  }
  if (split.depth() > 1) {
    bound.fieldCycles += partialBytes / rate;
  }
  for (auto *cycles :
       {&bound.fixedCycles, &bound.weightCycles, &bound.fieldCycles}) {
    *cycles *= real(split.steps());
  }
  bound.fixedBytes = real(whole.weightBytes);
  bound.fieldBytes = real(whole.inputBytes) + partialBytes;
  return bound;
}

ConvPlan evaluate(const ConvCandidate &candidate, const PlanLimits &limits,
                  const ConvSplit &split) {
  const auto &problem = candidate.problem;
  const auto extent = extentOf(candidate, split);
  ConvPlan plan;
  plan.split = split;
  plan.grouping = candidate.grouping;
  plan.transforms = candidate.transforms;
  plan.swapsOperands = candidate.swapsOperands;
  plan.share = shareOf(candidate, limits, split, extent);
  const auto &share = plan.share;
  auto &cost = plan.cost;
  const auto rate = limits.exchangeBytesPerCycle;
  cost.exchangeInput = kernels::cost::exchange(share.inputBytesIn, rate,
                                               share.isInputShared ? 2 : 1);
  cost.exchangeWeights = kernels::cost::exchange(share.weightBytesIn, rate, 1);
  cost.compute = vertexCycles(candidate, limits, extent);
  addTransformCost(candidate, split.tiles(), cost);

  const auto partialBytes =
      share.partials * support::sizeOf(problem.partialsType);
  std::uint64_t reduceBytes = 0;
  // Steps over input channels are summed up in partials and cast at the end.
  auto inStep = problem;
  if (split.serialInChans > 1) {
    inStep.outputType = problem.partialsType;
  }
  for (const auto &stage :
       reduceStages(inStep, limits, share.partials, split.depth())) {
    cost.exchangePartials +=
        kernels::cost::exchange(stage.exchangedBytes, rate, 1);
    cost.reduce += stage.cycles;
    reduceBytes = std::max(reduceBytes, partialBytes + stage.exchangedBytes);
  }
  const auto serialBytes =
      addSerialCost(candidate, limits, split, share,
                    ceilDiv(share.partials, split.depth()), cost);
  auto convBytes = share.inputBytes + share.weightBytes + partialBytes;
  if (candidate.grouping.method == ConvMethod::Slic) {
    convBytes += partialBytes / candidate.grouping.convGroupsPerGroup + 200;
  }
  cost.tempBytes =
      serialBytes + std::max({2 * cost.transformBytes, convBytes, reduceBytes});
  return plan;
}

} // namespace poplin::internal
