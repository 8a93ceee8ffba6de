// Costs of programs that steer, synchronise or leave the replica, against
// figures worked out by hand from docs/model.md.
#include "ModelGraph.hpp"

#include "model/EstimateCycles.hpp"
#include "model/Liveness.hpp"
#include "model/MemoryUse.hpp"
#include "model/Timeline.hpp"
#include "model/VertexTypes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace poplar::testing {
namespace {

using model::ExecutionCost;
using model::MemoryCategory;

constexpr std::uint64_t syncCycles = 126;
constexpr std::uint64_t globalSyncCycles = 600;
// One word to every tile: 84 of routing, 3 to steer one fragment.
constexpr std::uint64_t decisionCycles = syncCycles + 84 + 3 + 60;

// Four tiles; a predicate on tile 0.
class ModelPrograms : public ::testing::Test {
protected:
  ModelPrograms() : graph_(smallTarget(1, 4)) {
    predicate_ = graph_.view(graph_.addVariable(1, {}));
  }

  // Takes 126 + `cycles` cycles.
  ProgramPtr work(std::uint64_t cycles) {
    return graph_.execute("work",
                          {{"", {tiles(0, 4, {supervisor("v", 1, cycles)})}}});
  }

  ExecutionCost price(const ProgramPtr &program,
                      const model::ProgramCounts *counts = nullptr) const {
    model::StepTable steps(graph_.data, counts);
    return model::Timeline(steps).run(program);
  }

  std::uint64_t cyclesOf(const ProgramPtr &program) const {
    return price(program).total;
  }

