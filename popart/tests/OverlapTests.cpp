// Inputs and anchors that go through I/O tiles: what the machine program does
// with them, that it computes the same, and that transfers overlap with compute
// as the exchange strategies say.
#include "MachineRuns.hpp"
#include "OnnxModels.hpp"

#include <poplar/internal/Access.hpp>

namespace popart::tests {
namespace {

constexpr int ioTiles = 32;

struct Case {
  const char *name;
  ExchangeStrategy strategy;
  std::int64_t factor = 1;
  int batches = 1;
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

void moveThroughIoTiles(Ir &ir, ExchangeStrategy strategy) {
  ir.sessionOptions.numIOTiles = ioTiles;
  for (const char *id : {"x", "labels"}) {
    ir.inputSettings[id] = InputSettings(TileSet::IO, strategy);
  }
  ir.dataFlow = DataFlow(ir.dataFlow.batchesPerStep(), {"loss"},
                         AnchorReturnType("All", TileSet::IO, strategy));
}

// Without I/O tiles, in which case all transfers are direct.
std::shared_ptr<Ir> directModel(const Case &test, std::int64_t samples = 2) {
  auto ir = classifier(1, samples, ReductionType::Sum);
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.125f, false}}});
  ir->dataFlow = DataFlow(test.batches, {"loss"});
  ir->sessionOptions.enableGradientAccumulation = test.factor > 1;
  ir->sessionOptions.accumulationFactor = test.factor;
  return ir;
}

std::shared_ptr<Ir> model(const Case &test, std::int64_t samples = 2) {
  auto ir = directModel(test, samples);
  moveThroughIoTiles(*ir, test.strategy);
  return ir;
}

class OverlappedTransfers : public testing::TestWithParam<Case> {};

TEST_P(OverlappedTransfers, BringTheSameValues) {
  const Case &test = GetParam();
  expectSame(runMachine(*model(test), 1), runMachine(*directModel(test), 1));
}

constexpr auto innerLoop = ExchangeStrategy::OverlapInnerLoop;
constexpr auto loops = ExchangeStrategy::OverlapLoops;

INSTANTIATE_TEST_SUITE_P(
    Strategies, OverlappedTransfers,
    testing::Values(Case{"JustInTime", ExchangeStrategy::JustInTime, 2, 3},
                    Case{"Batches", innerLoop, 1, 4},
                    Case{"TwoBatches", loops, 1, 2},
                    Case{"InnerLoop", innerLoop, 4, 3},
                    Case{"InnerLoopOfTwo", innerLoop, 2, 2},
                    Case{"Loops", loops, 3, 4}, Case{"OneBatch", loops, 4, 1}),
    [](const auto &info) { return std::string(info.param.name); });

// EveryN leaves just in time, beside inputs that do not wait.
TEST(OverlappedTransfers, LeaveEveryNthAnchorAlone) {
  auto through = model({"", loops, 1, 4});
  through->dataFlow = DataFlow(
      4, {{"loss", AnchorReturnType("EveryN", 2, TileSet::IO, loops)}});
  auto direct = directModel({"", loops, 1, 4});
  direct->dataFlow = DataFlow(4, {{"loss", AnchorReturnType("EveryN", 2)}});
  auto losses = runMachine(*through, 1).losses;
  EXPECT_EQ(losses, runMachine(*direct, 1).losses);
  EXPECT_NE(losses[1], 0);
  EXPECT_EQ(losses[2], 0);
}

TEST(OverlappedTransfers, TakeLessTime) {
  auto cycles = [](ExchangeStrategy strategy) {
    // 98,304 bytes of input, little work.
    return cyclesOf(model({"", strategy, 4, 4}, 8192));
  };
  std::uint64_t inner = cycles(innerLoop);
  std::uint64_t all = cycles(loops);
  EXPECT_LT(inner, cycles(ExchangeStrategy::JustInTime));
  EXPECT_LT(all, inner);
}

TEST(IoTiles, MustBeThereForTheirTileSet) {
  auto ir = model({"", loops});
  ir->sessionOptions.numIOTiles = 0;
  EXPECT_ERROR(train(ir), "'labels' has the tile set IO, but there are no I/O "
                          "tiles; set numIOTiles");
}

TEST(IoTiles, RunNoOperations) {
  auto ir = model({"", loops, 2, 2});
  Graph machine;
  toMachine(*ir, machine, 1);
  auto device = modelDevice(1, 8 + ioTiles);
  poplar::Graph target(device->getDevice().getTarget());
  lowerStep(*ir, machine, target, {.isMachine = true});
  for (const auto &set : poplar::internal::graphData(target).computeSets) {
    for (const auto &group : set.groups) {
      for (const auto &phase : group.phases) {
        for (const auto &run : phase.runs) {
          EXPECT_LE(run.firstTile + run.tileCount, 8) << group.debugPath;
        }
      }
    }
  }
}

} // namespace
} // namespace popart::tests
