// One network trained in every way that a session knows, against plain
// training: one IPU, whole batches, everything kept on chip.
#include "MachineRuns.hpp"

#include <fmt/format.h>

#include <sstream>

namespace popart::tests {
namespace {

enum class Layout { OneIpu, Sharded, Pipelined, Phased };

struct Way {
  const char *name;
  Layout layout = Layout::OneIpu;
  int layers = 2;
  std::int64_t factor = 1;
  std::int64_t replicas = 1;
  RecomputationType recomputation = RecomputationType::None;
  TensorStorage state = TensorStorage::OnChip;
  ReplicatedTensorSharding rts = ReplicatedTensorSharding::Off;
};

void PrintTo(const Way &way, std::ostream *out) {
  *out << way.name;
}

int ipusOf(const Way &way) {
  switch (way.layout) {
  case Layout::OneIpu:
    return 1;
  case Layout::Phased:
    return 2;
  case Layout::Sharded:
  case Layout::Pipelined:
    break;
  }
  return way.layers;
}

// Two samples for each micro-batch.
constexpr std::int64_t samples = 2;

// Trained with a velocity of its own and `batch` samples for each update.
std::shared_ptr<Ir> network(int layers, std::int64_t microBatch,
                            std::int64_t batch) {
  auto ir = classifier(layers, microBatch, ReductionType::Sum);
  float rate = 0.25f / static_cast<float>(batch);
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {rate, false}},
                        {"defaultMomentum", {0.75f, true}}},
      std::vector<ClipNormSettings>{}, SGDAccumulatorAndMomentum::Separate);
  ir->dataFlow = DataFlow(3, {"loss"});
  return ir;
}

void setLayout(Ir &ir, const Way &way) {
  SessionOptions &options = ir.sessionOptions;
  switch (way.layout) {
  case Layout::OneIpu:
    return;
  case Layout::Sharded:
    options.virtualGraphMode = VirtualGraphMode::Manual;
    return;
  case Layout::Pipelined:
    options.virtualGraphMode = VirtualGraphMode::Manual;
    options.enablePipelining = true;
    return;
  case Layout::Phased:
    options.virtualGraphMode = VirtualGraphMode::ExecutionPhases;
    options.executionPhaseSettings.phases = way.layers;
    options.weightTensorLocationSettings = TensorStorage::OffChip;
    for (const auto &op : ir.getMainGraph().getOps()) {
      op->settings.executionPhase = op->settings.vgraphId;
    }
  }
}

std::shared_ptr<Ir> networkFor(const Way &way) {
  auto ir = network(way.layers, samples, samples * way.factor * way.replicas);
  SessionOptions &options = ir->sessionOptions;
  options.enableGradientAccumulation = way.factor > 1;
  options.accumulationFactor = way.factor;
  options.enableReplicatedGraphs = way.replicas > 1;
  options.replicatedGraphCount = way.replicas;
  options.autoRecomputation = way.recomputation;
  options.optimizerStateTensorLocationSettings =
      TensorLocationSettings(TensorLocation(way.state, way.rts), 2, 2);
  if (way.rts == ReplicatedTensorSharding::On) {
    options.weightTensorLocationSettings =
        options.optimizerStateTensorLocationSettings;
  }
  setLayout(*ir, way);
  return ir;
}

// The same micro-batches on one IPU, with nothing special.
std::shared_ptr<Ir> plainly(Way way) {
  way.layout = Layout::OneIpu;
  way.recomputation = RecomputationType::None;
  way.state = TensorStorage::OnChip;
  way.rts = ReplicatedTensorSharding::Off;
  return networkFor(way);
}

// The losses of whole batches.
std::vector<float> batchLosses(const Trained &run) {
  std::size_t each = run.losses.size() / 3;
  std::vector<float> sums(3);
  for (std::size_t i = 0; i < run.losses.size(); ++i) {
    sums[i / each] += run.losses[i];
  }
  return sums;
}

class Parallelism : public testing::TestWithParam<Way> {};

