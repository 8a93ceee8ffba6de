// The search over splits.
#include <poplin/internal/ConvPlan.hpp>

#include <kernels/cost/Convolution.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace poplin::internal {

using kernels::cost::ceilDiv;

namespace {

// The splits of n worth trying, ascending: the smallest one for each largest
// share, and the smallest even one where evenness matters.
std::vector<std::uint64_t> splitsOf(std::uint64_t n, std::uint64_t limit,
                                    bool wantEven = false) {
  std::vector<std::uint64_t> splits;
  for (std::uint64_t split = 1; split <= std::min(n, limit);) {
    splits.push_back(split);
    const auto share = ceilDiv(n, split);
    if (wantEven && split % 2 != 0 && split + 1 <= std::min(n, limit) &&
        ceilDiv(n, split + 1) == share) {
      splits.push_back(split + 1);
    }
    if (share == 1) {
      break;
    }
    split = ceilDiv(n, share - 1);
  }
  return splits;
}

class Search {
public:
  Search(const ConvProblem &problem, const PlanLimits &limits,
         std::uint64_t memoryBound)
      : problem_(problem), limits_(limits), memoryBound_(memoryBound),
        batches_(splitsOf(problem.batch, limits.tiles)),
        rows_(splitsOf(problem.outField[0], limits.tiles)),
        columns_(splitsOf(problem.outField[1], limits.tiles)) {}

  void tryGrouping(const ConvGrouping &grouping, std::uint64_t serialSteps) {
    const auto chans = grouping.unfoldsKernel
                           ? problem_.inChans * problem_.kernelElements()
                           : problem_.inChans;
    const auto inGroups = ceilDiv(chans, grouping.inChansPerGroup);
    const auto outGroups = ceilDiv(
        ceilDiv(problem_.outChans, grouping.outChansPerGroup), serialSteps);
    ConvSplit split;
    split.serialOutChans = serialSteps;
    const std::uint64_t tiles = limits_.tiles;
    for (const auto groups : splitsOf(problem_.groups, tiles)) {
      split.groups = groups;
      for (const auto out : splitsOf(outGroups, tiles / groups, true)) {
        split.outChans = out;
        for (const auto in : splitsOf(inGroups, tiles / (groups * out))) {
          split.inChans = in;
          tryBatches(grouping, split, tiles / (groups * out * in));
        }
      }
    }
  }

  const std::optional<ConvPlan> &best() const { return best_; }

private:
  void tryBatches(const ConvGrouping &grouping, ConvSplit split,
                  std::uint64_t tiles) {
    for (const auto batch : batches_) {
      if (batch > tiles) {
        break;
      }
      split.batch = batch;
      const auto rowsEnd =
          std::upper_bound(rows_.begin(), rows_.end(), tiles / batch);
      for (auto row = rows_.begin(); row != rowsEnd; ++row) {
        split.rows = *row;
        // Rows are cut before columns: a vertex works along a row.
        const bool cutsColumns = std::next(row) == rowsEnd;
        tryColumns(grouping, split, cutsColumns ? tiles / (batch * *row) : 1);
      }
    }
  }

  // From the finest cut on. Coarser cuts take more memory and longer in the
  // vertices: once either is too much, they cannot win.
  void tryColumns(const ConvGrouping &grouping, ConvSplit split,
                  std::uint64_t tiles) {
    auto column = std::upper_bound(columns_.begin(), columns_.end(), tiles);
    while (column != columns_.begin()) {
      split.columns = *--column;
      const auto plan = evaluate(problem_, limits_, grouping, split);
      if (plan.cost.tempBytes > memoryBound_ ||
          (best_ &&
           plan.cost.compute * split.serialOutChans >= best_->totalCycles())) {
        return;
      }
      consider(plan);
    }
  }

  void consider(const ConvPlan &plan) {
    const auto key = [](const ConvPlan &of) {
      return std::pair(of.totalCycles(), of.cost.tempBytes);
    };
    if (!best_ || key(plan) < key(*best_)) {
      best_ = plan;
    }
  }

