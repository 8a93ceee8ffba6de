// Execution phases: where operations run, what moves between phases, and that
// the machine program computes the same.
#include "MachineRuns.hpp"

#include <popart/error.hpp>

#include <set>

namespace popart::tests {
namespace {

struct Case {
  const char *name;
  int layers;
  int stages;
  std::int64_t factor = 1;
  RecomputationType recomputation = RecomputationType::None;
  ExecutionPhaseIOSchedule schedule = ExecutionPhaseIOSchedule::Preload;
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

// A layer per phase, weights off chip.
std::shared_ptr<Ir> model(const Case &test) {
  auto ir = classifier(test.layers, 2, ReductionType::Sum);
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.executionPhase = op->settings.vgraphId;
  }
  ir->optimizer = std::make_shared<ConstSGD>(0.125f);
  ir->dataFlow = DataFlow(3, {"loss"});
  SessionOptions &options = ir->sessionOptions;
  options.enableGradientAccumulation = test.factor > 1;
  options.accumulationFactor = test.factor;
  options.autoRecomputation = test.recomputation;
  options.virtualGraphMode = VirtualGraphMode::ExecutionPhases;
  options.executionPhaseSettings.phases = test.layers;
  options.executionPhaseSettings.stages = test.stages;
  options.executionPhaseSettings.weightIOSchedule = test.schedule;
  options.weightTensorLocationSettings = TensorStorage::OffChip;
  return ir;
}

class Phases : public testing::TestWithParam<Case> {};

TEST_P(Phases, ComputeWhatPlainTrainingDoes) {
  auto phased = model(GetParam());
  auto plain = model(GetParam());
  plain->sessionOptions.virtualGraphMode = VirtualGraphMode::Off;
  plain->sessionOptions.executionPhaseSettings.phases = 0;
  plain->sessionOptions.autoRecomputation = RecomputationType::None;
  Trained values = runSession(plain, 1);
  // What is computed again may be computed with other neighbours.
  bool isRepeated = GetParam().recomputation != RecomputationType::None;
  expectSame(runMachine(*phased, GetParam().stages), values,
             isRepeated ? 1e-5 : 0);
  expectSame(runSession(model(GetParam()), GetParam().stages), values);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, Phases,
    testing::Values(Case{"OneStage", 4, 1}, Case{"TwoStages", 4, 2},
                    Case{"OnDemand", 4, 2, 1, RecomputationType::None,
                         ExecutionPhaseIOSchedule::OnDemand},
                    Case{"Accumulated", 3, 2, 3},
                    Case{"Recomputed", 4, 2, 2, RecomputationType::Standard}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Phases, FoldBackAndTakeTurns) {
  auto ir = model({"", 4, 2});
  Graph machine;
  toMachine(*ir, machine, 2);
  std::set<ExecutionPhase> phases;
  for (const auto &op : ir->getMainGraph().getOps()) {
    ExecutionPhase phase = op->settings.executionPhase;
    phases.insert(phase);
    EXPECT_EQ(op->settings.vgraphId, phase % 2) << op->str();
    EXPECT_EQ(phase < 4, !op->settings.isBackward || phase == 3) << op->str();
  }
  EXPECT_EQ(phases, (std::set<ExecutionPhase>{0, 1, 2, 3, 4, 5, 6}));
  const Op &first = *ir->getMainGraph().getTensor("Gradient___w0").producer;
  EXPECT_EQ(first.settings.executionPhase, 6);
}

TEST(Phases, LoadWeightsInThePhaseBefore) {
  for (auto schedule : {ExecutionPhaseIOSchedule::Preload,
                        ExecutionPhaseIOSchedule::OnDemand}) {
    auto ir = model({"", 4, 2, 2, RecomputationType::None, schedule});
    Graph machine;
    toMachine(*ir, machine, 2);
    std::vector<ExecutionPhase> loads;
    for (const auto &op : machine.getOps()) {
      if (op->opid.type == "RemoteLoad" &&
          op->settings.executionContext == ExecutionContext::Normal &&
          op->attributes.getString("buffer", "") == "w2") {
        loads.push_back(op->settings.executionPhase);
        EXPECT_EQ(op->settings.vgraphId, 0);
      }
    }
    bool isEarly = schedule == ExecutionPhaseIOSchedule::Preload;
    // Phase 2 and, for the gradient of its input, phase 6 - 2.
    EXPECT_EQ(loads, (isEarly ? std::vector<ExecutionPhase>{1, 3}
                              : std::vector<ExecutionPhase>{2, 4}));
  }
}

TEST(Phases, KeepActivationsOfNeighboursOnChip) {
  auto ir = model({"", 4, 2});
  Graph machine;
  toMachine(*ir, machine, 2);
  std::set<ExecutionPhase> stored;
  for (const auto &op : machine.getOps()) {
    if (op->opid.type == "RemoteStore" && !op->settings.isBackward) {
      stored.insert(op->settings.executionPhase);
    }
  }
  // Layer 2's tanh is read in phase 4, the next but one; that of layers 0 and 1
  // waits longer.
  EXPECT_EQ(stored, (std::set<ExecutionPhase>{0, 1}));
}

TEST(Phases, SplitAModelWithoutAnnotations) {
  auto ir = model({"", 4, 2});
  for (const auto &op : ir->getMainGraph().getOps()) {
    op->settings.executionPhase = unusedExecutionPhase;
  }
  ir->sessionOptions.executionPhaseSettings.phases = 2;
  Graph machine;
  toMachine(*ir, machine, 2);
  std::set<ExecutionPhase> phases;
  for (const auto &op : ir->getMainGraph().getOps()) {
    phases.insert(op->settings.executionPhase);
  }
  EXPECT_EQ(phases, (std::set<ExecutionPhase>{0, 1, 2}));
}

std::string messageOf(const std::shared_ptr<Ir> &ir, int ipus) {
  try {
    Graph machine;
    toMachine(*ir, machine, ipus);
  } catch (const error &e) {
    return e.what();
  }
  return {};
}

TEST(Phases, NameWhatIsWrong) {
  auto contains = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  auto stages = model({"", 4, 3});
  EXPECT_TRUE(contains(messageOf(stages, 4), "stages (3) must be 1 or 2"));
  auto ipus = model({"", 4, 2});
  EXPECT_TRUE(contains(messageOf(ipus, 1), "number of IPUs (1)"));
  auto phases = model({"", 4, 2});
  phases->sessionOptions.executionPhaseSettings.phases = 2;
  EXPECT_TRUE(contains(messageOf(phases, 2), "phases is 2"));
  auto pipelined = model({"", 4, 2});
  pipelined->sessionOptions.enablePipelining = true;
  EXPECT_TRUE(contains(messageOf(pipelined, 2), "exclude each other"));
  auto backwards = model({"", 4, 2});
  backwards->getMainGraph().getOps().back()->settings.executionPhase = 0;
  EXPECT_TRUE(contains(messageOf(backwards, 2), "later phase"));
}

TEST(Phases, RunWithTilesForTransfers) {
  auto ir = model({"", 4, 2});
  SessionOptions &options = ir->sessionOptions;
  options.numIOTiles = 32;
  TensorLocation &location = options.weightTensorLocationSettings.location;
  location.loadTileSet = TileSet::IO;
  location.storageTileSet = TileSet::IO;
  auto device = DeviceManager::createDeviceManager().createIpuModelDevice(
      {{"numIPUs", "2"}, {"tilesPerIPU", "64"}});
  auto session = TrainingSession::createFromIr(ir, device);
  session->prepareDevice();
  session->weightsFromHost();
  Step step;
  step.input("x", inputsOf(*ir));
  step.input("labels", labelsOf(*ir));
  auto &losses = step.output("loss", 3);
  step.run(*session);
  EXPECT_EQ(losses, runSession(model({"", 4, 2}), 2).losses);
  auto few = model({"", 4, 2});
  few->sessionOptions.numIOTiles = 32;
  EXPECT_THROW(TrainingSession::createFromIr(few, modelDevice(2)), error);
}

} // namespace
} // namespace popart::tests
