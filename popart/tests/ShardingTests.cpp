// Variables shared out among replicas: what the machine program does instead,
// and that it computes the same.
#include "MachineRuns.hpp"

#include <popart/adam.hpp>
#include <popart/adaptive.hpp>

namespace popart::tests {
namespace {

enum class Which { Weights, State, Accumulators, All };

struct Case {
  const char *name;
  const char *optimizer;
  Which which;
  std::int64_t replicas = 2;
  std::int64_t factor = 1;
  ReductionType reduction = ReductionType::Sum;
  bool isPipelined = false;
  TensorStorage storage = TensorStorage::OnChip;
  CommGroup domain = {};
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

std::shared_ptr<Optimizer> optimizerOf(const std::string &name) {
  const Optimizer::Values values{{"defaultLearningRate", {0.0625f, false}}};
  const std::vector<ClipNormSettings> clip{
      ClipNormSettings::clipAllWeights(0.5f)};
  if (name == "adam") {
    return std::make_shared<Adam>(values, AdamMode::Adam);
  }
  if (name == "lamb") {
    return std::make_shared<Adam>(values, AdamMode::Lamb);
  }
  if (name == "adadelta") {
    return std::make_shared<Adaptive>(values, AdaptiveMode::AdaDelta);
  }
  Optimizer::Values momentum = values;
  momentum["defaultMomentum"] = {0.75f, true};
  momentum["defaultWeightDecay"] = {0.0625f, true};
  return std::make_shared<SGD>(
      momentum, name == "clip" ? clip : std::vector<ClipNormSettings>{},
      name == "combined" ? SGDAccumulatorAndMomentum::Combined
                         : SGDAccumulatorAndMomentum::Separate);
}

std::shared_ptr<Ir> model(const Case &test, bool isSharded) {
  auto ir = classifier(2, 2, ReductionType::Sum);
  ir->optimizer = optimizerOf(test.optimizer);
  ir->dataFlow = DataFlow(3, {"loss"});
  SessionOptions &options = ir->sessionOptions;
  options.enableReplicatedGraphs = true;
  options.replicatedGraphCount = test.replicas;
  options.enableGradientAccumulation = test.factor > 1;
  options.accumulationFactor = test.factor;
  options.accumulationAndReplicationReductionType = test.reduction;
  options.meanAccumulationAndReplicationReductionStrategy =
      MeanReductionStrategy::Running;
  options.accumulateOuterFragmentSettings.schedule =
      AccumulateOuterFragmentSchedule::Scheduler;
  if (test.isPipelined) {
    options.virtualGraphMode = VirtualGraphMode::Manual;
    options.enablePipelining = true;
  }
  const TensorLocationSettings sharded(
      TensorLocation(test.storage, TileSet::Compute, TileSet::Compute,
                     ReplicatedTensorSharding::On, test.domain),
      2, 2);
  auto isChosen = [&](Which which) {
    return isSharded && (test.which == which || test.which == Which::All);
  };
  if (isChosen(Which::Weights)) {
    options.weightTensorLocationSettings = sharded;
  }
  if (isChosen(Which::State)) {
    options.optimizerStateTensorLocationSettings = sharded;
  }
  if (isChosen(Which::Accumulators)) {
    options.accumulatorTensorLocationSettings = sharded;
  }
  return ir;
}

class ReplicatedSharding : public testing::TestWithParam<Case> {};

TEST_P(ReplicatedSharding, ComputesTheSame) {
  const Case &test = GetParam();
  int ipus = test.isPipelined ? 2 : 1;
  auto sharded = model(test, true);
  auto whole = model(test, false);
  expectSame(runMachine(*sharded, ipus), runSession(whole, ipus), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Optimisers, ReplicatedSharding,
    testing::Values(
        Case{"SgdState", "separate", Which::State},
        Case{"SgdWeights", "separate", Which::Weights},
        Case{"SgdAll", "separate", Which::All, 3},
        Case{"CombinedState", "combined", Which::State, 2, 2},
        Case{"CombinedWeights", "combined", Which::Weights, 2, 2},
        Case{"CombinedAllMean", "combined", Which::All, 4, 2,
             ReductionType::Mean},
        Case{"AdamAccumulators", "adam", Which::Accumulators, 2, 3},
        Case{"AdamRunningMean", "adam", Which::All, 2, 3, ReductionType::Mean},
        Case{"LambAll", "lamb", Which::All, 2, 2},
        Case{"LambWeights", "lamb", Which::Weights, 3},
        Case{"LambState", "lamb", Which::State, 3},
        Case{"AdadeltaAll", "adadelta", Which::All, 2, 2},
        Case{"ClippedAll", "clip", Which::All, 2, 2},
        Case{"PipelinedAll", "adam", Which::All, 2, 4, ReductionType::Sum,
             true},
        Case{"OffChipAll", "adam", Which::All, 2, 2, ReductionType::Sum, false,
             TensorStorage::OffChip},
        Case{"Groups", "lamb", Which::All, 4, 2, ReductionType::Sum, false,
             TensorStorage::OnChip, CommGroup(CommGroupType::Consecutive, 2)}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(ReplicatedSharding, GathersWeightsAndScattersGradients) {
  auto ir = model({"", "lamb", Which::All, 2, 2}, true);
  Graph machine;
  toMachine(*ir, machine, 1);
  // 12 elements in two parts, and 5 in two of 3.
  EXPECT_EQ(machine.getTensor("w0").info.nelms(), 6);
  EXPECT_EQ(machine.getTensor("Accl1___w0").info.nelms(), 6);
  EXPECT_EQ(machine.getTensor("b1").info.nelms(), 3);
  EXPECT_EQ(machine.getTensor("Accum___b1").info.nelms(), 3);
  auto counts = countOps(machine, "operator");
  EXPECT_EQ(counts["ReplicaGather"], 4); // a weight each
  EXPECT_EQ(counts["ReplicaScatter add"], 4);
  EXPECT_EQ(counts["ReplicaScatter local"], 0);
  EXPECT_EQ(counts["ReplicaReduce"], 8); // Lamb's two norms of each
}

TEST(ReplicatedSharding, UpdatesPartsOfWeightsThatStayWhole) {
  auto ir = model({"", "adam", Which::State}, true);
  Graph machine;
  toMachine(*ir, machine, 1);
  EXPECT_EQ(machine.getTensor("w0").info.nelms(), 12);
  EXPECT_EQ(machine.getTensor("Accl2___w0").info.nelms(), 6);
  auto counts = countOps(machine, "operator");
  EXPECT_EQ(counts["ReplicaScatter local"], 4); // each weight
  EXPECT_EQ(counts["ReplicaScatter add"], 4);   // each gradient
  EXPECT_EQ(counts["ReplicaGather"], 4);
}

TEST(ReplicatedSharding, NeedsReplicasAndSize) {
  auto small = model({"", "adam", Which::All}, true);
  small->sessionOptions.weightTensorLocationSettings
      .minElementsForReplicatedTensorSharding = 13;
  Graph machine;
  toMachine(*small, machine, 1);
  EXPECT_EQ(machine.getTensor("w0").info.nelms(), 12);
  EXPECT_EQ(machine.getTensor("w1").info.nelms(), 10);
  auto alone = model({"", "adam", Which::All, 1}, true);
  alone->sessionOptions.enableReplicatedGraphs = false;
  Graph single;
  toMachine(*alone, single, 1);
  EXPECT_EQ(countOps(single)["ReplicaGather"], 0);
}

} // namespace
} // namespace popart::tests
