// Liveness, packing and the memory policy on hand-built programs.
#include "ModelGraph.hpp"

#include "model/Liveness.hpp"
#include "model/MemoryCheck.hpp"
#include "model/MemoryUse.hpp"
#include "model/VariableMemory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace poplar::testing {
namespace {

using model::Allocation;
using model::Liveness;
using model::MemoryCategory;
using model::MemoryUse;
using model::MemoryVerdict;

ProgramPtr touch(ModelGraph &graph, const std::vector<VariableId> &reads,
                 const std::vector<VariableId> &writes) {
  return graph.execute("op", {{"", {tiles(0, 1, {supervisor("v", 1, 1)})}}},
                       reads, writes);
}

std::pair<std::size_t, std::size_t> rangeOf(const Liveness &liveness,
                                            VariableId id) {
  for (const model::LiveRange &range : liveness.ranges) {
    if (range.variable == id) {
      return {range.begin, range.end};
    }
  }
  ADD_FAILURE() << "variable " << id.value << " has no range";
  return {};
}

TEST(ModelLiveness, TemporariesLiveFromTheirWriteToTheirLastRead) {
  ModelGraph graph(smallTarget(1, 4));
  const auto a = graph.addVariable(10, {});
  const auto b = graph.addVariable(10, {});
  const auto c = graph.addVariable(10, {});
  const ProgramPtr program =
      ModelGraph::sequence({touch(graph, {}, {a}), touch(graph, {a}, {b}),
                            touch(graph, {b}, {c}), touch(graph, {a, c}, {})});
  const Liveness liveness = model::analyseLiveness(graph.data, {program});
  EXPECT_TRUE(liveness.alwaysLive.empty());
  EXPECT_EQ(rangeOf(liveness, a), std::make_pair(0UL, 3UL));
  EXPECT_EQ(rangeOf(liveness, b), std::make_pair(1UL, 2UL));
  EXPECT_EQ(rangeOf(liveness, c), std::make_pair(2UL, 3UL));
}

TEST(ModelLiveness, AlwaysLiveWhenReadFirstSharedOrSeenByTheHost) {
  ModelGraph graph(smallTarget(1, 4));
  const auto readFirst = graph.addVariable(10, {});
  const auto shared = graph.addVariable(10, {});
  const auto host = graph.addVariable(10, {});
  const auto temporary = graph.addVariable(10, {});
  const auto unused = graph.addVariable(10, {});
  graph.data.hostReads["out"] = {graph.view(host)};
  const std::vector<ProgramPtr> programs = {
      ModelGraph::sequence({touch(graph, {readFirst}, {shared, temporary}),
                            touch(graph, {temporary}, {host})}),
      touch(graph, {shared}, {})};
  const Liveness liveness = model::analyseLiveness(graph.data, programs);
  EXPECT_EQ(liveness.alwaysLive,
            (std::vector<VariableId>{readFirst, shared, host}));
  ASSERT_EQ(liveness.ranges.size(), 1U);
  EXPECT_EQ(liveness.ranges[0].variable, temporary);
  EXPECT_FALSE(unused == temporary);
}

TEST(ModelLiveness, ValuesThatEnterALoopSurviveAllOfIt) {
  ModelGraph graph(smallTarget(1, 4));
  const auto weights = graph.addVariable(10, {});
  const auto inside = graph.addVariable(10, {});
  const auto other = graph.addVariable(10, {});
  const ProgramPtr body = ModelGraph::sequence(
      {touch(graph, {weights}, {inside}), touch(graph, {inside}, {other}),
       touch(graph, {other}, {})});
  const ProgramPtr program = ModelGraph::sequence(
      {touch(graph, {}, {weights}), ModelGraph::repeat(9, body)});
  const Liveness liveness = model::analyseLiveness(graph.data, {program});
  EXPECT_EQ(rangeOf(liveness, weights), std::make_pair(0UL, 3UL));
  EXPECT_EQ(rangeOf(liveness, inside), std::make_pair(1UL, 2UL));
  EXPECT_EQ(rangeOf(liveness, other), std::make_pair(2UL, 3UL));
}

TEST(ModelLiveness, WriteUndefEndsALife) {
  ModelGraph graph(smallTarget(1, 4));
  const auto a = graph.addVariable(10, {});
  const ProgramPtr program =
      ModelGraph::sequence({touch(graph, {}, {a}), touch(graph, {a}, {}),
                            ModelGraph::make(WriteUndefNode{graph.view(a)}),
                            touch(graph, {}, {a}), touch(graph, {a}, {})});
  const Liveness liveness = model::analyseLiveness(graph.data, {program});
  ASSERT_EQ(liveness.ranges.size(), 2U);
  EXPECT_EQ(liveness.ranges[0].end, 1U);
  EXPECT_EQ(liveness.ranges[1].begin, 3U);
}

TEST(ModelMemory, PeakCountsWhatIsAliveTogether) {
  ModelGraph graph(smallTarget(1, 4));
  const MappingPiece all{.parts = 4};
  const auto weights = graph.addVariable(400, all); // 400 bytes a tile
  graph.data.hostWrites["weights"] = {graph.view(weights)};
  const auto a = graph.addVariable(800, all);
  const auto b = graph.addVariable(80, all);
  const auto c = graph.addVariable(800, all);
  const ProgramPtr program = ModelGraph::sequence(
      {touch(graph, {weights}, {a}), touch(graph, {a}, {b}),
       touch(graph, {b}, {c}), touch(graph, {c}, {weights})});
  model::StepTable steps(graph.data);
  const MemoryUse use = model::measureMemory(steps, {program});
  EXPECT_EQ(use.at(3).alwaysLive(), 400U);
  EXPECT_EQ(use.at(3).maxLive, 880U); // a and b, or b and c, never a and c
  EXPECT_EQ(use.at(3).of(MemoryCategory::Variables), 1280U);
  EXPECT_EQ(use.at(3).of(MemoryCategory::Stack), 128U + 6 * 512U);
  // Four steps of control code on every tile, vertices on tile 0 alone.
  EXPECT_EQ(use.at(3).of(MemoryCategory::ControlCode), 4 * 24U);
}

TEST(ModelMemory, CodeOfATypeIsOnATileOnce) {
  ModelGraph graph(smallTarget(1, 4));
  VertexUse use = worker("v", 3, 10);
  use.codeBytes = 500;
  use.stateBytes = 10;
  use.edges = 2;
  std::vector<ProgramPtr> steps;
  for (const unsigned first : {0U, 1U}) {
    TileRun run = tiles(first, 2, {use});
    run.bytesIn = 100;
    run.fragmentsIn = 2;
    steps.push_back(graph.execute("op", {{"", {run}}}));
  }
  model::StepTable table(graph.data);
  const MemoryUse memory =
      model::measureMemory(table, {ModelGraph::sequence(std::move(steps))});
  EXPECT_EQ(memory.at(1).of(MemoryCategory::VertexCode), 500U);
  EXPECT_EQ(memory.at(3).of(MemoryCategory::VertexCode), 0U);
  EXPECT_EQ(memory.at(1).of(MemoryCategory::VertexInstances), 2 * 3 * 12U);
  EXPECT_EQ(memory.at(0).of(MemoryCategory::InternalExchangeCode),
            4 * (2 + 3 * 2U));
  EXPECT_EQ(memory.vertices, 12U);
  EXPECT_EQ(memory.edges, 24U);
  EXPECT_EQ(memory.vertexData.edgePointers, 12 * 8U);
  EXPECT_EQ(memory.vertexData.internalState, 12 * 2U);
  EXPECT_EQ(memory.vertexData.padding, 12 * 2U);
}

TEST(ModelMemory, PackingReusesTheSmallestHole) {
  // 100 below 60 until step 1; then the 100 is free and takes the 80.
  EXPECT_EQ(model::packedBytes({{100, 0, 1}, {60, 0, 3}, {80, 2, 3}}), 160U);
  // Alive together: no sharing.
  EXPECT_EQ(model::packedBytes({{100, 0, 1}, {60, 1, 3}, {80, 1, 3}}), 240U);
  EXPECT_EQ(model::packedBytes({}), 0U);
}

// The same rule byte by byte: a byte is free for an allocation if nothing that
// is alive with it has it.
std::uint64_t packBytewise(std::vector<Allocation> allocations) {
  std::stable_sort(
      allocations.begin(), allocations.end(),
      [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  std::vector<std::pair<std::uint64_t, Allocation>> placed;
  std::uint64_t top = 0;
  for (const Allocation &next : allocations) {
    std::vector<bool> isTaken(2000);
    for (const auto &[offset, other] : placed) {
      for (std::uint64_t i = 0; i < other.bytes; ++i) {
        isTaken[offset + i] = isTaken[offset + i] || (other.begin <= next.end &&
                                                      next.begin <= other.end);
      }
    }
    std::uint64_t best = 0;
    std::uint64_t bestSize = isTaken.size() + 1;
    for (std::uint64_t at = 0; at < isTaken.size();) {
      std::uint64_t end = at;
      while (end < isTaken.size() && isTaken[end] == isTaken[at]) {
        ++end;
      }
      if (!isTaken[at] && end - at >= next.bytes && end - at < bestSize) {
        best = at;
        bestSize = end - at;
      }
      at = end;
    }
    placed.emplace_back(best, next);
    top = std::max(top, best + next.bytes);
  }
  return top;
}

TEST(ModelMemory, PackingFollowsItsRuleOnRandomLifetimes) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t low, std::size_t high) {
      return std::uniform_int_distribution<std::size_t>(low, high)(random);
    };
    std::vector<Allocation> allocations(pick(0, 40));
    for (Allocation &allocation : allocations) {
      allocation.bytes = pick(1, 40);
      allocation.begin = pick(0, 600);
      allocation.end = allocation.begin + pick(0, pick(0, 3) == 0 ? 600 : 20);
    }
    EXPECT_EQ(model::packedBytes(allocations), packBytewise(allocations))
        << "seed " << seed;
  }
}

