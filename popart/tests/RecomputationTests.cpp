// What users mark for recomputation, and what they may not mix.
#include "MachineRuns.hpp"

#include <popart/error.hpp>

namespace popart::tests {
namespace {

// Three layers; `mark` is put on the operations of layer 0.
std::shared_ptr<Ir> model(RecomputationType mode, RecomputeType mark,
                          bool isPipelined = false) {
  auto ir = classifier(3, 2, ReductionType::Sum);
  for (const auto &op : ir->getMainGraph().getOps()) {
    if (op->settings.vgraphId == 0) {
      op->settings.recomputeType = mark;
    }
  }
  ir->optimizer = std::make_shared<ConstSGD>(0.125f);
  ir->dataFlow = DataFlow(3, {"loss"});
  SessionOptions &options = ir->sessionOptions;
  options.autoRecomputation = mode;
  if (isPipelined) {
    options.virtualGraphMode = VirtualGraphMode::Manual;
    options.enablePipelining = true;
    options.enableGradientAccumulation = true;
    options.accumulationFactor = 5;
  }
  return ir;
}

// Repeated operations by type.
std::map<std::string, int> repeated(const std::shared_ptr<Ir> &ir,
                                    int ipus = 1) {
  ir->sessionOptions.enableOutlining = false;
  Graph machine;
  toMachine(*ir, machine, ipus);
  std::map<std::string, int> counts;
  for (const auto &op : machine.getOps()) {
    if (op->settings.name.find("/recomputed") != std::string::npos) {
      ++counts[op->opid.type];
    }
  }
  return counts;
}

std::string messageOf(const std::shared_ptr<Ir> &ir, int ipus = 1) {
  try {
    repeated(ir, ipus);
  } catch (const error &e) {
    return e.what();
  }
  return {};
}

using Counts = std::map<std::string, int>;

TEST(Recomputation, RepeatsWhatTheModelMarks) {
  auto ir = model(RecomputationType::None, RecomputeType::Recompute);
  EXPECT_EQ(repeated(ir), (Counts{{"MatMul", 1}, {"Add", 1}, {"Tanh", 1}}));
  auto marked = model(RecomputationType::None, RecomputeType::Recompute);
  auto plain = model(RecomputationType::None, RecomputeType::Undefined);
  expectSame(runMachine(*marked, 1), runSession(plain, 1));
}

TEST(Recomputation, KeepsCheckpointsAndWhatComesAfterTheLast) {
  // Layer 0 is kept as marked, the layers after it because the loss needs them.
  EXPECT_EQ(repeated(model(RecomputationType::RecomputeAll,
                           RecomputeType::Checkpoint)),
            Counts{});
  EXPECT_NE(repeated(model(RecomputationType::RecomputeAll,
                           RecomputeType::Undefined)),
            Counts{});
}

// Stages before the loss's wait for their backward pass: a checkpoint of one
// says nothing of the others.
TEST(Recomputation, KeepsWhatFollowsACheckpointInTheStageOfTheLossOnly) {
  auto ir = model(RecomputationType::Pipeline, RecomputeType::Checkpoint, true);
  EXPECT_EQ(repeated(ir, 4), (Counts{{"MatMul", 1}, {"Add", 1}, {"Tanh", 1}}));
}

TEST(Recomputation, DoesNotMixAutomaticAndManual) {
  const std::string mixture =
      "A mixture of auto and manual recomputation is not supported";
  EXPECT_EQ(
      messageOf(model(RecomputationType::Standard, RecomputeType::Recompute)),
      mixture);
  EXPECT_EQ(
      messageOf(model(RecomputationType::Standard, RecomputeType::Checkpoint)),
      mixture);
  EXPECT_EQ(messageOf(model(RecomputationType::RecomputeAll,
                            RecomputeType::Recompute)),
            mixture);
  EXPECT_EQ(messageOf(model(RecomputationType::Pipeline,
                            RecomputeType::Checkpoint, true),
                      4),
            "");
  EXPECT_EQ(
      messageOf(model(RecomputationType::None, RecomputeType::Recompute, true),
                4),
      "When pipelining is enabled, user annotation for recomputation is "
      "not allowed");
}

TEST(Recomputation, MayBeMixedWhereItIsExplicit) {
  auto ir = model(RecomputationType::Standard, RecomputeType::Recompute);
  ir->sessionOptions.explicitRecomputation = true;
  EXPECT_EQ(messageOf(ir), "");
}

} // namespace
} // namespace popart::tests
