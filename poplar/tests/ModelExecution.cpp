// Cycles of hand-built programs against hand-computed figures.
#include "ModelGraph.hpp"

#include "model/ComputeCost.hpp"
#include "model/CopySteps.hpp"
#include "model/StepTable.hpp"
#include "model/Timeline.hpp"

#include <gtest/gtest.h>

namespace poplar::testing {
namespace {

using model::ExecutionCost;
using model::StepTable;
using model::TileCompute;
using model::Timeline;

constexpr std::uint64_t syncCycles = 126;
constexpr std::uint64_t routingCycles = 84;

ExecutionCost price(const ModelGraph &graph, const ProgramPtr &program) {
  StepTable steps(graph.data);
  return Timeline(steps).run(program);
}

TileCompute computeOn(std::vector<VertexUse> vertices) {
  const TileRun run = tiles(0, 1, std::move(vertices));
  const TileRun *const runs[] = {&run};
  return model::tileCompute(runs, 6);
}

TEST(ModelCompute, SevenEqualVerticesTakeTwoRounds) {
  const TileCompute compute = computeOn({worker("v", 7, 10)});
  EXPECT_EQ(compute.cycles, 6 * 20);
  EXPECT_EQ(compute.threads, 70);
}

TEST(ModelCompute, SupervisorVerticesRunOneAfterAnother) {
  const TileCompute compute =
      computeOn({supervisor("s", 2, 100), worker("v", 1, 10)});
  EXPECT_EQ(compute.cycles, 200 + 6 * 10);
  EXPECT_EQ(compute.threads, 210);
}

TEST(ModelCompute, ShortVerticesFillTheContextsBesideALongOne) {
  // One context holds 100; ten vertices of 10 go to the other five.
  const TileCompute compute =
      computeOn({worker("long", 1, 100), worker("short", 10, 10)});
  EXPECT_EQ(compute.cycles, 6 * 100);
  // 60 of them: 10 each on five contexts reach 100, the other 10 spread.
  EXPECT_EQ(computeOn({worker("long", 1, 100), worker("short", 60, 10)}).cycles,
            6 * 120);
}

TEST(ModelExchange, SlowestOfSendReceiveAndSteering) {
  ModelGraph graph(smallTarget(1, 8));
  TileRun run = tiles(0, 4, {});
  run.bytesIn = 400;
  run.bytesOut = 40;
  run.fragmentsIn = 2;
  EXPECT_EQ(price(graph, graph.execute("in", {{"", {run}}})).total,
            syncCycles + routingCycles + 100);
  run.isBusShared = true;
  EXPECT_EQ(price(graph, graph.execute("shared", {{"", {run}}})).total,
            syncCycles + routingCycles + 50);
  run.fragmentsIn = 70;
  EXPECT_EQ(price(graph, graph.execute("steering", {{"", {run}}})).total,
            syncCycles + routingCycles + 210);
}

TEST(ModelExchange, OverlappingRunsOfTwoGroupsAddUp) {
  ModelGraph graph(smallTarget(1, 8));
  TileRun first = tiles(0, 4, {supervisor("a", 1, 50)});
  first.bytesIn = 40;
  TileRun second = tiles(2, 4, {supervisor("b", 1, 70)});
  second.bytesIn = 80;
  const ProgramPtr program = graph.execute("both", {{"", {first, second}}});
  const ExecutionCost cost = price(graph, program);
  EXPECT_EQ(cost.total, syncCycles + routingCycles + 30 + 120);
  // Tiles 0-1: 50, tiles 2-3: 120, tiles 4-5: 70.
  EXPECT_EQ(cost.ipus[0].tileCompute, 2 * 50 + 2 * 120 + 2 * 70);
  EXPECT_EQ(cost.ipus[0].tileExchange,
            2 * (84 + 10) + 2 * (84 + 30) + 2 * (84 + 20));
}

TEST(ModelHost, TutorialTransfersTakeTheirPublishedCycles) {
  ModelGraph graph(TargetData{});
  const MappingPiece all{.parts = 1472, .grain = 2};
  const auto vector = graph.addVariable(1000, {});
  const auto matrix = graph.addVariable(10000000, all);
  const auto result = graph.addVariable(10000, all);
  const auto in = [&](const char *name, VariableId id) {
    const auto stream = graph.addStream(name, 0, true);
    return ModelGraph::make(StreamInNode{stream, graph.view(id)});
  };
  const auto out = graph.addStream("out", 10000, false);
  const ExecutionCost cost = price(
      graph, ModelGraph::sequence(
                 {in("vector", vector), in("matrix", matrix),
                  ModelGraph::make(StreamOutNode{graph.view(result), out})}));
  // Published: 6,663,550.8 with 40,044,000 bytes.
  EXPECT_NEAR(static_cast<double>(cost.ipus[0].hostExchange), 6663550.8, 1000);
}

TEST(ModelHost, StreamsAreRearrangedWhereTilesHoldSeveralStretches) {
  ModelGraph graph(smallTarget(1, 8));
  // Elements 0-9 and 20-29 on tile 0, 10-19 and 30-39 on tile 1.
  const auto id = graph.addVariable(40, {});
  graph.data[id].mapping.set(
      {{0, 10, 0}, {10, 20, 1}, {20, 30, 0}, {30, 40, 1}});
  const auto in = graph.addStream("in", 40, true);
  const auto out = graph.addStream("out", 40, false);
  const ExecutionCost cost =
      price(graph, ModelGraph::sequence(
                       {ModelGraph::make(StreamInNode{in, graph.view(id)}),
                        ModelGraph::make(StreamOutNode{graph.view(id), out})}));
  // Each tile's buffer has half of the stream: ten floats stay, ten move.
  EXPECT_EQ(cost.ipus[0].exchange, 2 * (routingCycles + 10));
  EXPECT_EQ(cost.ipus[0].compute, 2 * (288 + 40 / 8));
  // 160 bytes at 8 GB/s, at 1.33 GHz: 26.6 cycles.
  EXPECT_EQ(cost.ipus[0].hostExchange, 2 * (2078 + 27U));
  // One phase with the host, two exchanges.
  EXPECT_EQ(cost.ipus[0].sync, 600 + 2 * syncCycles);
}

TEST(ModelHost, OneTileReceivesNoFasterThanItsExchange) {
  ModelGraph graph(TargetData{});
  const auto id = graph.addVariable(1000000, {});
  const auto stream = graph.addStream("in", 1000000, true);
  const ExecutionCost cost =
      price(graph, ModelGraph::make(StreamInNode{stream, graph.view(id)}));
  EXPECT_EQ(cost.ipus[0].hostExchange, 2078 + 1000000U);
}

TEST(ModelCopy, EqualMappingsCopyInsideTheTiles) {
  ModelGraph graph(smallTarget(1, 8));
  const MappingPiece piece{.firstTile = 2, .parts = 4};
  const auto from = graph.addVariable(400, piece);
  const auto to = graph.addVariable(400, piece);
  const ExecutionCost cost = price(graph, graph.copy(from, to));
  EXPECT_EQ(cost.ipus[0].exchange, 0);
  EXPECT_EQ(cost.total, syncCycles + 288 + 400 / 8);
}

TEST(ModelCopy, ShiftedMappingsExchangeWholeShares) {
  ModelGraph graph(smallTarget(1, 8));
  const auto from = graph.addVariable(400, {.firstTile = 0, .parts = 4});
  const auto to = graph.addVariable(400, {.firstTile = 4, .parts = 4});
  const ExecutionCost cost = price(graph, graph.copy(from, to));
  EXPECT_EQ(cost.total, syncCycles + routingCycles + 400 / 4);
  EXPECT_EQ(cost.ipus[0].compute, 0);
}

TEST(ModelCopy, BroadcastIsSentOnce) {
  ModelGraph graph(smallTarget(1, 8));
  const auto from = graph.addVariable(100, {});
  const auto to = graph.addVariable(600, {.firstTile = 1, .parts = 6});
  TensorView source = graph.view(from);
  source.shape = {6, 100};
  source.pieces[0].extents = {6, 100};
  source.pieces[0].strides = {0, 1};
  TensorView destination = graph.view(to);
  destination.shape = {6, 100};
  const ExecutionCost cost =
      price(graph, ModelGraph::make(CopyNode{source, destination}));
  EXPECT_EQ(cost.total, syncCycles + routingCycles + 100);
}

// Rows of 9 elements and the same one behind each, as padding has it: its tile
// sends it once, though it comes between what others send.
TEST(ModelCopy, WhatComesBetweenIsSentOnce) {
  ModelGraph graph(smallTarget(1, 8));
  const auto value = graph.addVariable(1, {});
  const auto from = graph.addVariable(450, {.firstTile = 1, .parts = 2});
  const auto to = graph.addVariable(500, {.firstTile = 4, .parts = 4});
  TensorView source{support::DataType::Float, {50, 10}, {}};
  for (std::int64_t row = 0; row < 50; ++row) {
    source.pieces.push_back({from, 9 * row, {9}, {1}});
    source.pieces.push_back({value, 0, {1}, {1}});
  }
  TensorView destination = graph.view(to);
  destination.shape = {50, 10};
  const auto steps =
      model::lowerCopy(graph.data, CopyNode{source, destination});
  ASSERT_EQ(steps.size(), 1u);
  std::uint64_t sent = 0;
  for (const auto *run : steps[0].runs) {
    sent += run->firstTile == 0 ? run->bytesOut : 0;
  }
  EXPECT_EQ(sent, 4u);
}

TEST(ModelCopy, ConsecutiveCopiesShareOneSync) {
  ModelGraph graph(smallTarget(1, 8));
  const auto from = graph.addVariable(400, {.firstTile = 0, .parts = 4});
  const auto to = graph.addVariable(400, {.firstTile = 4, .parts = 4});
  const ProgramPtr copy = graph.copy(from, to);
  const ExecutionCost cost =
      price(graph, ModelGraph::sequence({copy, copy, copy}));
  EXPECT_EQ(cost.ipus[0].sync, syncCycles);
  EXPECT_EQ(cost.ipus[0].sharedSyncs, 2);
}

TEST(ModelCopy, BetweenPartnersTheLinksOfTheRungCarryIt) {
  ModelGraph graph(smallTarget(2, 1000));
  const MappingPiece first{.firstTile = 0, .parts = 1000};
  const auto from = graph.addVariable(3000000, first);
  const auto to =
      graph.addVariable(3000000, {.firstTile = 1000, .parts = 1000});
  const ExecutionCost cost = price(graph, graph.copy(from, to));
  // 12 MB over 6 links of 13.6 GB/s and 0.6 us of latency, at 1.33 GHz.
  const double seconds = 12e6 / (6 * 13.6e9) + 0.6e-6;
  EXPECT_NEAR(static_cast<double>(cost.ipus[0].globalExchange),
              seconds * 1.33e9, 1);
  EXPECT_EQ(cost.ipus[0].sync, 600);
  EXPECT_EQ(cost.ipus[1].globalExchange, cost.ipus[0].globalExchange);
}

// Two stages on two IPUs: stage 0 of the next micro-batch runs beside stage 1
// of this one.
TEST(ModelTimeline, PipelineStagesOverlap) {
  ModelGraph graph(smallTarget(2, 8));
  const auto stage = [&](unsigned tile, std::uint64_t cycles) {
    return graph.execute(
        "stage", {{"", {tiles(tile, 8, {supervisor("v", 1, cycles)})}}});
  };
  const auto activation = graph.addVariable(80, {.firstTile = 0, .parts = 8});
  const auto received = graph.addVariable(80, {.firstTile = 8, .parts = 8});
  const ProgramPtr first = stage(0, 10000);
  const ProgramPtr second = stage(8, 9000);
  const ProgramPtr copy = graph.copy(activation, received);
  const std::uint64_t copyCycles = price(graph, copy).total;
  const std::uint64_t micro = 100;
  const ExecutionCost cost = price(
      graph,
      ModelGraph::repeat(micro, ModelGraph::sequence({first, copy, second})));
  // Filled, an iteration is the slower stage, the copy and the loop's branch.
  const std::uint64_t iteration = 20 + syncCycles + 10000 + copyCycles;
  EXPECT_EQ(cost.total, micro * iteration + syncCycles + 9000);
  EXPECT_EQ(cost.ipus[0].compute, micro * 10000);
  EXPECT_EQ(cost.ipus[1].compute, micro * 9000);
  EXPECT_LT(cost.total, cost.ipus[0].busy() + cost.ipus[1].busy());
  EXPECT_GT(cost.ipus[1].busy() * 10, cost.total * 8);
}

TEST(ModelTimeline, RepeatOfZeroCostsNothing) {
  ModelGraph graph(smallTarget(1, 4));
  const ProgramPtr body =
      graph.execute("v", {{"", {tiles(0, 4, {supervisor("v", 1, 9)})}}});
  EXPECT_EQ(price(graph, ModelGraph::repeat(0, body)).total, 0);
  EXPECT_EQ(price(graph, ModelGraph::repeat(1000000, body)).total,
            1000000U * (20 + syncCycles + 9));
}

} // namespace
} // namespace poplar::testing