  ModelGraph graph_;
  TensorView predicate_;
};

TEST_F(ModelPrograms, WhileDecidesOnceMoreThanItRuns) {
  const ProgramPtr loop =
      ModelGraph::make(WhileNode{work(10), predicate_, work(1000)});
  const std::uint64_t condition = syncCycles + 10 + decisionCycles;
  const std::uint64_t body = syncCycles + 1000;
  EXPECT_EQ(cyclesOf(loop), 2 * condition + body);

  // Ten iterations in two runs, then nine: 4.5 of them on average.
  model::ProgramCounts counts;
  counts[loop.get()] = {2, {10}};
  EXPECT_EQ(price(loop, &counts).total, 6 * condition + 5 * body);
  counts[loop.get()] = {2, {9}};
  EXPECT_EQ(price(loop, &counts).total,
            5 * condition + 4 * body + (condition + body + 1) / 2);
  counts[loop.get()] = {3, {0}};
  EXPECT_EQ(price(loop, &counts).total, condition);
}

TEST_F(ModelPrograms, EndlessRepeatRunsOnceUnlessCounted) {
  const ProgramPtr loop = ModelGraph::repeat(RepeatNode::forever, work(100));
  EXPECT_EQ(cyclesOf(loop), 20 + syncCycles + 100);
  model::ProgramCounts counts;
  counts[loop.get()] = {1, {1000}};
  EXPECT_EQ(price(loop, &counts).total, 1000 * (20 + syncCycles + 100));
}

TEST_F(ModelPrograms, IfTakesTheLongerBranchUnlessCounted) {
  const ProgramPtr branch =
      ModelGraph::make(IfNode{predicate_, work(100), work(300)});
  EXPECT_EQ(cyclesOf(branch), decisionCycles + syncCycles + 300);
  model::ProgramCounts counts;
  counts[branch.get()] = {4, {3, 1}};
  // A sync of 126 is 94.5 and 31.5 in these shares, each rounded up.
  EXPECT_EQ(price(branch, &counts).total,
            decisionCycles + (95 + 100 * 3 / 4) + (32 + 300 / 4));
}

TEST_F(ModelPrograms, SwitchTakesTheLongestCaseAndHasATable) {
  const ProgramPtr branch = ModelGraph::make(SwitchNode{
      predicate_, {{1, work(10)}, {2, work(500)}, {7, nullptr}}, work(20)});
  EXPECT_EQ(cyclesOf(branch), decisionCycles + syncCycles + 500);
  model::StepTable steps(graph_.data);
  const model::MemoryUse use = model::measureMemory(steps, {branch});
  EXPECT_EQ(use.at(3).of(MemoryCategory::ControlTable), 3 * 8);
  // The decision and three executes, 24 bytes each.
  EXPECT_EQ(use.at(0).of(MemoryCategory::ControlCode), 4 * 24);
}

TEST_F(ModelPrograms, FunctionsCostCyclesAtEachCallAndCodeOnce) {
  graph_.data.functions.push_back(work(100));
  const ProgramPtr call = ModelGraph::make(CallNode{FunctionId(0)});
  const ProgramPtr again = ModelGraph::make(CallNode{FunctionId(0)});
  const ProgramPtr program = ModelGraph::sequence({call, again, work(50)});
  EXPECT_EQ(cyclesOf(program), 2 * (20 + syncCycles + 100) + syncCycles + 50);
  model::StepTable steps(graph_.data);
  const model::MemoryUse use = model::measureMemory(steps, {program});
  EXPECT_EQ(use.at(1).of(MemoryCategory::ControlCode), (2 + 1 + 1) * 24);
  EXPECT_EQ(use.vertices, 2 * 4);
  const std::uint64_t runs[] = {5};
  const auto types = model::costByVertexType(steps, {program}, runs);
  EXPECT_EQ(types.at("v").instances, 2 * 4);
  EXPECT_EQ(types.at("v").cycles, 5 * 4 * (2 * 100 + 50));
}

TEST_F(ModelPrograms, BlocksAndCycleCountsCostWhatTheirBodiesCost) {
  const ProgramPtr body = work(100);
  EXPECT_EQ(cyclesOf(ModelGraph::make(BlockNode{body})), syncCycles + 100);
  const auto result = graph_.addVariable(2, {});
  const ProgramPtr counted =
      ModelGraph::make(CycleCountNode{body, graph_.view(result)});
  EXPECT_EQ(cyclesOf(counted), syncCycles + 100);
  EXPECT_EQ(model::estimateCycles(graph_.data, body), syncCycles + 100);
}

TEST_F(ModelPrograms, SyncsReachAsFarAsTheyAreAsked) {
  ModelGraph two(smallTarget(2, 4));
  model::StepTable steps(two.data);
  model::Timeline timeline(steps);
  const ProgramPtr sync = ModelGraph::make(SyncNode{SyncType::INTERNAL});
  EXPECT_EQ(timeline.run(sync).total, syncCycles);
  // IPU 0 waits for IPU 1.
  const ProgramPtr late =
      two.execute("late", {{"", {tiles(4, 4, {supervisor("v", 1, 900)})}}});
  const ExecutionCost cost = timeline.run(ModelGraph::sequence(
      {late, ModelGraph::make(SyncNode{SyncType::GLOBAL})}));
  EXPECT_EQ(cost.total, syncCycles + 900 + globalSyncCycles);
  EXPECT_EQ(cost.ipus[0].wait, syncCycles + 900);
}

TEST_F(ModelPrograms, RemoteBuffersStreamAtTheirOwnRate) {
  graph_.data.remoteBuffers.push_back({.handle = "rows", .elements = 10000});
  const auto row = graph_.addVariable(10000, {.parts = 4});
  const RemoteBufferId buffer(0);
  const ExecutionCost read = price(ModelGraph::make(
      RemoteReadNode{buffer, graph_.view(row), graph_.slice(row, 0, 0)}));
  // 2 us, and 40,000 bytes at 5 GB/s, at 1.33 GHz.
  EXPECT_EQ(read.ipus[0].hostExchange, 2660 + 10640);
  EXPECT_EQ(read.ipus[0].sync, globalSyncCycles);
  const ExecutionCost write = price(ModelGraph::make(
      RemoteWriteNode{graph_.view(row), buffer, graph_.slice(row, 0, 0)}));
  EXPECT_EQ(write.ipus[0].hostExchange, read.ipus[0].hostExchange);
}

TEST_F(ModelPrograms, LongRemoteCopiesAreSeveral) {
  graph_.data.remoteBuffers.push_back({.handle = "rows"});
  const auto cycles = [&](std::int64_t elements) {
    const auto row = graph_.addVariable(elements, {.parts = 4});
    return price(ModelGraph::make(RemoteReadNode{RemoteBufferId(0),
                                                 graph_.view(row),
                                                 graph_.slice(row, 0, 0)}))
        .ipus[0]
        .hostExchange;
  };
  // 128 MiB are 32 Mi floats; four tiles take a cycle for each of their own.
  constexpr std::int64_t longest = 32 << 20;
  const auto rate = [](std::int64_t elements) {
    return static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(4 * elements) / 5 * 1.33));
  };
  EXPECT_EQ(cycles(longest), 2660 + rate(longest));
  EXPECT_EQ(cycles(longest + 4), 2 * 2660 + rate(longest + 4));
}

