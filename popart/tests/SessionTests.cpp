// Whole steps: losses and weights against figures worked out on their own, and
// schedules against each other.
#include "Models.hpp"

#include <ir/GraphEditor.hpp>
#include <lowering/HostTensors.hpp>
#include <lowering/StepProgram.hpp>
#include <popart/adam.hpp>
#include <popart/error.hpp>
#include <transforms/Pipeline.hpp>

#include <poplar/Engine.hpp>

#include <gtest/gtest.h>

namespace popart::tests {
namespace {

// y = sum(w * x), so that the gradient of w is x.
std::shared_ptr<Ir> linear() {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  std::vector<float> values = {1, 2};
  graph.addStream("x", floats({2}));
  graph.addVariable("w", floats({2}), values.data());
  TensorId product = add(graph, "Mul", {"w", "x"});
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {product}, {"loss"},
              Attributes().set("reduction", Attributes::Int{0}), {});
  ir->loss = "loss";
  return ir;
}

std::unique_ptr<TrainingSession> train(const std::shared_ptr<Ir> &ir,
                                       int ipus = 1) {
  auto session = TrainingSession::createFromIr(ir, modelDevice(ipus));
  session->prepareDevice();
  session->weightsFromHost();
  return session;
}

TEST(Session, StepsBySgd) {
  auto ir = linear();
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.5f, false}},
                        {"defaultWeightDecay", {0.25f, true}},
                        {"lossScaling", {4.0f, true}}});
  ir->dataFlow = DataFlow(2, {"loss"});
  auto session = train(ir);
  Step step;
  step.input("x", std::vector<float>{1, 2, 3, 4});
  auto &losses = step.output("loss", 2);
  step.run(*session);
  // loss 1*1 + 2*2; w -= 0.5 * (x + 0.25 * w): (0.375, 0.75);
  // loss 3*0.375 + 4*0.75; w: (-1.171875, -1.34375)
  EXPECT_FLOAT_EQ(losses[0], 5);
  EXPECT_FLOAT_EQ(losses[1], 4.125f);
  auto weights = readWeight(*session, "w");
  EXPECT_FLOAT_EQ(weights[0], -1.171875f);
  EXPECT_FLOAT_EQ(weights[1], -1.34375f);
}

TEST(Session, ChangesTheLearningRateFromTheHost) {
  auto ir = linear();
  auto sgd = [](float rate) {
    return SGD({{"defaultLearningRate", {rate, false}},
                {"lossScaling", {2.0f, false}}});
  };
  ir->optimizer = std::make_shared<SGD>(sgd(0.5f));
  ir->dataFlow = DataFlow(1);
  auto session = train(ir);
  session->updateOptimizerFromHost(sgd(0.125f));
  Step step;
  step.input("x", std::vector<float>{4, 8});
  step.run(*session);
  auto weights = readWeight(*session, "w");
  EXPECT_FLOAT_EQ(weights[0], 0.5f);
  EXPECT_FLOAT_EQ(weights[1], 1.0f);
  EXPECT_THROW(session->updateOptimizerFromHost(ConstSGD(0.1f)), error);
}

TEST(Session, AppliesMomentumToOneWeight) {
  auto ir = linear();
  auto sgd = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.5f, true}}});
  sgd->insertSpecific("w", {{"momentum", {0.5f, true}}});
  ir->optimizer = sgd;
  ir->dataFlow = DataFlow(2);
  auto session = train(ir);
  Step step;
  step.input("x", std::vector<float>{1, 2, 1, 2});
  step.run(*session);
  // v = x, then 0.5 * x + x: w -= 0.5 * (1 + 1.5) * x
  auto weights = readWeight(*session, "w");
  EXPECT_FLOAT_EQ(weights[0], -0.25f);
  EXPECT_FLOAT_EQ(weights[1], -0.5f);
  auto velocity = readWeight(*session, "Accl___w");
  EXPECT_FLOAT_EQ(velocity[0], 1.5f);
}