MemoryVerdict verdictFor(std::int64_t floatsOnATile, const char *policy,
                         TargetKind kind = TargetKind::Ipu) {
  TargetData target = smallTarget(1, 4);
  target.kind = kind;
  ModelGraph graph(target);
  const auto big = graph.addVariable(floatsOnATile, {.firstTile = 2});
  graph.data.hostWrites["big"] = {graph.view(big)};
  const model::MemoryCheck check =
      model::checkMemory(graph.data, {touch(graph, {big}, {})}, {}, policy);
  EXPECT_EQ(check.message.empty(), check.verdict == MemoryVerdict::Fits);
  if (check.verdict == MemoryVerdict::OutOfMemory) {
    EXPECT_NE(check.message.find("tile 2"), std::string::npos);
    EXPECT_NE(check.message.find("638976"), std::string::npos);
    EXPECT_NE(check.message.find("ASPEN_MEMORY=warn"), std::string::npos);
  }
  return check.verdict;
}

TEST(ModelMemoryCheck, WarnsAboveTheTileAndStopsFarAboveIt) {
  EXPECT_EQ(verdictFor(100000, ""), MemoryVerdict::Fits);
  EXPECT_EQ(verdictFor(165000, ""), MemoryVerdict::Warning);
  EXPECT_EQ(verdictFor(200000, ""), MemoryVerdict::OutOfMemory);
  EXPECT_EQ(verdictFor(165000, "strict"), MemoryVerdict::OutOfMemory);
  EXPECT_EQ(verdictFor(200000, "warn"), MemoryVerdict::Warning);
}

TEST(ModelMemoryCheck, ModelDevicesAlwaysFit) {
  EXPECT_EQ(verdictFor(900000, "strict", TargetKind::IpuModel),
            MemoryVerdict::Fits);
}

} // namespace
} // namespace poplar::testing
