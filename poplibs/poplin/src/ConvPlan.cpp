// The search over splits.
#include "ConvCandidate.hpp"

#include <poputil/exceptions.hpp>
#include <support/Logging.hpp>

#include <algorithm>
#include <limits>

namespace poplin::internal {

using kernels::cost::ceilDiv;

namespace {

constexpr support::Logger logger(support::LogChannel::Poplibs, "poplin");

using Splits = std::vector<std::uint64_t>;

// The splits of n worth trying, ascending: the smallest one for each largest
// share, and the smallest even one where evenness matters.
Splits splitsOf(std::uint64_t n, std::uint64_t limit,
                const std::optional<std::uint64_t> &fixed,
                bool wantEven = false) {
  if (fixed) {
    return *fixed <= limit ? Splits{*fixed} : Splits{};
  }
  Splits splits;
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

// The fastest plan within a bound of temporary memory.
class Search {
public:
  Search(const PlanLimits &limits, std::uint64_t memoryBound,
         bool minimisesMemory)
      : limits_(limits), memoryBound_(memoryBound),
        minimisesMemory_(minimisesMemory) {}

  // Tries all cuts of a candidate with these serial steps.
  void tryCandidate(const ConvCandidate &candidate, std::uint64_t serialIn,
                    std::uint64_t serialOut) {
    candidate_ = &candidate;
    const auto &problem = candidate.problem;
    const auto &fixed = limits_.constraints;
    const std::uint64_t tiles = limits_.tiles;
    batches_ = splitsOf(problem.batch, tiles, fixed.batchSplit);
    rows_ = splitsOf(problem.outField[0], tiles, fixed.rowSplit);
    columns_ = splitsOf(problem.outField[1], tiles, fixed.columnSplit);
    ConvSplit split;
    split.serialInChans = serialIn;
    split.serialOutChans = serialOut;
    const auto outGroups = ceilDiv(candidate.outGroups(), serialOut);
    for (const auto groups :
         splitsOf(candidate.groupGroups(), tiles, fixed.groupSplit)) {
      split.groups = groups;
      const auto outs =
          channelSplits(outGroups, tiles / groups, fixed.outChanSplit, true);
      // From the finest on: good plans are found early and prune the rest.
      for (auto out = outs.rbegin(); out != outs.rend(); ++out) {
        split.outChans = *out;
        tryInputChans(split);
      }
    }
  }

  const std::optional<ConvPlan> &best() const { return best_; }
  // Memory kept a plan out that might have been faster.
  bool isShortOfMemory() const { return isShortOfMemory_; }
  bool canImprove(double leastCycles) const {
    return !best_ || minimisesMemory_ ||
           leastCycles < static_cast<double>(best_->totalCycles());
  }

private:
  // A SLIC vertex has one block of channels in and one out.
  Splits channelSplits(std::uint64_t groups, std::uint64_t limit,
                       std::optional<std::uint64_t> fixed,
                       bool wantEven) const {
    if (candidate_->grouping.method == ConvMethod::Slic) {
      fixed = groups;
    }
    return splitsOf(groups, limit, fixed, wantEven);
  }

  void tryInputChans(ConvSplit split) {
    const auto &fixed = limits_.constraints;
    const auto tiles = limits_.tiles / (split.groups * split.outChans);
    const auto inGroups = ceilDiv(candidate_->inGroups(), split.serialInChans);
    for (const auto in :
         channelSplits(inGroups, tiles, fixed.inChanSplit, false)) {
      split.inChans = in;
      for (const auto kernel : splitsOf(candidate_->problem.kernel[0],
                                        tiles / in, fixed.kernelSplit)) {
        split.kernelRows = kernel;
        tryField(split, tiles / (in * kernel));
      }
    }
  }

  // `tiles` are left for the field.
  void tryField(ConvSplit split, std::uint64_t tiles) {
    bound_ = fieldBound(*candidate_, limits_, split);
    if (!mayWin(tiles)) {
      return;
    }
    for (auto batch = batches_.rbegin(); batch != batches_.rend(); ++batch) {
      if (*batch > tiles) {
        continue;
      }
      split.batch = *batch;
      for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
        if (*row <= tiles / *batch) {
          split.rows = *row;
          tryColumns(split, tiles / (*batch * *row));
        }
      }
    }
  }

  // From the finest cut on. Coarser cuts take more memory and longer in the
  // vertices: once either is too much, they cannot win.
  void tryColumns(ConvSplit split, std::uint64_t tiles) {
    auto column = std::upper_bound(columns_.begin(), columns_.end(), tiles);
    while (column != columns_.begin()) {
      split.columns = *--column;
      if (!mayWin(split.field())) {
        return;
      }
      const auto plan = evaluate(*candidate_, limits_, split);
      if (plan.cost.tempBytes > memoryBound_) {
        isShortOfMemory_ = true;
        return;
      }
      consider(plan);
      if (minimisesMemory_) {
        return;
      }
    }
  }

  // Whether a cut of the field into so many tiles can be the best one.
  bool mayWin(std::uint64_t fieldTiles) {
    if (!canImprove(bound_.cycles(fieldTiles))) {
      return false;
    }
    const auto bytes = static_cast<std::uint64_t>(bound_.bytes(fieldTiles));
    if (bytes > memoryBound_) {
      isShortOfMemory_ = true;
      return false;
    }
    return !minimisesMemory_ || !best_ || bytes <= best_->cost.tempBytes;
  }

  void consider(const ConvPlan &plan) {
    const auto key = [this](const ConvPlan &of) {
      return minimisesMemory_ ? std::pair(of.cost.tempBytes, of.totalCycles())
                              : std::pair(of.totalCycles(), of.cost.tempBytes);
    };
    if (!best_ || key(plan) < key(*best_)) {
      best_ = plan;
    }
  }

  const PlanLimits &limits_;
  std::uint64_t memoryBound_;
  bool minimisesMemory_;
  const ConvCandidate *candidate_ = nullptr;
  Splits batches_;
  Splits rows_;
  Splits columns_;
  FieldBound bound_;
  bool isShortOfMemory_ = false;
  std::optional<ConvPlan> best_;
};

std::optional<ConvPlan>
searchWithin(const std::vector<ConvCandidate> &candidates,
             const PlanLimits &limits, std::uint64_t memoryBound,
             bool minimisesMemory) {
  Search search(limits, memoryBound, minimisesMemory);
  const auto &fixed = limits.constraints;
  const auto trySteps = [&](std::uint64_t in, std::uint64_t out) {
    for (const auto &candidate : candidates) {
      if (search.canImprove(candidate.leastCycles(limits)) &&
          in <= candidate.inGroups() && out <= candidate.outGroups()) {
        search.tryCandidate(candidate, in, out);
      }
    }
  };
  if (fixed.serialInChans || fixed.serialOutChans) {
    trySteps(fixed.serialInChans.value_or(1), fixed.serialOutChans.value_or(1));
    return search.best();
  }
  trySteps(1, 1);
  // Steps trade cycles for memory: of no use where memory suffices.
  constexpr std::uint64_t mostSteps = 128;
  const bool allowsSteps = limits.allowTransforms;
  for (std::uint64_t steps = 2; allowsSteps && steps <= mostSteps &&
                                (minimisesMemory || search.isShortOfMemory());
       steps *= 2) {
    const auto before = search.best() ? search.best()->totalCycles() : 0;
    trySteps(1, steps);
    trySteps(steps, 1);
    if (!minimisesMemory && before != 0 &&
        search.best()->totalCycles() == before) {
      break;
    }
  }
  return search.best();
}

ConvPlan plan(const ConvProblem &problem, const PlanLimits &limits,
              bool isMatMul) {
  const auto candidates = candidatesOf(problem, limits, isMatMul);
  constexpr auto unbounded = std::numeric_limits<std::uint64_t>::max();
  const bool minimisesMemory = limits.availableMemoryProportion == 0;
  std::optional<ConvPlan> best;
  if (!minimisesMemory) {
    const auto target =
        static_cast<std::uint64_t>(limits.availableMemoryProportion *
                                   static_cast<double>(limits.bytesPerTile));
    const auto first = std::max<std::uint64_t>(target, 1);
    for (auto bound = first; !best; bound *= 2) {
      if (bound != first) {
        logger.warn("convolution planner unable to meet memory target. "
                    "Optimizing for minimum memory...");
      }
      if (bound > 2 * limits.bytesPerTile) {
        break;
      }
      best = searchWithin(candidates, limits, bound, false);
    }
  }
  if (!best) {
    best = searchWithin(candidates, limits, unbounded, minimisesMemory);
  }
  if (!best) {
    throw poputil::poplibs_error("No base plan found for unbounded plan");
  }
  return *best;
}

} // namespace

ConvPlan planConvolution(const ConvProblem &problem, const PlanLimits &limits) {
  return plan(problem, limits, false);
}

ConvPlan planMatMul(const ConvProblem &problem, const PlanLimits &limits) {
  auto best = plan(problem, limits, true);
  if (limits.pass != ConvPass::None && limits.allowTransforms) {
    if (const auto joint = jointPlan(problem, limits, best)) {
      return *joint;
    }
  }
  return best;
}

} // namespace poplin::internal
