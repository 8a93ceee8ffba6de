// Costs of collectives against figures worked out by hand.
#include "ModelGraph.hpp"

#include "model/Collectives.hpp"
#include "model/Timeline.hpp"

#include <gtest/gtest.h>

namespace poplar::testing {
namespace {

using model::Collective;
using model::CollectiveCost;
using model::CollectiveKind;
using model::CollectiveMethod;
using model::priceCollective;

// A cycle is a nanosecond: a rail takes 27,200 bytes in 1,000, a hop takes 600
// and a sync 600.
TargetData ringTarget(IpuLinkTopology topology = IpuLinkTopology::Mesh) {
  TargetData target;
  target.clockHz = 1e9;
  target.ipuLinkTopology = topology;
  return target;
}

constexpr std::uint64_t partBytes = 27200;

Collective gather(unsigned ranks, CollectiveMethod method) {
  return {.kind = CollectiveKind::AllGather,
          .method = method,
          .ranks = ranks,
          .bytesPerRank = ranks * partBytes};
}

TEST(ModelCollectives, RingsFollowTheLinks) {
  using Order = std::vector<unsigned>;
  TargetData target = ringTarget();
  EXPECT_EQ(model::ringOrder(target, 8, 1), (Order{0, 2, 4, 6, 7, 5, 3, 1}));
  EXPECT_EQ(model::ringOrder(target, 5, 2), (Order{0, 2, 4, 3, 1}));
  target.ipuLinkTopology = IpuLinkTopology::Torus;
  EXPECT_EQ(model::ringOrder(target, 4, 1), (Order{0, 1, 2, 3}));
  target.ipuLinkConfiguration = IpuLinkConfiguration::BarleyTwist;
  EXPECT_EQ(model::ringOrder(target, 8, 1), (Order{0, 1, 3, 2, 4, 5, 7, 6}));
  EXPECT_EQ(model::ringOrder(target, 4, 2), (Order{0, 1, 2, 3}));
}

// Pairs that are neighbours have links of their own; those that are not share
// the rails with others.
TEST(ModelCollectives, GroupsShareTheLinks) {
  const TargetData target = ringTarget();
  const auto cycles = [&](std::vector<std::vector<unsigned>> groups) {
    Collective pairs = gather(2, CollectiveMethod::ClockwiseRing);
    pairs.groups = std::move(groups);
    return priceCollective(target, pairs).globalExchange;
  };
  const std::uint64_t alone = cycles({{0, 1}});
  EXPECT_EQ(alone,
            priceCollective(target, gather(2, CollectiveMethod::ClockwiseRing))
                .globalExchange);
  EXPECT_EQ(cycles({{0, 1}, {2, 3}, {4, 5}, {6, 7}}), alone);
  EXPECT_GT(cycles({{0, 4}, {1, 5}, {2, 6}, {3, 7}}), 2 * alone);
}

TEST(ModelCollectives, AllGatherOfFourOnAMesh) {
  const TargetData target = ringTarget();
  const auto cycles = [&](CollectiveMethod method) {
    return priceCollective(target, gather(4, method)).total();
  };
  // Three steps of a part, a sync and a hop; half a part; two steps; a quarter.
  EXPECT_EQ(cycles(CollectiveMethod::ClockwiseRing), 3 * (1000 + 600 + 600));
  EXPECT_EQ(cycles(CollectiveMethod::AnticlockwiseRing), 3 * (1000 + 1200));
  EXPECT_EQ(cycles(CollectiveMethod::BidirectionalRingPair), 3 * (500 + 1200));
  EXPECT_EQ(cycles(CollectiveMethod::MeetInMiddleRing), 2 * (1000 + 1200));
  EXPECT_EQ(cycles(CollectiveMethod::QuadDirectionalRing), 3 * (250 + 1200));
}

TEST(ModelCollectives, ReduceScatterAddsWhatArrives) {
  const TargetData target = ringTarget();
  Collective collective = gather(4, CollectiveMethod::ClockwiseRing);
  collective.kind = CollectiveKind::ReduceScatter;
  const CollectiveCost cost = priceCollective(target, collective);
  EXPECT_EQ(cost.steps, 3);
  EXPECT_EQ(cost.sync, 3 * 600);
  EXPECT_EQ(cost.globalExchange, 3 * 1600);
  // 6,800 floats are five on each tile: four are one round of the workers that
  // none has whole, so all wait for the tail: 6 (32 + 2 x 2 + 13).
  EXPECT_EQ(cost.compute, 3 * 6 * (32 + 17));
  collective.method = CollectiveMethod::MeetInMiddleRing;
  // The first step takes in two parts, ten floats a tile: 2 + 1 rounds.
  EXPECT_EQ(priceCollective(target, collective).compute, 2 * 6 * (32 + 17));
}

TEST(ModelCollectives, AllReduceIsBothHalves) {
  const TargetData target = ringTarget();
  Collective collective = gather(8, CollectiveMethod::BidirectionalRingPair);
  const std::uint64_t second = priceCollective(target, collective).total();
  collective.kind = CollectiveKind::ReduceScatter;
  const std::uint64_t first = priceCollective(target, collective).total();
  collective.kind = CollectiveKind::AllReduce;
  const CollectiveCost cost = priceCollective(target, collective);
  EXPECT_EQ(cost.total(), first + second);
  EXPECT_EQ(cost.steps, 14);
}

// 2 (N - 1) / N of the bytes, over both directions of a rail.
TEST(ModelCollectives, LargeAllReducesApproachTheBandwidth) {
  Collective collective{.method = CollectiveMethod::BidirectionalRingPair,
                        .ranks = 16,
                        .bytesPerRank = 1U << 30};
  const double ideal = 2.0 * 15 / 16 * (1U << 30) / (2 * 27.2e9) * 1e9;
  const auto exchange = static_cast<double>(
      priceCollective(ringTarget(), collective).globalExchange);
  EXPECT_NEAR(exchange, ideal, 0.01 * ideal);
}

TEST(ModelCollectives, NeighboursOnATorusAreTwoHopsApart) {
  const TargetData target = ringTarget(IpuLinkTopology::Torus);
  EXPECT_EQ(priceCollective(target, gather(8, CollectiveMethod::ClockwiseRing))
                .total(),
            7 * (1000 + 600 + 2 * 600));
}

TEST(ModelCollectives, RanksOfTwoIpusShareTheirParts) {
  Collective collective = gather(4, CollectiveMethod::ClockwiseRing);
  collective.ipusPerRank = 2;
  // Ranks are rungs: half a part on each rail, every second rung.
  EXPECT_EQ(priceCollective(ringTarget(), collective).total(),
            3 * (500 + 600 + 2 * 600));
}

TEST(ModelCollectives, DomainsMakeTheGatewayTheNeck) {
  TargetData target = ringTarget();
  target.ipuLinkDomainSize = 4;
  // The ring leaves a domain on one IPU and comes back on another.
  EXPECT_EQ(priceCollective(target, gather(8, CollectiveMethod::ClockwiseRing))
                .globalExchange,
            7 * (27200 * 4 / 25 + 2500));
}

TEST(ModelCollectives, OneRankHasNothingToDo) {
  EXPECT_EQ(
      priceCollective(ringTarget(), gather(1, CollectiveMethod::Auto)).total(),
      0);
}

struct Choice {
  CollectiveKind kind;
  unsigned ranks;
  unsigned ipusPerRank;
  std::uint64_t bytes; // that an IPU gives
  IpuLinkTopology topology;
  IpuLinkConfiguration configuration;
  CollectiveMethod method;
};

TEST(ModelCollectives, ChoosesByBytesAndRanks) {
  using enum CollectiveKind;
  using enum CollectiveMethod;
  constexpr auto mesh = IpuLinkTopology::Mesh;
  constexpr auto torus = IpuLinkTopology::Torus;
  constexpr auto plain = IpuLinkConfiguration::Default;
  constexpr auto twist = IpuLinkConfiguration::BarleyTwist;
  const Choice choices[] = {
      {AllGather, 2, 1, 1U << 30, mesh, plain, ClockwiseRing},
      {AllGather, 8, 2, 1, mesh, plain, ClockwiseRing},
      {AllGather, 8, 2, 1U << 30, torus, plain, MeetInMiddleRing},
      {AllGather, 4, 1, 622591, mesh, plain, MeetInMiddleRing},
      {AllGather, 4, 1, 622592, mesh, plain, BidirectionalRingPair},
      {AllGather, 8, 1, 2490367, mesh, plain, MeetInMiddleRing},
      {AllGather, 8, 1, 2490368, mesh, plain, BidirectionalRingPair},
      {AllGather, 16, 1, 19922943, mesh, plain, MeetInMiddleRing},
      {AllGather, 16, 1, 19922944, mesh, plain, BidirectionalRingPair},
      {AllGather, 32, 1, 1U << 30, mesh, plain, MeetInMiddleRing},
      {AllGather, 16, 1, 196608 / 16 - 1, torus, twist, MeetInMiddleRing},
      {AllGather, 16, 1, 196608 / 16, torus, twist, QuadDirectionalRing},
      {ReduceScatter, 4, 1, 1245183, mesh, plain, MeetInMiddleRing},
      {ReduceScatter, 4, 1, 1245184, mesh, plain, BidirectionalRingPair},
      {ReduceScatter, 8, 1, 4980735, torus, plain, MeetInMiddleRing},
      {ReduceScatter, 16, 1, 39845888, torus, plain, BidirectionalRingPair},
      {ReduceScatter, 16, 1, 196607, torus, twist, MeetInMiddleRing},
      {ReduceScatter, 16, 1, 196608, torus, twist, QuadDirectionalRing},
  };
  for (const Choice &choice : choices) {
    TargetData target = ringTarget(choice.topology);
    target.ipuLinkConfiguration = choice.configuration;
    Collective collective{.kind = choice.kind,
                          .ranks = choice.ranks,
                          .ipusPerRank = choice.ipusPerRank,
                          .bytesPerRank = choice.bytes};
    if (choice.kind == AllGather) {
      collective.bytesPerRank *= choice.ranks;
    }
    EXPECT_EQ(methodOf(target, collective), choice.method)
        << choice.ranks << " ranks, " << choice.bytes << " bytes";
  }
}

// A ring written with copies between replicas is the collective without its
// additions.
TEST(ModelCollectives, AreWhatCopiesBetweenReplicasCost) {
  ModelGraph graph(ringTarget());
  graph.data.replicationFactor = 4;
  const auto from = graph.addVariable(partBytes / 4, {.parts = 1472});
  const auto to = graph.addVariable(partBytes / 4, {.parts = 1472});
  const ProgramPtr copy = ModelGraph::make(CrossReplicaCopyNode{
      graph.view(from), graph.view(to), {{0, 2}, {2, 3}, {3, 1}, {1, 0}}});
  model::StepTable steps(graph.data);
  const model::ExecutionCost cost =
      model::Timeline(steps).run(ModelGraph::repeat(3, copy));
  const CollectiveCost expected =
      priceCollective(ringTarget(), gather(4, CollectiveMethod::ClockwiseRing));
  EXPECT_EQ(cost.ipus[0].globalExchange, expected.globalExchange);
  EXPECT_EQ(cost.ipus[0].sync, expected.sync);
}

} // namespace
} // namespace poplar::testing