TEST(Session, StepsByAdam) {
  auto ir = linear();
  ir->optimizer = std::make_shared<Adam>(
      Optimizer::Values{{"defaultLearningRate", {0.5f, false}}}, AdamMode::Adam,
      WeightDecayMode::L2Regularization);
  ir->dataFlow = DataFlow(1);
  auto session = train(ir);
  Step step;
  step.input("x", std::vector<float>{1, -2});
  step.run(*session);
  // The first step of Adam moves by the learning rate against the sign.
  auto weights = readWeight(*session, "w");
  EXPECT_NEAR(weights[0], 0.5f, 1e-5);
  EXPECT_NEAR(weights[1], 2.5f, 1e-5);
  EXPECT_FLOAT_EQ(readWeight(*session, "Step___w")[0], 1);
}

struct MeanCase {
  ReductionType type;
  MeanReductionStrategy strategy;
  float expected; // of w[0] = 1 after gradients 2 and 4 at rate 0.25
};

TEST(Session, ReducesOverAccumulatedMicroBatches) {
  for (const MeanCase &test :
       {MeanCase{ReductionType::Sum, MeanReductionStrategy::Post, -0.5f},
        MeanCase{ReductionType::Mean, MeanReductionStrategy::Post, 0.25f},
        MeanCase{ReductionType::Mean, MeanReductionStrategy::Running, 0.25f}}) {
    auto ir = linear();
    ir->optimizer = std::make_shared<ConstSGD>(0.25f);
    SessionOptions &options = ir->sessionOptions;
    options.enableGradientAccumulation = true;
    options.accumulationFactor = 2;
    options.accumulationAndReplicationReductionType = test.type;
    options.meanAccumulationAndReplicationReductionStrategy = test.strategy;
    ir->dataFlow = DataFlow(2);
    auto session = train(ir);
    Step step;
    // The second batch has no gradient: the accumulator must be empty again.
    step.input("x", std::vector<float>{2, 0, 4, 0, 0, 0, 0, 0});
    step.run(*session);
    EXPECT_FLOAT_EQ(readWeight(*session, "w")[0], test.expected);
  }
}

TEST(Session, ReturnsAnchorsAsOftenAsAsked) {
  for (std::string type : {"All", "Final", "Sum", "EveryN"}) {
    auto ir = linear();
    AnchorReturnType anchor =
        type == "EveryN" ? AnchorReturnType(type, 2) : AnchorReturnType(type);
    ir->dataFlow = DataFlow(4, {{"loss", anchor}});
    auto session = InferenceSession::createFromIr(ir, modelDevice(1));
    session->prepareDevice();
    Step step;
    step.input("x", std::vector<float>{1, 0, 2, 0, 3, 0, 4, 0});
    std::map<std::string, std::vector<float>> expected = {{"All", {1, 2, 3, 4}},
                                                          {"Final", {4}},
                                                          {"Sum", {10}},
                                                          {"EveryN", {2, 4}}};
    auto shape = session->getAnchorShape("loss");
    auto count = static_cast<std::int64_t>(expected[type].size());
    EXPECT_EQ(shape, count == 1 ? Shape{} : Shape{count});
    auto &result = step.output("loss", count);
    step.run(*session);
    EXPECT_EQ(result, expected[type]) << type;
  }
}

TEST(Session, NarrowsLabelsOf64Bits) {
  auto ir = classifier(1, 2, ReductionType::Sum);
  ir->dataFlow = DataFlow(1, {"loss"});
  auto session = InferenceSession::createFromIr(ir, modelDevice(1));
  session->prepareDevice();
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> labels = {1, 3};
  std::vector<float> wide(1);
  NDArrayWrapper<float> xArray(x.data(), {2, 3});
  NDArrayWrapper<std::int64_t> labelArray(labels.data(), {2});
  NDArrayWrapper<float> lossArray(wide.data(), Shape{});
  StepIO stepIO({{"x", xArray}, {"labels", labelArray}}, {{"loss", lossArray}});
  session->run(stepIO);
  Step step;
  step.input("x", x);
  step.input("labels", std::vector<std::int32_t>{1, 3});
  auto &narrow = step.output("loss", 1);
  step.run(*session);
  EXPECT_EQ(wide, narrow);
  EXPECT_NE(narrow[0], 0);
}

