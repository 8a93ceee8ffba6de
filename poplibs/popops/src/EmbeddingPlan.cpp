// The planner of lookups (section 7.11): a search over the ways to cut table,
// rows and indices over tiles.
#include <popops/internal/SlicePlan.hpp>

#include <kernels/cost/Cast.hpp>
#include <kernels/cost/Memory.hpp>
#include <kernels/cost/Reduction.hpp>
#include <poplar/internal/Access.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace popops::internal {

using kernels::cost::ceilDiv;
using kernels::cost::Cycles;
using kernels::cost::TileSpec;

namespace {

constexpr std::uint64_t indexBytes = 4;
// What a second stage takes beside its payload, and the slots of each fragment
// that arrives (section 4.4).
constexpr Cycles exchangeCycles = 126 + 84;
constexpr Cycles slotsPerFragment = 3;

// Rows are cut in whole words of 4 bytes.
std::uint64_t grainElements(const LookupWork &work) {
  return std::max<std::uint64_t>(1, 4 / support::sizeOf(work.type));
}

struct Cost {
  Cycles cycles = 0;
  std::uint64_t temporaryBytes = 0;
};

class Pricing {
public:
  Pricing(const poplar::Graph &graph, const SliceOptions &options)
      : tile_(poputil::internal::tileSpec(graph)),
        bytesPerCycle_(graph.getTarget().getExchangeBytesPerCycle()),
        options_(options) {}

  Cost of(const EmbeddingPlan &plan) const {
    Cost total;
    if (options_.usedForSlice) {
      add(total, slice(plan));
    }
    if (options_.usedForUpdate) {
      add(total, update(plan));
    }
    return total;
  }

private:
  static void add(Cost &total, const Cost &part) {
    total.cycles += part.cycles;
    total.temporaryBytes = std::max(total.temporaryBytes, part.temporaryBytes);
  }

  Cycles exchange(std::uint64_t bytes) const {
    return kernels::cost::exchange(bytes, bytesPerCycle_, 1);
  }

  Cost slice(const EmbeddingPlan &plan) const {
    const auto share = plan.share();
    const auto rowBytes = share.elements * support::sizeOf(share.type);
    const auto indices = share.lookups * indexBytes;
    Cost cost;
    cost.temporaryBytes = indices + share.lookups * rowBytes;
    cost.cycles = exchange(indices) + kernels::cost::multiSlice(tile_, share);
    if (plan.lookupSplit > 1) { // every part of the indices sees the table
      const auto table = plan.entriesPerTile() * rowBytes;
      cost.cycles += exchange(table);
      cost.temporaryBytes += table;
    }
    if (plan.entrySplit > 1) { // each row is then taken from its part
      auto second = share;
      second.lookups = ceilDiv(share.lookups, plan.entrySplit);
      second.inRange = second.lookups;
      const auto candidates = plan.entrySplit * second.lookups * rowBytes;
      cost.cycles +=
          exchangeCycles +
          std::max(exchange(candidates), slotsPerFragment * plan.entrySplit) +
          kernels::cost::multiSlice(tile_, second);
      cost.temporaryBytes += candidates;
    }
    return cost;
  }

  Cost update(const EmbeddingPlan &plan) const {
    const auto share = plan.share();
    const auto size = support::sizeOf(share.type);
    const auto received = share.lookups * (indexBytes + share.elements * size);
    Cost cost;
    cost.temporaryBytes = received;
    cost.cycles =
        exchange(received) + kernels::cost::multiUpdateOp(tile_, share, true);
    if (plan.lookupSplit > 1) { // partial tables, added up
      const auto table = plan.entriesPerTile() * share.elements;
      const auto outputs = ceilDiv(table, plan.lookupSplit);
      cost.temporaryBytes += 2 * table * size;
      cost.cycles +=
          kernels::cost::fill(tile_, share.type, perWorker(tile_, table)) *
              tile_.workers +
          exchangeCycles +
          std::max(exchange(table * size),
                   slotsPerFragment * plan.lookupSplit) +
          tile_.workers *
              kernels::cost::reduceStrided(tile_, share.type, share.type,
                                           perWorker(tile_, outputs),
                                           plan.lookupSplit, true) +
          kernels::cost::scaledAdd(tile_, share.type, share.type, outputs,
                                   false, false);
    }
    return cost;
  }

  TileSpec tile_;
  double bytesPerCycle_;
  SliceOptions options_;
};

// The smallest number of parts for each size that parts of `n` can have, up to
// `most` parts.
std::vector<std::uint64_t> splitsOf(std::uint64_t n, std::uint64_t most) {
  std::vector<std::uint64_t> splits;
  for (std::uint64_t parts = 1; parts <= std::min(n, most); ++parts) {
    const auto smallest = ceilDiv(n, ceilDiv(n, parts));
    if (splits.empty() || splits.back() != smallest) {
      splits.push_back(smallest);
    }
  }
  return splits;
}

} // namespace