  const ConvProblem &problem_;
  const PlanLimits &limits_;
  std::uint64_t memoryBound_;
  std::vector<std::uint64_t> batches_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> columns_;
  std::optional<ConvPlan> best_;
};

// The channel blocks worth trying (section 7.4).
std::vector<ConvGrouping> groupingsOf(const ConvProblem &problem,
                                      const PlanLimits &limits) {
  const auto &tile = limits.tile;
  const auto units =
      kernels::cost::convUnits(tile, problem.inputType, problem.partialsType);
  const auto weights =
      kernels::cost::weightsPerConvUnit(tile, problem.inputType);
  std::vector<unsigned> outs{units};
  for (const unsigned out : {weights, 8u, 16u}) {
    if (out >= units && out % units == 0 &&
        std::find(outs.begin(), outs.end(), out) == outs.end()) {
      outs.push_back(out);
    }
  }
  const bool is1x1 = problem.kernelElements() == 1;
  std::vector<ConvGrouping> groupings;
  for (const auto out : outs) {
    if (is1x1) {
      groupings.push_back({ConvMethod::Amp1x1, weights, out, 1, false});
      continue;
    }
    groupings.push_back({ConvMethod::AmpNx1, weights, out, 1, false});
    // Few channels: several kernel rows share a pass.
    for (const unsigned height : {2u, 4u}) {
      if (problem.inChans <= weights / height && problem.kernel[0] > 1) {
        groupings.push_back(
            {ConvMethod::AmpNx1, weights / height, out, height, false});
      }
    }
    if (limits.allowTransforms && problem.inChans < weights) {
      groupings.push_back({ConvMethod::Amp1x1, weights, out, 1, true});
    }
  }
  constexpr std::uint64_t fewChans = 4;
  if (problem.inChans <= fewChans || problem.outChans <= fewChans) {
    const bool isHalf = problem.inputType == DataType::Half;
    const bool halfPartials = problem.partialsType == DataType::Half;
    groupings.push_back({ConvMethod::HorizontalMac, isHalf ? 2u : 1u,
                         halfPartials ? 2u : 1u, 1, false});
  }
  return groupings;
}

std::optional<ConvPlan> searchWithin(const ConvProblem &problem,
                                     const PlanLimits &limits,
                                     std::uint64_t memoryBound) {
  Search search(problem, limits, memoryBound);
  const auto groupings = groupingsOf(problem, limits);
  for (const auto &grouping : groupings) {
    search.tryGrouping(grouping, 1);
  }
  // Serial steps trade cycles for memory: only when nothing else fits.
  const std::uint64_t mostSteps = limits.allowTransforms ? 64 : 1;
  for (std::uint64_t steps = 2; !search.best() && steps <= mostSteps;
       steps *= 2) {
    for (const auto &grouping : groupings) {
      search.tryGrouping(grouping, steps);
    }
  }
  return search.best();
}

} // namespace

ConvPlan planConvolution(const ConvProblem &problem, const PlanLimits &limits) {
  auto bound =
      static_cast<std::uint64_t>(limits.availableMemoryProportion *
                                 static_cast<double>(limits.bytesPerTile));
  // A bound that cannot be met is doubled, then given up.
  for (bound = std::max<std::uint64_t>(bound, 1);
       bound <= 2 * limits.bytesPerTile; bound *= 2) {
    if (const auto plan = searchWithin(problem, limits, bound)) {
      return *plan;
    }
  }
  const auto plan =
      searchWithin(problem, limits, std::numeric_limits<std::uint64_t>::max());
  if (!plan) {
    throw poputil::poplibs_error("No base plan found for unbounded plan");
  }
  return *plan;
}

ConvPlan planMatMul(const ConvProblem &problem, const PlanLimits &limits) {
  const auto plan = planConvolution(problem, limits);
  if (!limits.allowTransforms) {
    return plan;
  }
  auto transposed = problem;
  transposed.outChans = problem.outField[1];
  transposed.inField[1] = transposed.outField[1] = problem.outChans;
  auto swapped = planConvolution(transposed, limits);
  swapped.swapsOperands = true;
  return swapped.totalCycles() < plan.totalCycles() ? swapped : plan;
}

} // namespace poplin::internal
