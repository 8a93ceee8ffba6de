// Tensors in the host's memory: what the machine program moves, and that it
// computes the same.
#include "MachineRuns.hpp"

#include <popart/adam.hpp>

namespace popart::tests {
namespace {

struct Case {
  const char *name;
  std::int64_t factor;
  bool isPipelined;
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

std::shared_ptr<Ir> model(const Case &test) {
  auto ir = classifier(2, 2, ReductionType::Sum);
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.125f, false}},
                        {"defaultMomentum", {0.75f, true}}},
      std::vector<ClipNormSettings>{}, SGDAccumulatorAndMomentum::Separate);
  ir->dataFlow = DataFlow(3, {"loss"});
  SessionOptions &options = ir->sessionOptions;
  options.enableGradientAccumulation = test.factor > 1;
  options.accumulationFactor = test.factor;
  options.virtualGraphMode = VirtualGraphMode::Manual;
  options.enablePipelining = test.isPipelined;
  return ir;
}

void moveOffChip(SessionOptions &options) {
  const TensorLocationSettings offChip(TensorStorage::OffChip);
  options.weightTensorLocationSettings = offChip;
  options.optimizerStateTensorLocationSettings = offChip;
  options.accumulatorTensorLocationSettings = offChip;
  options.activationTensorLocationSettings = offChip;
}

class OffChip : public testing::TestWithParam<Case> {};

TEST_P(OffChip, ComputesTheSame) {
  auto remote = model(GetParam());
  moveOffChip(remote->sessionOptions);
  auto onChip = model(GetParam());
  expectSame(runMachine(*remote, 2), runMachine(*onChip, 2));
}

INSTANTIATE_TEST_SUITE_P(Schedules, OffChip,
                         testing::Values(Case{"Plain", 1, false},
                                         Case{"Accumulated", 2, false},
                                         Case{"Pipelined", 4, true}),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(OffChipVariables, MoveOncePerPartThatUsesThem) {
  auto ir = model({"", 2, false});
  moveOffChip(ir->sessionOptions);
  Graph machine;
  toMachine(*ir, machine, 2);
  auto counts = countOps(machine, "buffer");
  // Forward and backward share a load; the update has its own.
  EXPECT_EQ(counts["RemoteLoad w1"], 2);
  EXPECT_EQ(counts["RemoteStore w1"], 1);
  EXPECT_EQ(counts["RemoteLoad Accum___w1"], 2);
  EXPECT_EQ(counts["RemoteStore Accum___w1"], 2);
  EXPECT_EQ(counts["RemoteLoad Accl1___w1"], 1);
  EXPECT_EQ(counts["RemoteStore Accl1___w1"], 1);
  EXPECT_FALSE(machine.hasTensor("w1"));
}

TEST(OffChipVariables, FollowLimitsAndNames) {
  auto ir = model({"", 1, false});
  SessionOptions &options = ir->sessionOptions;
  // w0 has 12 elements, w1 20, the biases 4 and 5.
  options.weightTensorLocationSettings =
      TensorLocationSettings(TensorStorage::OffChip, 15);
  options.tensorLocationSettingsOverride["b0"] = TensorStorage::OffChip;
  options.tensorLocationSettingsOverride["b1"] = TensorStorage::OnChip;
  Graph machine;
  toMachine(*ir, machine, 2);
  EXPECT_TRUE(machine.hasTensor("w0"));
  EXPECT_FALSE(machine.hasTensor("w1"));
  EXPECT_FALSE(machine.hasTensor("b0"));
  EXPECT_TRUE(machine.hasTensor("b1"));
  // Neither optimiser scalars nor state of another class.
  EXPECT_TRUE(machine.hasTensor("learningRate___default___FLOAT"));
  EXPECT_TRUE(machine.hasTensor("Accl1___w1"));
}

TEST(OffChipVariables, AreWholeWhereAnAnchorShowsThem) {
  auto ir = model({"", 1, false});
  moveOffChip(ir->sessionOptions);
  ir->dataFlow = DataFlow(3, std::vector<TensorId>{"loss", "w1"});
  Graph machine;
  toMachine(*ir, machine, 2);
  EXPECT_TRUE(machine.hasTensor("w1"));
  EXPECT_FALSE(machine.hasTensor("w0"));
}

TEST(OffChipActivations, WaitForTheBackwardPass) {
  auto ir = model({"", 1, false});
  ir->sessionOptions.activationTensorLocationSettings = TensorStorage::OffChip;
  Graph machine;
  toMachine(*ir, machine, 2);
  int loads = 0;
  for (const auto &op : machine.getOps()) {
    if (op->opid.type == "RemoteLoad") {
      ++loads;
      EXPECT_TRUE(op->settings.isBackward) << op->str();
    }
  }
  // What tanh and the loss's softmax left; the tanh is read on two IPUs.
  auto counts = countOps(machine);
  EXPECT_EQ(counts["RemoteStore"], 2);
  EXPECT_EQ(loads, 3);
}

TEST(OffChipActivations, FollowTheOperationThatMakesThem) {
  auto ir = model({"", 1, false});
  for (const auto &op : ir->getMainGraph().getOps()) {
    if (op->opid.type == "Tanh") {
      op->attributes.set("__output_tensor_location", Attributes::Ints{1, 0, 0});
    }
  }
  Graph machine;
  toMachine(*ir, machine, 2);
  EXPECT_EQ(countOps(machine)["RemoteStore"], 1);
}

TEST(OffChipVariables, CostTime) {
  auto cycles = [](bool isOffChip) {
    auto ir = model({"", 2, false});
    if (isOffChip) {
      moveOffChip(ir->sessionOptions);
    }
    return cyclesOf(ir, 2);
  };
  EXPECT_GT(cycles(true), cycles(false));
}

} // namespace
} // namespace popart::tests
