// One partition for the three products of a fully-connected layer: what one
// leaves on a tile the others find there.
#include "ConvCandidate.hpp"

#include <algorithm>

namespace poplin::internal {

using kernels::cost::ceilDiv;

namespace {

// A product of `columns` x `in` with `in` x `out`.
ConvProblem product(ConvProblem like, std::uint64_t columns, std::uint64_t in,
                    std::uint64_t out) {
  like.inField = like.outField = {1, columns};
  like.inChans = in;
  like.outChans = out;
  return like;
}

// The forward product that a pass belongs to.
ConvProblem forwardOf(const ConvProblem &problem, ConvPass pass) {
  const auto columns = problem.outField[1];
  switch (pass) {
  case ConvPass::Backward:
    return product(problem, columns, problem.outChans, problem.inChans);
  case ConvPass::WeightUpdate:
    return product(problem, problem.inChans, columns, problem.outChans);
  default:
    return problem;
  }
}

ConvProblem passOf(const ConvProblem &forward, ConvPass pass) {
  // Each exchange of roles is its own inverse.
  return forwardOf(forward, pass);
}

// The plans of one partition. The columns of the forward product are cut into
// `columns`, its input channels into `in`, its output channels not at all; of
// the two other products one sums over the columns and one over the output
// channels.
struct Joint {
  ConvPlan forward;
  ConvPlan overColumns;
  ConvPlan overOutputs;

  std::uint64_t cycles() const {
    return forward.totalCycles() + overColumns.totalCycles() +
           overOutputs.totalCycles();
  }
  std::uint64_t tempBytes() const {
    return std::max({forward.cost.tempBytes, overColumns.cost.tempBytes,
                     overOutputs.cost.tempBytes});
  }
};

std::optional<ConvCandidate> ampCandidate(const ConvProblem &problem,
                                          const PlanLimits &limits) {
  auto plain = limits;
  plain.allowTransforms = false;
  for (auto &candidate : candidatesOf(problem, plain, true)) {
    if (candidate.grouping.method == ConvMethod::Amp1x1) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::optional<Joint> bestJoint(const ConvProblem &forward,
                               const PlanLimits &limits,
                               std::uint64_t memoryBound) {
  const auto columns = forward.outField[1];
  const auto first = ampCandidate(forward, limits);
  const auto second = ampCandidate(
      product(forward, forward.inChans, columns, forward.outChans), limits);
  const auto third = ampCandidate(
      product(forward, columns, forward.outChans, forward.inChans), limits);
  if (!first || !second || !third) {
    return std::nullopt;
  }
  std::optional<Joint> best;
  const std::uint64_t tiles = limits.tiles;
  const auto groups = std::min<std::uint64_t>(forward.groups, tiles);
  const auto mostIn = std::min(first->inGroups(), tiles / groups);
  for (std::uint64_t in = 1; in <= mostIn; ++in) {
    // As many tiles as there are; fewer cuts along a dimension come with more
    // along the other.
    const auto cut = std::min(columns, tiles / (groups * in));
    Joint joint{evaluate(*first, limits,
                         {.groups = groups, .columns = cut, .inChans = in}),
                evaluate(*second, limits,
                         {.groups = groups,
                          .columns = in,
                          .inChans = std::min(cut, second->inGroups())}),
                evaluate(*third, limits,
                         {.groups = groups,
                          .columns = cut,
                          .outChans = std::min(in, third->outGroups())})};
    if (joint.tempBytes() <= memoryBound &&
        (!best || joint.cycles() < best->cycles())) {
      best = joint;
    }
  }
  return best;
}

} // namespace

std::optional<ConvPlan> jointPlan(const ConvProblem &problem,
                                  const PlanLimits &limits,
                                  const ConvPlan &alone) {
  const auto bound =
      static_cast<std::uint64_t>(limits.availableMemoryProportion *
                                 static_cast<double>(limits.bytesPerTile));
  const auto forward = forwardOf(problem, limits.pass);
  auto best = bestJoint(forward, limits, bound);
  bool isSwapped = false;
  const auto turned = bestJoint(
      product(forward, forward.outChans, forward.inChans, forward.outField[1]),
      limits, bound);
  if (turned && (!best || turned->cycles() < best->cycles())) {
    best = turned;
    isSwapped = true;
  }
  if (!best) {
    return std::nullopt;
  }
  auto separately = alone.totalCycles();
  auto single = limits;
  single.pass = ConvPass::None;
  for (const auto pass :
       {ConvPass::Forward, ConvPass::Backward, ConvPass::WeightUpdate}) {
    if (pass != limits.pass) {
      separately += planMatMul(passOf(forward, pass), single).totalCycles();
    }
  }
  if (separately < best->cycles()) {
    return std::nullopt;
  }
  // With the operands swapped, output features are the columns.
  const bool sumsOverColumns = (limits.pass == ConvPass::Backward) == isSwapped;
  auto plan = limits.pass == ConvPass::Forward ? best->forward
              : sumsOverColumns                ? best->overColumns
                                               : best->overOutputs;
  plan.swapsOperands = isSwapped;
  plan.isJoint = true;
  return plan;
}

} // namespace poplin::internal
