// Schedules against each other: pipelined or not, recomputed or not, machine
// program or value program.
#include "Models.hpp"

#include <ir/GraphEditor.hpp>
#include <lowering/HostTensors.hpp>
#include <lowering/StepProgram.hpp>
#include <transforms/Pipeline.hpp>

#include <poplar/Engine.hpp>

#include <gtest/gtest.h>

namespace popart::tests {
namespace {

// Losses of 3 batches of `factor` micro-batches, and the weights after them.
std::vector<float> trainClassifier(std::int64_t factor, bool isPipelined,
                                   RecomputationType recomputation,
                                   bool isClipped = false) {
  constexpr int layers = 2;
  auto ir = classifier(layers, 2, ReductionType::Mean);
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.5f, false}},
                        {"defaultMomentum", {0.9f, true}}},
      isClipped ? std::vector{ClipNormSettings::clipAllWeights(0.125f)}
                : std::vector<ClipNormSettings>());
  SessionOptions &options = ir->sessionOptions;
  options.accumulateOuterFragmentSettings.schedule =
      AccumulateOuterFragmentSchedule::Scheduler;
  options.enableGradientAccumulation = true;
  options.accumulationFactor = factor;
  options.accumulationAndReplicationReductionType = ReductionType::Mean;
  options.autoRecomputation = recomputation;
  if (isPipelined) {
    options.virtualGraphMode = VirtualGraphMode::Manual;
    options.enablePipelining = true;
  }
  ir->dataFlow = DataFlow(3, {"loss"});
  auto session = train(ir, isPipelined ? layers : 1);
  Step step;
  step.input("x", Numbers(3).list(3 * factor * 2 * 3));
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 3 * factor * 2; ++i) {
    labels.push_back(i % 5);
  }
  step.input("labels", labels);
  auto &losses = step.output("loss", 3 * factor);
  step.run(*session);
  std::vector<float> result = losses;
  for (const char *id : {"w0", "b0", "w1", "b1"}) {
    auto weights = readWeight(*session, id);
    result.insert(result.end(), weights.begin(), weights.end());
  }
  return result;
}

TEST(Schedule, GivesTheSameLossesPipelinedOrNot) {
  auto plain = trainClassifier(4, false, RecomputationType::None);
  EXPECT_EQ(plain, trainClassifier(4, true, RecomputationType::None));
  EXPECT_EQ(plain, trainClassifier(4, true, RecomputationType::Pipeline));
  EXPECT_LT(plain[11], plain[0]);
}

TEST(Schedule, ClipsGradientsOfAllStagesTogether) {
  auto plain = trainClassifier(4, false, RecomputationType::None, true);
  EXPECT_EQ(plain, trainClassifier(4, true, RecomputationType::None, true));
  EXPECT_NE(plain, trainClassifier(4, false, RecomputationType::None));
}

// A graph lowered to a program and run as written: losses, then weights.
std::vector<float> runLowered(const Ir &ir, const Graph &graph, int ipus,
                              bool isPipelined, std::int64_t microBatches) {
  auto device = modelDevice(ipus);
  poplar::Graph target(device->getDevice().getTarget());
  auto program = lowerStep(ir, graph, target, {.isPipelined = isPipelined});
  poplar::Engine engine(target, program);
  engine.load(device->getDevice());
  auto x = Numbers(3).list(microBatches * 2 * 3);
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < microBatches * 2; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 5));
  }
  std::vector<float> losses(static_cast<std::size_t>(microBatches));
  engine.connectStream("x", x.data(), x.data() + x.size());
  engine.connectStream("labels", labels.data(), labels.data() + labels.size());
  engine.connectStream(anchorHandle("loss"), losses.data(),
                       losses.data() + losses.size());
  engine.run(0);
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    if (tensor.type == TensorType::Variable && tensor.info.nelms() > 1) {
      std::vector<float> values(static_cast<std::size_t>(tensor.info.nelms()));
      engine.readTensor(id, values.data(), values.data() + values.size());
      losses.insert(losses.end(), values.begin(), values.end());
    }
  }
  return losses;
}

void lowerToMachine(Ir &ir, Graph &machine, int ipus) {
  PassContext model{ir, ir.getMainGraph(), ipus};
  runPasses(modelPasses(), model);
  GraphEditor(machine).copyFrom(ir.getMainGraph());
  PassContext context{ir, machine, ipus};
  runPasses(machinePasses(), context);
}