TEST_F(ModelPrograms, PrintingSendsTheTensorToTheHost) {
  const auto data = graph_.addVariable(4000, {.parts = 4});
  const ExecutionCost cost = price(ModelGraph::sequence(
      {ModelGraph::make(PrintTensorNode{"t", graph_.view(data), {}}),
       ModelGraph::make(ErrorNode{"bad", graph_.view(data)})}));
  // 16,000 bytes at 8 GB/s: 2,660 cycles.
  EXPECT_EQ(cost.ipus[0].hostExchange, 2 * (2078 + 2660));
  // The second transfer follows the first without a sync.
  EXPECT_EQ(cost.ipus[0].sync, globalSyncCycles);
}

TEST_F(ModelPrograms, AbortLooksAtItsConditionOnEveryTile) {
  EXPECT_EQ(cyclesOf(ModelGraph::make(AbortNode{"stop", predicate_})),
            decisionCycles);
  EXPECT_EQ(cyclesOf(ModelGraph::make(AbortNode{"stop", {}})), 0);
}

TEST_F(ModelPrograms, DecisionsReachTheOtherIpus) {
  ModelGraph two(smallTarget(2, 4));
  const TensorView predicate = two.view(two.addVariable(1, {.firstTile = 5}));
  model::StepTable steps(two.data);
  const ExecutionCost cost = model::Timeline(steps).run(
      ModelGraph::make(IfNode{predicate, nullptr, nullptr}));
  // 0.6 us and 4 bytes over six links, at 1.33 GHz.
  EXPECT_EQ(cost.ipus[0].globalExchange, 799);
  EXPECT_EQ(cost.ipus[0].control, 60);
  EXPECT_EQ(cost.ipus[1].control, 60);
  EXPECT_EQ(cost.ipus[1].exchange, 84 + 3);
  EXPECT_EQ(cost.total, globalSyncCycles + 799 + 60 + 84 + 3);
}

TEST_F(ModelPrograms, CrossReplicaCopiesTakeTheLinksBetweenReplicas) {
  graph_.data.replicationFactor = 4;
  const auto from = graph_.addVariable(4000, {.parts = 4});
  const auto to = graph_.addVariable(4000, {.parts = 4});
  // A ring of four IPUs: 0 to 1 is a rung, 1 to 2 crosses it and climbs, so
  // the longest way has two hops, each on the two links of traffic that passes.
  const ExecutionCost cost = price(ModelGraph::make(CrossReplicaCopyNode{
      graph_.view(from), graph_.view(to), {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}));
  const double seconds = 16000 / (2 * 13.6e9) + 2 * 0.6e-6;
  EXPECT_EQ(cost.ipus[0].globalExchange,
            static_cast<std::uint64_t>(seconds * 1.33e9) + 1);
  EXPECT_EQ(cost.ipus[0].sync, globalSyncCycles);
}

TEST_F(ModelPrograms, ValuesLiveAroundBranchesAndThroughWhileLoops) {
  const auto kept = graph_.addVariable(10, {});
  const auto inside = graph_.addVariable(10, {});
  const auto touch = [&](const std::vector<VariableId> &reads,
                         const std::vector<VariableId> &writes) {
    return graph_.execute("op", {{"", {tiles(0, 1, {supervisor("v", 1, 1)})}}},
                          reads, writes);
  };
  // 0: write kept. While: 1 condition, 2 decision, then If: 3 decision,
  // 4 kept is replaced, 5 or used by way of `inside`, 6. 7: read kept.
  const ProgramPtr branch = ModelGraph::make(IfNode{
      predicate_, touch({}, {kept}),
      ModelGraph::sequence({touch({kept}, {inside}), touch({inside}, {})})});
  const ProgramPtr program = ModelGraph::sequence(
      {touch({}, {kept}),
       ModelGraph::make(
           WhileNode{touch({}, {VariableId(0)}), predicate_, branch}),
       touch({kept}, {})});
  const model::Liveness liveness =
      model::analyseLiveness(graph_.data, {program});
  ASSERT_EQ(liveness.schedule.size(), 8U);
  EXPECT_TRUE(liveness.alwaysLive.empty());
  for (const model::LiveRange &range : liveness.ranges) {
    if (range.variable == kept) {
      EXPECT_EQ(range.begin, 0U);
      EXPECT_EQ(range.end, 7U);
    } else if (range.variable == inside) {
      EXPECT_EQ(range.begin, 5U);
      EXPECT_EQ(range.end, 6U);
    } else {
      EXPECT_EQ(range.begin, 1U);
      EXPECT_EQ(range.end, 3U);
    }
  }
  EXPECT_EQ(liveness.ranges.size(), 3U);
}

} // namespace
} // namespace poplar::testing
