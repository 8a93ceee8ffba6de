// The links between IPUs: hand-computed figures, and every way hop by hop.
#include "model/IpuLinks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>

namespace poplar::testing {
namespace {

using internal::TargetData;
using model::IpuFlow;
using model::linkCycles;

// A cycle is a nanosecond: a rail takes 27,200 bytes in 1,000 and a hop 600.
TargetData linkTarget(IpuLinkTopology topology) {
  TargetData target;
  target.clockHz = 1e9;
  target.ipuLinkTopology = topology;
  return target;
}

constexpr std::uint64_t railBytes = 27200;

std::uint64_t cycles(const TargetData &target, unsigned ipus,
                     std::vector<IpuFlow> flows) {
  return linkCycles(target, ipus, flows);
}

TEST(ModelLinks, MeshGoesAlongTheRail) {
  const TargetData mesh = linkTarget(IpuLinkTopology::Mesh);
  EXPECT_EQ(cycles(mesh, 8, {{0, 6, railBytes}}), 1000 + 3 * 600);
  // The other rail: across first.
  EXPECT_EQ(cycles(mesh, 8, {{0, 7, railBytes}}), 1000 + 4 * 600);
  // Six links to the partner.
  EXPECT_EQ(cycles(mesh, 8, {{2, 3, 3 * railBytes}}), 1000 + 600);
  EXPECT_EQ(cycles(mesh, 8, {}), 0);
  EXPECT_EQ(cycles(mesh, 8, {{3, 3, railBytes}}), 0);
}

TEST(ModelLinks, FlowsThatShareAHopWaitForEachOther) {
  const TargetData mesh = linkTarget(IpuLinkTopology::Mesh);
  EXPECT_EQ(cycles(mesh, 8, {{0, 4, railBytes}, {2, 6, railBytes}}),
            2000 + 2 * 600);
  // The other direction, and the other rail, are other links.
  EXPECT_EQ(cycles(mesh, 8, {{0, 4, railBytes}, {6, 2, railBytes}}),
            1000 + 2 * 600);
  EXPECT_EQ(cycles(mesh, 8, {{0, 4, railBytes}, {1, 5, railBytes}}),
            1000 + 2 * 600);
}

TEST(ModelLinks, TorusGoesTheShorterWayRound) {
  const TargetData torus = linkTarget(IpuLinkTopology::Torus);
  EXPECT_EQ(cycles(torus, 8, {{0, 6, railBytes}}), 1000 + 600);
  EXPECT_EQ(cycles(torus, 8, {{6, 0, railBytes}}), 1000 + 600);
  // Two rungs away either way: up, by way of 0.
  EXPECT_EQ(cycles(torus, 8, {{6, 2, railBytes}, {0, 2, railBytes}}),
            2000 + 2 * 600);
}

TEST(ModelLinks, LineHasNoRungs) {
  const TargetData line = linkTarget(IpuLinkTopology::Line);
  EXPECT_EQ(cycles(line, 4, {{0, 1, railBytes}}), 1000 + 600);
  EXPECT_EQ(cycles(line, 4, {{3, 0, railBytes}, {2, 1, railBytes}}),
            2000 + 3 * 600);
}

TEST(ModelLinks, DomainsExchangeThroughGateways) {
  TargetData target = linkTarget(IpuLinkTopology::Mesh);
  target.ipuLinkDomainSize = 4;
  // 6.25 GB/s out of an IPU and into one; 2.5 us to the next domain.
  EXPECT_EQ(cycles(target, 16, {{3, 4, 6250}}), 1000 + 2500);
  EXPECT_EQ(cycles(target, 16, {{3, 4, 6250}, {2, 4, 6250}}), 2000 + 2500);
  EXPECT_EQ(cycles(target, 16, {{3, 4, 6250}, {2, 5, 6250}}), 1000 + 2500);
  EXPECT_EQ(cycles(target, 16, {{0, 8, 6250}}), 1000 + 2 * 2500);
  EXPECT_EQ(cycles(target, 16, {{0, 12, 6250}}), 1000 + 2500);
  // Inside a domain nothing changes.
  EXPECT_EQ(cycles(target, 16, {{4, 6, railBytes}}), 1000 + 600);
}

// Hop by hop, without domains: the busiest hop and the longest way.
std::uint64_t walk(const TargetData &target, unsigned ipus,
                   const std::vector<IpuFlow> &flows) {
  const bool isRing = target.ipuLinkTopology == IpuLinkTopology::Torus;
  const unsigned rungs = ipus / 2;
  std::map<std::array<unsigned, 3>, std::uint64_t> hops; // from, to, partner
  unsigned longest = 0;
  for (const auto &[from, to, bytes] : flows) {
    unsigned at = from;
    unsigned length = 0;
    const auto hop = [&](unsigned next, bool isPartner) {
      hops[{at, next, isPartner}] += bytes;
      at = next;
      ++length;
    };
    if (from / 2 == to / 2) {
      hop(to, true);
    } else if (from % 2 != to % 2) {
      hop(at ^ 1U, false);
    }
    const unsigned up = (to / 2 + rungs - from / 2) % rungs;
    const bool isUp = isRing ? 2 * up <= rungs : to > from;
    while (at != to) {
      hop((at + (isUp ? 2 : ipus - 2)) % ipus, false);
    }
    longest = std::max(longest, length);
  }
  double busiest = 0;
  for (const auto &[hop, bytes] : hops) {
    busiest = std::max(busiest, static_cast<double>(bytes) /
                                    (13.6e9 * (hop[2] != 0 ? 6 : 2)));
  }
  return static_cast<std::uint64_t>(
      std::ceil((busiest + longest * 0.6e-6) * 1e9));
}

TEST(ModelLinks, AgreeWithEveryWayWalkedHopByHop) {
  std::mt19937 random(7);
  for (const auto topology : {IpuLinkTopology::Mesh, IpuLinkTopology::Torus}) {
    const TargetData target = linkTarget(topology);
    for (const unsigned ipus : {4U, 8U, 10U, 64U}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<IpuFlow> flows(1 + random() % 100);
        for (IpuFlow &flow : flows) {
          flow.from = static_cast<unsigned>(random() % ipus);
          flow.to = static_cast<unsigned>(
              (flow.from + 1 + random() % (ipus - 1)) % ipus);
          flow.bytes = random() % 1000000;
        }
        const std::uint64_t expected = walk(target, ipus, flows);
        EXPECT_NEAR(static_cast<double>(linkCycles(target, ipus, flows)),
                    static_cast<double>(expected), 1);
      }
    }
  }
}

} // namespace
} // namespace poplar::testing