TEST(Session, NamesWhatIsWrongWithAStep) {
  auto ir = linear();
  ir->optimizer = std::make_shared<ConstSGD>(0.25f);
  ir->dataFlow = DataFlow(2, {"loss"});
  auto session = TrainingSession::createFromIr(ir, modelDevice(1));
  auto message = [&](Step &step) -> std::string {
    try {
      step.run(*session);
    } catch (const error &e) {
      return e.what();
    }
    return {};
  };
  Step step;
  step.input("x", std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(message(step).rfind("Devicex::prepare() must be called before "
                                "Devicex::run",
                                0),
            0u);
  session->prepareDevice();
  EXPECT_EQ(message(step).rfind("Must call weightsFromHost before run", 0), 0u);
  session->weightsFromHost();
  EXPECT_NE(message(step).find("no output was given for tensor 'loss'"),
            std::string::npos);
  step.output("loss", 2);
  step.input("x", std::vector<float>{1, 2});
  EXPECT_EQ(message(step).rfind("Unexpected number of input elements for "
                                "Tensor x. Expected 4, but received 2.",
                                0),
            0u);
}

// Losses of 3 batches of `factor` micro-batches, and the weights after them.
std::vector<float> trainClassifier(std::int64_t factor, bool isPipelined,
                                   RecomputationType recomputation) {
  constexpr int layers = 2;
  auto ir = classifier(layers, 2, ReductionType::Mean);
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.5f, false}},
                        {"defaultMomentum", {0.9f, true}}});
  SessionOptions &options = ir->sessionOptions;
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

TEST(Session, GivesTheSameLossesPipelinedOrNot) {
  auto plain = trainClassifier(4, false, RecomputationType::None);
  EXPECT_EQ(plain, trainClassifier(4, true, RecomputationType::None));
  EXPECT_EQ(plain, trainClassifier(4, true, RecomputationType::Pipeline));
  EXPECT_LT(plain[11], plain[0]);
}

// A graph lowered to a program and run as written: losses, then weights.
std::vector<float> runLowered(const Ir &ir, const Graph &graph, int ipus,
                              bool isPipelined, std::int64_t microBatches) {
  auto device = modelDevice(ipus);
  poplar::Graph target(device->getDevice().getTarget());
  auto program = lowerStep(ir, graph, target, isPipelined);
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
TEST(Session, UpdatesStaleWeightsWithoutAccumulation) {
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

TEST(Session, PipelinesInferenceWithAnyAnchor) {
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

TEST(Session, KeepsIntegersOf64BitsOnTheHost) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  std::vector<std::int64_t> counts = {3, -4};
  TensorInfo info(DataType::INT64, {2});
  graph.addStream("step", info);
  graph.addVariable("counts", info, counts.data());
  TensorId next = add(graph, "Add", {"counts", "step"});
  add(graph, "CopyVarUpdate", {"counts", next}, {}, {}, "ai.graphcore");
  ir->sessionOptions.constantWeights = false;
  ir->dataFlow = DataFlow(3, {next});
  auto session = InferenceSession::createFromIr(ir, modelDevice(1));
  session->prepareDevice();
  std::vector<std::int64_t> steps = {1, 2, 1, 2, 1, 2};
  std::vector<std::int64_t> seen(6);
  NDArrayWrapper<std::int64_t> stepArray(steps.data(), {6});
  NDArrayWrapper<std::int64_t> seenArray(seen.data(), {6});
  StepIO stepIO({{"step", stepArray}}, {{next, seenArray}});
  session->run(stepIO);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{4, -2, 5, 0, 6, 2}));
  session->weightsToHost();
  WeightsIO io;
  io.insert("counts", {counts.data(), info});
  session->readWeights(io);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{6, 2}));
}

TEST(Session, SumsUpTheProfile) {
  auto ir = linear();
  ir->dataFlow = DataFlow(1, {"loss"});
  auto session = InferenceSession::createFromIr(ir, modelDevice(1));
  session->prepareDevice();
  Step step;
  step.input("x", std::vector<float>{1, 2});
  step.output("loss", 1);
  step.run(*session);
  EXPECT_NE(session->getSummaryReport(), "");
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