TEST_P(Parallelism, TrainsAsWholeBatchesDo) {
  const Way &way = GetParam();
  Trained run = runSession(networkFor(way), ipusOf(way));
  std::int64_t batch = samples * way.factor * way.replicas;
  Trained whole = runSession(network(way.layers, batch, batch), 1);
  expectNear(batchLosses(run), batchLosses(whole), 1e-5);
  for (const auto &[id, values] : whole.weights) {
    expectNear(run.weights.at(id), values, 1e-5);
  }
}

// The arithmetic is the same and in the same order: not a bit differs.
TEST_P(Parallelism, GivesTheBitsOfPlainMicroBatches) {
  const Way &way = GetParam();
  expectSame(runSession(networkFor(way), ipusOf(way)),
             runSession(plainly(way), 1));
}

TEST_P(Parallelism, MachineProgramComputesTheSame) {
  const Way &way = GetParam();
  auto ir = networkFor(way);
  expectSame(runMachine(*ir, ipusOf(way), "reference"),
             runSession(networkFor(way), ipusOf(way)), 1e-5);
}

// Every number of micro-batches and of replicas, not only those below.
TEST(Parallelism, TrainsAlikeWithAnyAccumulationAndReplication) {
  for (std::int64_t factor = 1; factor <= 16; ++factor) {
    for (std::int64_t replicas = 1; replicas <= 4; ++replicas) {
      SCOPED_TRACE(fmt::format("{} x {}", factor, replicas));
      std::int64_t batch = samples * factor * replicas;
      expectNear(batchLosses(runSession(
                     networkFor({"", Layout::OneIpu, 2, factor, replicas}), 1)),
                 batchLosses(runSession(network(2, batch, batch), 1)), 1e-5);
    }
  }
}

constexpr auto none = RecomputationType::None;
constexpr auto offChip = TensorStorage::OffChip;
constexpr auto onChip = TensorStorage::OnChip;
constexpr auto rts = ReplicatedTensorSharding::On;

INSTANTIATE_TEST_SUITE_P(
    Ways, Parallelism,
    testing::Values(Way{"Plain"}, Way{"Accumulation2", Layout::OneIpu, 2, 2},
                    Way{"Accumulation3", Layout::OneIpu, 2, 3},
                    Way{"Accumulation8", Layout::OneIpu, 2, 8},
                    Way{"Accumulation16", Layout::OneIpu, 2, 16},
                    Way{"Replication2", Layout::OneIpu, 2, 1, 2},
                    Way{"Replication3", Layout::OneIpu, 2, 1, 3},
                    Way{"Replication4", Layout::OneIpu, 2, 1, 4},
                    Way{"Sharding", Layout::Sharded, 4},
                    Way{"Pipeline2", Layout::Pipelined, 2, 4},
                    Way{"Pipeline4", Layout::Pipelined, 4, 8},
                    Way{"Pipeline4Accumulation16", Layout::Pipelined, 4, 16},
                    Way{"Phases", Layout::Phased, 4},
                    Way{"StandardRecomputation", Layout::OneIpu, 4, 1, 1,
                        RecomputationType::Standard},
                    Way{"NormOnlyRecomputation", Layout::OneIpu, 4, 1, 1,
                        RecomputationType::NormOnly},
                    Way{"RecomputeAll", Layout::OneIpu, 4, 1, 1,
                        RecomputationType::RecomputeAll},
                    Way{"PipelineRecomputation", Layout::Pipelined, 4, 8, 1,
                        RecomputationType::Pipeline},
                    Way{"OffChipState", Layout::OneIpu, 2, 2, 1, none, offChip},
                    Way{"ReplicatedTensorSharding", Layout::OneIpu, 2, 2, 2,
                        none, onChip, rts}),
    [](const auto &info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Combinations, Parallelism,
    testing::Values(
        Way{"ShardingAccumulationReplication", Layout::Sharded, 4, 4, 2},
        Way{"ShardingStandardRecomputation", Layout::Sharded, 4, 2, 1,
            RecomputationType::Standard},
        Way{"PipelineReplication", Layout::Pipelined, 2, 4, 4},
        Way{"PipelineOffChipState", Layout::Pipelined, 2, 4, 1, none, offChip},
        Way{"PipelineReplicationRecomputationOffChipSharded", Layout::Pipelined,
            2, 4, 2, RecomputationType::Pipeline, offChip, rts},
        Way{"PhasesAccumulationReplication", Layout::Phased, 3, 2, 2},
        Way{"PhasesRecomputationOffChipState", Layout::Phased, 4, 2, 1,
            RecomputationType::Standard, offChip},
        Way{"PhasesSharded", Layout::Phased, 3, 2, 2, none, offChip, rts}),
    [](const auto &info) { return std::string(info.param.name); });

// How many cycles the parts of a pipeline have in the model's tree of steps,
// the repetitions of loops counted.
std::map<std::string, std::int64_t> cyclesByPart(const std::string &report) {
  struct Level {
    std::size_t indent;
    std::int64_t times;
    std::string part;
  };
  std::vector<Level> levels{{0, 1, ""}};
  std::map<std::string, std::int64_t> cycles;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) {
      continue;
    }
    while (levels.size() > 1 && levels.back().indent >= indent) {
      levels.pop_back();
    }
    Level level{indent, levels.back().times, levels.back().part};
    std::string text = line.substr(indent);
    for (const char *part : {"fill", "main", "flush"}) {
      if (text == std::string("Sequence: ") + part) {
        level.part = part;
        cycles[part] += 0;
      }
    }
    if (text.rfind("Repeat: ", 0) == 0) {
      level.times *= std::stoll(text.substr(8));
    }
    if (text == "Sequence: cycle") {
      cycles[level.part] += level.times;
    }
    levels.push_back(level);
  }
  return cycles;
}