std::uint64_t EmbeddingPlan::elementsPerTile() const {
  const auto grain = grainElements(work);
  return std::min(work.rowElements,
                  ceilDiv(ceilDiv(work.rowElements, grain), elementSplit) *
                      grain);
}

std::uint64_t EmbeddingPlan::entriesPerTile() const {
  return ceilDiv(work.entries, entrySplit);
}

kernels::cost::LookupShare EmbeddingPlan::share() const {
  const auto lookups =
      ceilDiv(work.groups, groupSplit) * ceilDiv(work.lookups, lookupSplit);
  // Indices are taken to be spread evenly over the table.
  return {.type = work.type,
          .lookups = lookups,
          .inRange = ceilDiv(lookups * entriesPerTile(),
                             std::max<std::uint64_t>(work.entries, 1)),
          .elements = elementsPerTile()};
}

SlicePlan SlicePlanAccess::make(const EmbeddingPlan &plan) {
  SlicePlan result;
  result.data_ = std::make_shared<const EmbeddingPlan>(plan);
  return result;
}

namespace {

// Rows are cut over the tiles, every tile sees all indices.
EmbeddingPlan planRows(const poplar::Graph &graph, const LookupWork &work) {
  EmbeddingPlan plan{work};
  const std::uint64_t tiles = graph.getTarget().getTilesPerIPU();
  plan.groupSplit = std::clamp<std::uint64_t>(work.groups, 1, tiles);
  plan.elementSplit =
      std::clamp<std::uint64_t>(ceilDiv(work.rowElements, grainElements(work)),
                                1, tiles / plan.groupSplit);
  return plan;
}

} // namespace

EmbeddingPlan planLookups(const poplar::Graph &graph, const LookupWork &work,
                          const SliceOptions &options) {
  const Pricing pricing(graph, options);
  const auto &target = graph.getTarget();
  const std::uint64_t tiles = target.getTilesPerIPU();
  const auto limit =
      static_cast<std::uint64_t>(options.availableMemoryProportion *
                                 static_cast<double>(target.getBytesPerTile()));
  const auto grains = ceilDiv(work.rowElements, grainElements(work));
  EmbeddingPlan best = planRows(graph, work);
  // Plans that fit the memory come first, the others by the memory they take.
  using Rank = std::tuple<bool, std::uint64_t, std::uint64_t>;
  const auto rankOf = [&](const EmbeddingPlan &plan) -> Rank {
    const Cost cost = pricing.of(plan);
    const bool isTooLarge = cost.temporaryBytes > limit;
    return isTooLarge ? Rank{true, cost.temporaryBytes, cost.cycles}
                      : Rank{false, cost.cycles, cost.temporaryBytes};
  };
  Rank bestRank = rankOf(best);
  EmbeddingPlan plan{work};
  plan.groupSplit = std::clamp<std::uint64_t>(work.groups, 1, tiles);
  const auto left = tiles / plan.groupSplit;
  for (const auto elements :
       splitsOf(std::max<std::uint64_t>(grains, 1), left)) {
    for (const auto entries :
         splitsOf(std::max<std::uint64_t>(work.entries, 1), left / elements)) {
      for (const auto lookups :
           splitsOf(std::max<std::uint64_t>(work.lookups, 1),
                    left / (elements * entries))) {
        plan.elementSplit = elements;
        plan.entrySplit = entries;
        plan.lookupSplit = lookups;
        const Rank rank = rankOf(plan);
        if (rank < bestRank) {
          bestRank = rank;
          best = plan;
        }
      }
    }
  }
  return best;
}

EmbeddingPlan ownPlan(poplar::Graph &graph, const LookupWork &work,
                      bool isUpdate) {
  using Plans = std::map<std::pair<LookupWork, bool>, EmbeddingPlan>;
  auto &slot =
      poplar::internal::graphData(graph).libraryData["popops/lookupPlans"];
  if (!slot) {
    slot = std::make_shared<Plans>();
  }
  auto &plans = *static_cast<Plans *>(slot.get());
  auto at = plans.find({work, isUpdate});
  if (at == plans.end()) {
    SliceOptions options;
    options.usedForSlice = !isUpdate;
    options.usedForUpdate = isUpdate;
    at = plans
             .emplace(std::pair(work, isUpdate),
                      planLookups(graph, work, options))
             .first;
  }
  return at->second;
}

} // namespace popops::internal
