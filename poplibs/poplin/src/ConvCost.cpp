// The cost of one candidate plan.
#include <poplin/internal/ConvPlan.hpp>

#include <kernels/cost/Convolution.hpp>
#include <kernels/cost/Memory.hpp>
#include <kernels/cost/Reduction.hpp>

#include <algorithm>
#include <cmath>

namespace poplin::internal {

using kernels::cost::ceilDiv;
using kernels::cost::Cycles;

namespace {

// What a tile handles along each dimension.
struct Extent {
  std::uint64_t groups;
  std::uint64_t batch;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t inGroups;  // of channels
  std::uint64_t outGroups; // of channels
};

std::uint64_t unfoldedChans(const ConvProblem &problem,
                            const ConvGrouping &grouping) {
  return grouping.unfoldsKernel ? problem.inChans * problem.kernelElements()
                                : problem.inChans;
}

Extent extentOf(const ConvProblem &problem, const ConvGrouping &grouping,
                const ConvSplit &split) {
  const auto inGroups =
      ceilDiv(unfoldedChans(problem, grouping), grouping.inChansPerGroup);
  const auto outGroups =
      ceilDiv(ceilDiv(problem.outChans, grouping.outChansPerGroup),
              split.serialOutChans);
  return {ceilDiv(problem.groups, split.groups),
          ceilDiv(problem.batch, split.batch),
          ceilDiv(problem.outField[0], split.rows),
          ceilDiv(problem.outField[1], split.columns),
          ceilDiv(inGroups, split.inChans),
          ceilDiv(outGroups, split.outChans)};
}

// Inputs along one dimension that `outputs` positions read.
std::uint64_t inputsFor(const ConvProblem &problem, std::size_t d,
                        std::uint64_t outputs) {
  const auto reach = (problem.kernel[d] - 1) * problem.kernelDilation[d];
  const auto span = (outputs - 1) * problem.stride[d] + reach + 1;
  return std::min(problem.inField[d], ceilDiv(span, problem.inputDilation[d]));
}

// What a tile has to fetch when its operand is spread over those that need it.
std::uint64_t withoutLocal(std::uint64_t elements, std::uint64_t sharers) {
  return elements - ceilDiv(elements, sharers);
}

Cycles computeCycles(const ConvProblem &problem, const PlanLimits &limits,
                     const ConvGrouping &grouping, const Extent &extent) {
  const auto rows =
      extent.batch * ceilDiv(extent.rows, problem.inputDilation[0]);
  const auto columns = ceilDiv(extent.columns, problem.inputDilation[1]);
  if (grouping.method == ConvMethod::HorizontalMac) {
    return kernels::cost::convPartialHorizontalMac(
        limits.tile,
        {.inputType = problem.inputType,
         .partialsType = problem.partialsType,
         .convGroups = extent.groups,
         .outChanGroups = extent.outGroups,
         .inChansPerGroup = extent.inGroups * grouping.inChansPerGroup,
         .outChansPerGroup = grouping.outChansPerGroup,
         .rows = rows,
         .rowLength = columns,
         .kernelElements = problem.kernelElements()});
  }
  kernels::cost::AmpShare amp{.inputType = problem.inputType,
                              .partialsType = problem.partialsType,
                              .convGroups = extent.groups,
                              .inChanGroups = extent.inGroups,
                              .outChanGroups = extent.outGroups,
                              .outChansPerGroup = grouping.outChansPerGroup,
                              .rows = rows,
                              .rowLength = columns};
  if (grouping.method == ConvMethod::Amp1x1) {
    return kernels::cost::convPartial1x1Out(limits.tile, amp);
  }
  amp.kernelHeightPerPass = grouping.kernelHeightPerPass;
  amp.kernelHeight = problem.kernel[0];
  amp.kernelRest = problem.kernel[1];
  return kernels::cost::convPartialNx1(limits.tile, amp);
}

ConvTileShare shareOf(const ConvProblem &problem, const PlanLimits &limits,
                      const ConvGrouping &grouping, const ConvSplit &split,
                      const Extent &extent) {
  const auto size = support::sizeOf(problem.inputType);
  const auto inChans = extent.inGroups * grouping.inChansPerGroup;
  const auto outChans = extent.outGroups * grouping.outChansPerGroup;
  // Kernel elements that became channels are unfolded after the exchange.
  const auto exchangedChans = grouping.unfoldsKernel
                                  ? ceilDiv(inChans, problem.kernelElements())
                                  : inChans;
  const auto weightElements =
      grouping.unfoldsKernel ? 1 : problem.kernelElements();
  const auto inputs = extent.groups * extent.batch *
                      inputsFor(problem, 0, extent.rows) *
                      inputsFor(problem, 1, extent.columns) * exchangedChans;
  const auto weights = extent.groups * weightElements * inChans * outChans;
  ConvTileShare share;
  share.inputBytes = inputs * size;
  share.weightBytes = weights * size;
  share.inputBytesIn = withoutLocal(inputs, split.outChans) * size;
  share.weightBytesIn =
      withoutLocal(weights, split.batch * split.rows * split.columns) * size;
  share.partials =
      extent.groups * extent.batch * extent.rows * extent.columns * outChans;
  share.isInputShared = limits.sharesExchangeBus && split.outChans % 2 == 0;
  const auto dilation = problem.inputDilation[0] * problem.inputDilation[1];
  share.macs = share.partials * inChans * weightElements / dilation;
  return share;
}

// Exchange and vertices of the stages that add up partials.
void addReduceCost(const ConvProblem &problem, const PlanLimits &limits,
                   std::uint64_t depth, const ConvTileShare &share,
                   ConvCost &cost) {
  const auto size = support::sizeOf(problem.partialsType);
  auto before = depth;
  for (const auto after : reduceStages(depth, limits.allowMultiStageReduce)) {
    if (before == 1) {
      break;
    }
    const auto outputs = ceilDiv(share.partials * after, depth);
    const auto fanIn = ceilDiv(before, after);
    const auto type = after == 1 ? problem.outputType : problem.partialsType;
    cost.exchangePartials += kernels::cost::exchange(
        outputs * fanIn * size, limits.exchangeBytesPerCycle, 1);
    cost.reduce += kernels::cost::convReduceAdd(
        limits.tile, problem.partialsType, type, outputs, fanIn);
    before = after;
  }
}

} // namespace

std::array<std::uint64_t, 3> reduceStages(std::uint64_t depth,
                                          bool allowMultiStage) {
  const auto root = [depth](double power) {
    return static_cast<std::uint64_t>(
        std::pow(static_cast<double>(depth), power) + 1e-9);
  };
  if (!allowMultiStage || depth < 16) {
    return {1, 1, 1};
  }
  if (depth < 125) {
    return {root(0.5), 1, 1};
  }
  return {root(2.0 / 3), root(1.0 / 3), 1};
}

ConvPlan evaluate(const ConvProblem &problem, const PlanLimits &limits,
                  const ConvGrouping &grouping, const ConvSplit &split) {
  const auto extent = extentOf(problem, grouping, split);
  ConvPlan plan{split, grouping, {}, {}, false};
  plan.share = shareOf(problem, limits, grouping, split, extent);
  auto &cost = plan.cost;
  const auto rate = limits.exchangeBytesPerCycle;
  cost.exchangeInput = kernels::cost::exchange(
      plan.share.inputBytesIn, rate, plan.share.isInputShared ? 2 : 1);
  cost.exchangeWeights =
      kernels::cost::exchange(plan.share.weightBytesIn, rate, 1);
  cost.compute = computeCycles(problem, limits, grouping, extent);
  auto inputBytes = plan.share.inputBytes;
  if (grouping.unfoldsKernel) {
    const auto unfolded = extent.groups * extent.batch * extent.rows *
                          extent.columns * extent.inGroups *
                          grouping.inChansPerGroup *
                          support::sizeOf(problem.inputType);
    cost.unfold =
        kernels::cost::onTileCopy(unfolded, support::sizeOf(problem.inputType));
    inputBytes += unfolded;
  }
  addReduceCost(problem, limits, split.inChans, plan.share, cost);
  cost.tempBytes = inputBytes + plan.share.weightBytes +
                   plan.share.partials * support::sizeOf(problem.partialsType);
  return plan;
}

} // namespace poplin::internal