struct Counts {
  int layers;
  std::int64_t factor;
  std::int64_t fill, main, flush;
};

void PrintTo(const Counts &counts, std::ostream *out) {
  *out << counts.layers << " stages, " << counts.factor << " micro-batches";
}

class PipelineTimeline : public testing::TestWithParam<Counts> {};

TEST_P(PipelineTimeline, HasFillMainAndFlushForEachUpdate) {
  const Counts &counts = GetParam();
  auto ir = networkFor({"", Layout::Pipelined, counts.layers, counts.factor});
  ir->sessionOptions.reportOptions = {{"showExecutionSteps", "true"}};
  auto session = train(ir, counts.layers);
  Step step;
  step.input("x", inputsOf(*ir));
  step.input("labels", labelsOf(*ir));
  step.output("loss", microBatchesOf(*ir));
  step.run(*session);
  auto cycles = cyclesByPart(session->getSummaryReport());
  const std::int64_t updates = 3; // of a step
  EXPECT_EQ(cycles, (std::map<std::string, std::int64_t>{
                        {"fill", updates * counts.fill},
                        {"main", updates * counts.main},
                        {"flush", updates * counts.flush}}));
}

// K forward stages are P = 2 K - 1 in all: P - 1 cycles to fill and to flush.
INSTANTIATE_TEST_SUITE_P(Stages, PipelineTimeline,
                         testing::Values(Counts{2, 4, 2, 2, 2},
                                         Counts{2, 16, 2, 14, 2},
                                         Counts{3, 5, 4, 1, 4},
                                         Counts{4, 8, 6, 2, 6},
                                         Counts{4, 16, 6, 10, 6}));

// A cycle lasts as long as its slowest stage, not as long as all of them: that
// is what a pipeline is for.
TEST(PipelineTimeline, OverlapsStages) {
  auto cycles = [](Layout layout) {
    return cyclesOf(networkFor({"", layout, 4, 16}), 4);
  };
  EXPECT_LT(cycles(Layout::Pipelined), cycles(Layout::Sharded));
}

} // namespace
} // namespace popart::tests
