// Host transfers beside compute: tiles that run no vertices have a clock of
// their own. Figures are worked out by hand from docs/model.md.
#include "ModelGraph.hpp"

#include "model/Timeline.hpp"

#include <gtest/gtest.h>

namespace poplar::testing {
namespace {

using model::ExecutionCost;

constexpr std::uint64_t turns = 10;
constexpr std::uint64_t loopCycles = 20;
constexpr std::uint64_t syncCycles = 126;
constexpr std::uint64_t globalSyncCycles = 600;
// 2,078 for the copy and 16,000 bytes at 8 GB/s.
constexpr std::uint64_t loadCycles = globalSyncCycles + 2078 + 2660;
// 8,000 bytes to each of two tiles at 4 a cycle.
constexpr std::uint64_t copyCycles = syncCycles + 84 + 2000;

// Four tiles; tiles 0 and 1 compute. A loop of a transfer to `loaded`, a copy
// from there to the computing tiles and a computation.
class ModelOverlap : public ::testing::Test {
protected:
  explicit ModelOverlap(unsigned firstTile = 2)
      : graph_(smallTarget(1, 4)),
        loaded_(graph_.addVariable(4000, {.firstTile = firstTile, .parts = 2})),
        used_(graph_.addVariable(4000, {.parts = 2})) {
    graph_.data.streams.push_back({.handle = "x", .elements = 4000});
  }

  ProgramPtr load() const {
    return ModelGraph::make(StreamInNode{StreamId(0), graph_.view(loaded_)});
  }
  ProgramPtr copy() const {
    return ModelGraph::make(CopyNode{graph_.view(loaded_), graph_.view(used_)});
  }
  // Takes 126 + `cycles`.
  ProgramPtr work(std::uint64_t cycles) {
    return graph_.execute(
        "work", {{"", {tiles(0, 2, {supervisor("v", 1, cycles)})}}}, {used_});
  }
  ExecutionCost price(const std::vector<ProgramPtr> &body) const {
    model::StepTable steps(graph_.data);
    return model::Timeline(steps).run(
        ModelGraph::make(RepeatNode{turns, ModelGraph::sequence(body)}));
  }

  ModelGraph graph_;
  VariableId loaded_;
  VariableId used_;
};

TEST_F(ModelOverlap, HidesTransfersBehindLongerComputations) {
  const std::uint64_t workCycles = syncCycles + 10000;
  const ExecutionCost cost = price({load(), copy(), work(10000)});
  EXPECT_EQ(cost.total, loopCycles + loadCycles +
                            turns * (copyCycles + workCycles) +
                            (turns - 1) * loopCycles);
  // Only the first one is waited for.
  EXPECT_EQ(cost.ipus[0].hostExchange, loadCycles - globalSyncCycles);
  EXPECT_EQ(cost.ipus[0].clock(), cost.total);
}

TEST_F(ModelOverlap, HidesComputationsBehindLongerTransfers) {
  const std::uint64_t workCycles = syncCycles + 1000;
  const ExecutionCost cost = price({load(), copy(), work(1000)});
  EXPECT_EQ(cost.total,
            turns * (loopCycles + loadCycles + copyCycles) + workCycles);
  EXPECT_EQ(cost.ipus[0].hostExchange,
            loadCycles - globalSyncCycles +
                (turns - 1) * (loadCycles - workCycles));
}

TEST_F(ModelOverlap, EndsWhereTilesSync) {
  const ProgramPtr sync = ModelGraph::make(SyncNode{SyncType::INTERNAL});
  const ExecutionCost cost = price({sync, load(), copy(), work(1000)});
  EXPECT_EQ(cost.total, turns * (loopCycles + syncCycles + loadCycles +
                                 copyCycles + syncCycles + 1000));
}

TEST_F(ModelOverlap, ShowsInTheSteps) {
  const ProgramPtr first = load();
  const ProgramPtr body =
      ModelGraph::sequence({first, copy(), work(10000), load()});
  model::StepTable steps(graph_.data);
  model::Timeline timeline(steps);
  const std::uint64_t cycles = timeline.run(body).total;
  EXPECT_EQ(cycles, loadCycles + copyCycles + syncCycles + 10000);
  // The second load begins with the computation and is shorter.
  const auto &overlaps = timeline.overlaps();
  EXPECT_EQ(overlaps[steps.stepsOf(*first).front().id], 0);
  EXPECT_EQ(overlaps.back(), loadCycles);
}

class ModelWithoutOverlap : public ModelOverlap {
protected:
  ModelWithoutOverlap() : ModelOverlap(1) {}
};

// Tile 1 computes, so that its transfers wait.
TEST_F(ModelWithoutOverlap, TilesThatComputeTransferInTurn) {
  const ExecutionCost cost = price({load(), copy(), work(1000)});
  EXPECT_GE(cost.total, turns * (loopCycles + loadCycles + syncCycles + 1000));
}

} // namespace
} // namespace poplar::testing
