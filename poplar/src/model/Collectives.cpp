// Prices collectives as steps of flows between the neighbours of a ring.
#include "model/Collectives.hpp"

#include "model/IpuLinks.hpp"
#include <kernels/cost/Reduction.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <numeric>

namespace poplar::model {

namespace {

using internal::TargetData;

// Where `Auto` changes its mind [V: the last public version of the library]:
// bytes that an IPU gives, below which parts meet in the middle.
struct Thresholds {
  std::uint64_t anyRanks;
  std::uint64_t moreThanFour; // ranks
  std::uint64_t moreThanEight;
};
constexpr Thresholds reduceScatterThresholds = {1245184, 4980736, 39845888};
constexpr Thresholds allGatherThresholds = {622592, 2490368, 19922944};
constexpr unsigned manyRanks = 16; // more of them always meet in the middle
// On a twisted ring, bytes of the whole tensor.
constexpr std::uint64_t quadDirectionBytes = 196608;

bool isTwisted(const TargetData &target, unsigned ipusPerRank) {
  return target.ipuLinkConfiguration == IpuLinkConfiguration::BarleyTwist &&
         ipusPerRank == 1;
}

std::uint64_t ceilDiv(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

unsigned fragmentsPerRank(CollectiveMethod method) {
  switch (method) {
  case CollectiveMethod::BidirectionalRingPair:
    return 2;
  case CollectiveMethod::QuadDirectionalRing:
    return 4;
  case CollectiveMethod::Auto:
  case CollectiveMethod::ClockwiseRing:
  case CollectiveMethod::AnticlockwiseRing:
  case CollectiveMethod::MeetInMiddleRing:
    break;
  }
  return 1;
}

// Prices one of reduce-scatter and all-gather.
class RingPricer {
public:
  RingPricer(const TargetData &target, const Collective &collective)
      : target_(target), collective_(collective),
        order_(ringOrder(target, collective.ranks, collective.ipusPerRank)) {}

  CollectiveCost run() {
    const CollectiveMethod method = methodOf(target_, collective_);
    const std::uint64_t ranks = collective_.ranks;
    const unsigned fragments = fragmentsPerRank(method);
    const std::uint64_t size = support::sizeOf(collective_.type);
    const std::uint64_t fragment =
        ceilDiv(ceilDiv(collective_.bytesPerRank, size), ranks * fragments) *
        size;
    if (method == CollectiveMethod::MeetInMiddleRing) {
      // Of an even number of ranks the one opposite is reached one way only.
      addSteps((ranks - 1) / 2, fragment, true, 2);
      addSteps(ranks % 2 == 0 ? 1 : 0, fragment, false, 1);
    } else {
      addSteps(ranks - 1, fragment, fragments > 1, fragments);
    }
    return cost_;
  }

private:
  // In each of `count` steps a rank takes in `fragments` fragments; one goes
  // over each link that the step uses.
  void addSteps(std::uint64_t count, std::uint64_t bytes, bool isBothWays,
                unsigned fragments) {
    if (count == 0) {
      return;
    }
    const bool isReduction = collective_.kind == CollectiveKind::ReduceScatter;
    cost_.steps += count;
    cost_.sync += count * target_.globalSyncCycles;
    cost_.globalExchange += count * exchangeCycles(bytes, isBothWays);
    cost_.compute += isReduction ? count * reduceCycles(fragments * bytes) : 0;
  }

  std::uint64_t exchangeCycles(std::uint64_t bytes, bool isBothWays) const {
    std::vector<IpuFlow> flows;
    const unsigned width = collective_.ipusPerRank;
    if (collective_.groups.empty()) {
      addFlows(order_, bytes, isBothWays, flows);
      return linkCycles(target_, collective_.ranks * width, flows);
    }
    for (const auto &group : collective_.groups) {
      std::vector<unsigned> ranks;
      for (unsigned member : order_) {
        ranks.push_back(group[member]);
      }
      addFlows(ranks, bytes, isBothWays, flows);
    }
    const auto groups = static_cast<unsigned>(collective_.groups.size());
    return linkCycles(target_, groups * collective_.ranks * width, flows);
  }

  // From each rank of a ring to the next.
  void addFlows(const std::vector<unsigned> &ring, std::uint64_t bytes,
                bool isBothWays, std::vector<IpuFlow> &flows) const {
    const unsigned width = collective_.ipusPerRank;
    const std::uint64_t share = ceilDiv(bytes, width);
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const unsigned from = ring[i] * width;
      const unsigned to = ring[(i + 1) % ring.size()] * width;
      for (unsigned ipu = 0; ipu < width; ++ipu) {
        flows.push_back({from + ipu, to + ipu, share});
        if (isBothWays) {
          flows.push_back({to + ipu, from + ipu, share});
        }
      }
    }
  }

  // One addition of `bytes` that lie spread over the rank's tiles.
  std::uint64_t reduceCycles(std::uint64_t bytes) const {
    kernels::cost::TileSpec tile;
    tile.workers = target_.workerContexts;
    tile.dataPathBytes = target_.dataPathBits / 8;
    const std::uint64_t elements =
        ceilDiv(bytes / support::sizeOf(collective_.type),
                std::uint64_t{collective_.ipusPerRank} * target_.tilesPerIPU);
    return kernels::cost::convReduceAdd(tile, collective_.type,
                                        collective_.type, elements, 2);
  }

  const TargetData &target_;
  const Collective &collective_;
  std::vector<unsigned> order_;
  CollectiveCost cost_;
};

} // namespace

std::vector<unsigned> ringOrder(const TargetData &target, unsigned ranks,
                                unsigned ipusPerRank) {
  std::vector<unsigned> order(ranks);
  std::iota(order.begin(), order.end(), 0U);
  if (isTwisted(target, ipusPerRank)) {
    // Up the ladder from side to side: 0, 1, 3, 2, 4, 5, ...
    for (std::size_t i = 2; i + 1 < order.size(); i += 4) {
      std::swap(order[i], order[i + 1]);
    }
  } else if (target.ipuLinkTopology != IpuLinkTopology::Torus) {
    // Up by the even ones and back by the odd: 0, 2, 4, ..., 5, 3, 1.
    std::stable_partition(order.begin(), order.end(),
                          [](unsigned rank) { return rank % 2 == 0; });
    std::reverse(order.begin() + (ranks + 1) / 2, order.end());
  }
  return order;
}

CollectiveMethod methodOf(const TargetData &target,
                          const Collective &collective) {
  if (collective.method != CollectiveMethod::Auto) {
    return collective.method;
  }
  const unsigned ranks = collective.ranks;
  if (ranks <= 2) {
    return CollectiveMethod::ClockwiseRing;
  }
  if (collective.ipusPerRank > 1) {
    return target.ipuLinkTopology == IpuLinkTopology::Torus
               ? CollectiveMethod::MeetInMiddleRing
               : CollectiveMethod::ClockwiseRing;
  }
  if (isTwisted(target, collective.ipusPerRank)) {
    return collective.bytesPerRank < quadDirectionBytes
               ? CollectiveMethod::MeetInMiddleRing
               : CollectiveMethod::QuadDirectionalRing;
  }
  const bool isGather = collective.kind == CollectiveKind::AllGather;
  const Thresholds &limits =
      isGather ? allGatherThresholds : reduceScatterThresholds;
  const std::uint64_t bytes =
      isGather ? collective.bytesPerRank / ranks : collective.bytesPerRank;
  const bool isSmall =
      bytes < limits.anyRanks || (ranks > 4 && bytes < limits.moreThanFour) ||
      (ranks > 8 && bytes < limits.moreThanEight) || ranks > manyRanks;
  return isSmall ? CollectiveMethod::MeetInMiddleRing
                 : CollectiveMethod::BidirectionalRingPair;
}

CollectiveCost priceCollective(const TargetData &target,
                               const Collective &collective) {
  support::requireInternal(collective.ranks > 0 && collective.ipusPerRank > 0,
                           "a collective of {} ranks of {} IPUs",
                           collective.ranks, collective.ipusPerRank);
  if (collective.kind != CollectiveKind::AllReduce) {
    return RingPricer(target, collective).run();
  }
  Collective half = collective;
  half.kind = CollectiveKind::ReduceScatter;
  CollectiveCost cost = RingPricer(target, half).run();
  half.kind = CollectiveKind::AllGather;
  const CollectiveCost gather = RingPricer(target, half).run();
  cost.steps += gather.steps;
  cost.sync += gather.sync;
  cost.globalExchange += gather.globalExchange;
  cost.compute += gather.compute;
  return cost;
}

} // namespace poplar::model
