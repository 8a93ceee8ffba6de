// What collectives between ranks cost: rings of neighbours, step by step. A
// program that runs one prices it here, whatever built it.
#pragma once

#include <poplar/internal/Collective.hpp>
#include <poplar/internal/TargetData.hpp>
#include <support/DataType.hpp>

#include <cstdint>
#include <vector>

namespace poplar::model {

using internal::CollectiveKind; // of the first three
using internal::CollectiveMethod;

struct Collective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  CollectiveMethod method = CollectiveMethod::Auto;
  unsigned ranks = 1;
  unsigned ipusPerRank = 1; // rank r has IPUs r * ipusPerRank and on
  // Where several groups of as many ranks do this at the same time: the numbers
  // of each group's ranks. Empty for one group of all.
  std::vector<std::vector<unsigned>> groups = {};
  // Of a whole tensor: what a rank gives to a reduce-scatter, and what it gets
  // of an all-gather.
  std::uint64_t bytesPerRank = 0;
  support::DataType type = support::DataType::Float;
};

// The cycles of every IPU that takes part.
struct CollectiveCost {
  std::uint64_t steps = 0;
  std::uint64_t sync = 0;
  std::uint64_t globalExchange = 0;
  std::uint64_t compute = 0; // adding what arrived to what is there

  std::uint64_t total() const { return sync + globalExchange + compute; }
};

// Ranks in the order of the ring: each neighbour is near on the links.
std::vector<unsigned> ringOrder(const internal::TargetData &target,
                                unsigned ranks, unsigned ipusPerRank);

// What Auto stands for; any other method as it is. An all-reduce chooses for
// its halves: ask for them.
CollectiveMethod methodOf(const internal::TargetData &target,
                          const Collective &collective);

// `target` may be that of one rank: its numIPUs is not used.
CollectiveCost priceCollective(const internal::TargetData &target,
                               const Collective &collective);

} // namespace poplar::model