// Two stages, a scalar weight each: loss = w1 * (w0 * x).
TEST(Schedule, UpdatesStaleWeightsWithoutAccumulation) {
  constexpr int batches = 8;
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  float w0 = 0.5f;
  float w1 = 2.0f;
  graph.addStream("x", floats({}));
  graph.addVariable("w0", floats({}), &w0);
  graph.addVariable("w1", floats({}), &w1);
  TensorId a = add(graph, "Mul", {"x", "w0"}, {}, onIpu(0));
  TensorId y = add(graph, "Mul", {a, "w1"}, {}, onIpu(1));
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {y}, {"loss"}, {}, onIpu(1));
  ir->loss = "loss";
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  ir->sessionOptions.enablePipelining = true;
  ir->dataFlow = DataFlow(batches, {"loss"});
  const float rate = 0.125f;
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {rate, false}}});
  auto session = train(ir, 2);
  Step step;
  auto x = Numbers(3).list(batches);
  step.input("x", x);
  auto losses = step.output("loss", batches);
  auto &result = step.output("loss", batches);
  step.run(*session);
  // Cycle c runs stage 0 of micro-batch c, stage 1 of c - 1, stage 2 of c - 2.
  std::vector<float> activations(batches);
  std::vector<float> gradients(batches);
  for (int cycle = 0; cycle < batches + 2; ++cycle) {
    auto batch = [&](int stage) {
      return static_cast<std::size_t>(cycle - stage);
    };
    if (cycle < batches) {
      activations[batch(0)] = x[batch(0)] * w0;
    }
    if (1 <= cycle && cycle <= batches) {
      losses[batch(1)] = activations[batch(1)] * w1;
      gradients[batch(1)] = w1;
      w1 -= rate * activations[batch(1)];
    }
    if (2 <= cycle) {
      w0 -= rate * gradients[batch(2)] * x[batch(2)];
    }
  }
  for (std::size_t i = 0; i < batches; ++i) {
    EXPECT_FLOAT_EQ(result[i], losses[i]) << "micro-batch " << i;
  }
  EXPECT_FLOAT_EQ(readWeight(*session, "w0")[0], w0);
  EXPECT_FLOAT_EQ(readWeight(*session, "w1")[0], w1);
}

TEST(Schedule, PipelinesInferenceWithAnyAnchor) {
  for (std::string type : {"All", "Final", "Sum", "EveryN"}) {
    AnchorReturnType anchor =
        type == "EveryN" ? AnchorReturnType(type, 3) : AnchorReturnType(type);
    std::vector<std::vector<float>> results;
    for (bool isMachine : {false, true}) {
      auto ir = classifier(3, 2, ReductionType::Mean);
      ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
      ir->sessionOptions.enablePipelining = true;
      ir->sessionOptions.constantWeights = false;
      ir->dataFlow = DataFlow(12, {{"loss", anchor}});
      Graph machine;
      lowerToMachine(*ir, machine, 4);
      results.push_back(runLowered(
          *ir, isMachine ? machine : ir->getMainGraph(), 4, isMachine, 12));
    }
    EXPECT_EQ(results[0], results[1]) << type;
    EXPECT_NE(results[0][0], 0) << type;
  }
}

struct MachineCase {
  const char *name;
  int layers;
  std::int64_t factor;
  bool isPipelined;
  RecomputationType recomputation;
};

void PrintTo(const MachineCase &test, std::ostream *out) {
  *out << test.name;
}

class MachineProgram : public testing::TestWithParam<MachineCase> {};

TEST_P(MachineProgram, ComputesWhatTheValueProgramDoes) {
  const MachineCase &test = GetParam();
  int ipus = test.layers <= 2 ? test.layers : 4;
  auto ir = classifier(test.layers, 2, ReductionType::Mean);
  ir->optimizer = std::make_shared<ConstSGD>(0.5f);
  SessionOptions &options = ir->sessionOptions;
  options.virtualGraphMode = VirtualGraphMode::Manual;
  options.enablePipelining = test.isPipelined;
  options.enableGradientAccumulation = true;
  options.accumulationFactor = test.factor;
  options.autoRecomputation = test.recomputation;
  ir->dataFlow = DataFlow(2, {"loss"});
  Graph machine;
  lowerToMachine(*ir, machine, ipus);

  std::int64_t microBatches = 2 * test.factor;
  auto values = runLowered(*ir, ir->getMainGraph(), ipus, false, microBatches);
  auto onMachine =
      runLowered(*ir, machine, ipus, test.isPipelined, microBatches);
  EXPECT_EQ(values, onMachine);
  EXPECT_NE(values.front(), values[static_cast<std::size_t>(test.factor)]);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, MachineProgram,
    testing::Values(
        MachineCase{"Sharded", 2, 2, false, RecomputationType::None},
        MachineCase{"ShardedStandardRecomputation", 3, 2, false,
                    RecomputationType::Standard},
        MachineCase{"TwoStages", 2, 4, true, RecomputationType::None},
        MachineCase{"TwoStagesRecomputed", 2, 4, true,
                    RecomputationType::Pipeline},
        // Twelve main cycles: stashes of 3 slots go round four times.
        MachineCase{"LongMainLoop", 2, 14, true, RecomputationType::None},
        MachineCase{"FourStages", 4, 9, true, RecomputationType::None},
        MachineCase{"FourStagesRecomputed", 4, 7, true,
                    RecomputationType::Pipeline}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace popart::tests
