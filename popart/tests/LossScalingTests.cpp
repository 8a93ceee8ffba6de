// Automatic loss scaling against the rule computed by hand; stochastic rounding
// and floating-point checks.
#include "EngineVariables.hpp"
#include "MachineRuns.hpp"

#include <popart/adam.hpp>
#include <popart/error.hpp>
#include <support/Half.hpp>

#include <numeric>

namespace popart::tests {
namespace {

std::vector<char> halves(const std::vector<float> &values) {
  std::vector<char> bytes;
  for (float value : values) {
    support::Half half(value);
    const char *begin = reinterpret_cast<const char *>(&half);
    bytes.insert(bytes.end(), begin, begin + sizeof(half));
  }
  return bytes;
}

// loss = sum(x * w) in FLOAT16, so that the gradient of w is x times the scale.
std::shared_ptr<Ir> product(std::int64_t batches, float scale) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorInfo info(DataType::FLOAT16, {4});
  graph.addStream("x", TensorInfo(DataType::FLOAT, {4}));
  graph.addVariable("w", info, halves({0, 0, 0, 0}).data());
  TensorId x =
      add(graph, "Cast", {"x"}, Attributes().set("to", Attributes::Int{10}));
  TensorId y = add(graph, "Mul", {x, "w"});
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {y}, {"loss"},
              Attributes().set("reduction", Attributes::Int{0}), {});
  ir->loss = "loss";
  ir->optimizer = std::make_shared<SGD>(Optimizer::Values{
      {"defaultLearningRate", {0.0f, false}}, {"lossScaling", {scale, false}}});
  ir->dataFlow = DataFlow(static_cast<int>(batches), {"finalLossScale"});
  ir->sessionOptions.automaticLossScalingSettings.enabled = true;
  return ir;
}

// The scale of each micro-batch, and at last what follows the step.
std::vector<float> scales(const std::shared_ptr<Ir> &ir,
                          const std::vector<float> &x) {
  int replicas = static_cast<int>(ir->sessionOptions.getReplicationFactor());
  auto session = train(ir, replicas);
  Step step;
  step.input("x", x);
  auto &anchor = step.output("finalLossScale", microBatchesOf(*ir));
  step.run(*session);
  std::vector<float> result = anchor;
  result.push_back(readWeight(*session, "lossScaling_FLOAT16")[0] *
                   readWeight(*session, "lossScaleUpdateFactor")[0]);
  return result;
}

// The edge is at 65504 / 8 = 8188.
TEST(AutomaticLossScaling, DoublesUntilGradientsAreTooLarge) {
  auto ir = product(5, 1024);
  std::vector<float> x;
  for (int i = 0; i < 5; ++i) {
    x.insert(x.end(), {1, 0, -3, 0.5f});
  }
  // 3 * 2048 is below the edge, 3 * 4096 is not.
  EXPECT_EQ(scales(ir, x),
            (std::vector<float>{1024, 2048, 4096, 2048, 4096, 2048}));
}

TEST(AutomaticLossScaling, ToleratesAShareOfLargeGradients) {
  auto scalesWith = [](float threshold) {
    auto ir = product(2, 4096);
    auto &settings = ir->sessionOptions.automaticLossScalingSettings;
    settings.thresholdUpperCountProportion = threshold;
    settings.gradientTensorTrackingMethod =
        GradientTensorTrackingMethod::GradientsOfUserSpecifiedTensors;
    settings.toTrackTensors = std::vector<TensorId>{"w"};
    return scales(ir, {3, 0, 0, 1, 1.5f, 0, 0, 0.5f});
  };
  // One of four is too large at 4096, and again at 8192.
  EXPECT_EQ(scalesWith(0.3f), (std::vector<float>{4096, 8192, 16384}));
  EXPECT_EQ(scalesWith(0.2f), (std::vector<float>{4096, 2048, 4096}));
}

TEST(AutomaticLossScaling, LooksAtAllMicroBatchesAndReplicas) {
  for (bool isAccumulated : {false, true}) {
    for (bool isReplicated : {false, true}) {
      auto ir = product(2, 4096);
      SessionOptions &options = ir->sessionOptions;
      options.enableGradientAccumulation = isAccumulated;
      options.accumulationFactor = isAccumulated ? 2 : 1;
      options.enableReplicatedGraphs = isReplicated;
      options.replicatedGraphCount = isReplicated ? 2 : 1;
      std::int64_t perBatch = microBatchesOf(*ir) / 2;
      // In each batch only the last micro-batch has a large gradient.
      std::vector<float> x;
      for (std::int64_t i = 0; i < 2 * perBatch; ++i) {
        bool isLast = i % perBatch == perBatch - 1;
        x.insert(x.end(), {isLast ? 8.0f : 1.0f, 1, 0, 0});
      }
      EXPECT_EQ(scales(ir, x).back(), 1024) << isAccumulated << isReplicated;
    }
  }
}

TEST(AutomaticLossScaling, WaitsForThePeriod) {
  auto ir = product(6, 1024);
  ir->sessionOptions.automaticLossScalingSettings.updatePeriod = 3;
  std::vector<float> x;
  for (int i = 0; i < 6; ++i) {
    // Too large once in the first period.
    x.insert(x.end(), {i == 1 ? 10.0f : 1.0f, 0, 0, 0});
  }
  EXPECT_EQ(scales(ir, x),
            (std::vector<float>{1024, 1024, 1024, 512, 512, 512, 1024}));
}

TEST(AutomaticLossScaling, FollowsTheTensorsThatTheUserNames) {
  auto ir = product(1, 1024);
  auto &settings = ir->sessionOptions.automaticLossScalingSettings;
  settings.gradientTensorTrackingMethod =
      GradientTensorTrackingMethod::GradientsOfUserSpecifiedTensors;
  settings.toTrackTensors = std::vector<TensorId>{"w"};
  EXPECT_EQ(scales(ir, {9, 0, 0, 0}), (std::vector<float>{1024, 512}));
  auto unknown = product(1, 1024);
  unknown->sessionOptions.automaticLossScalingSettings = settings;
  unknown->sessionOptions.automaticLossScalingSettings.toTrackTensors =
      std::vector<TensorId>{"y"};
  EXPECT_THROW(train(unknown), error);
}

TEST(AutomaticLossScaling, NamesWhatItCannotWorkWith) {
  auto ir = product(1, 1024);
  ir->optimizer = std::make_shared<Adam>(
      Optimizer::Values{}, AdamMode::Adam, WeightDecayMode::Decay,
      DataType::UNDEFINED, DataType::FLOAT, DataType::FLOAT,
      std::vector<ClipNormSettings>{}, true);
  EXPECT_THROW(train(ir), error);
  auto floats = classifier(1, 2, ReductionType::Sum);
  floats->optimizer =
      std::make_shared<SGD>(Optimizer::Values{{"lossScaling", {1.0f, false}}});
  floats->dataFlow = DataFlow(1, {"loss"});
  floats->sessionOptions.automaticLossScalingSettings.enabled = true;
  EXPECT_THROW(train(floats), error); // no FLOAT16 anywhere
}

// loss = -sum(w) in FLOAT16, from w = 1, in 64 steps.
std::shared_ptr<Ir> climb(float rate) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addVariable("w", TensorInfo(DataType::FLOAT16, {64}),
                    halves(std::vector<float>(64, 1.0f)).data());
  TensorId w =
      add(graph, "Cast", {"w"}, Attributes().set("to", Attributes::Int{1}));
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {add(graph, "Neg", {w})},
              {"loss"}, Attributes().set("reduction", Attributes::Int{0}), {});
  ir->loss = "loss";
  ir->optimizer = std::make_shared<ConstSGD>(rate);
  ir->dataFlow = DataFlow(64);
  ir->sessionOptions.enableStochasticRounding = true;
  return ir;
}

std::vector<float> toFloats(const std::vector<support::Half> &halves) {
  return {halves.begin(), halves.end()};
}

// Halves at 1 are 2^-10 apart: a step of a quarter of that is lost when it is
// rounded to the nearest.
TEST(StochasticRounding, KeepsSmallStepsOnAverage) {
  auto meanAfter = [](bool isStochastic) {
    auto ir = climb(0.25f / 1024);
    ir->sessionOptions.enableStochasticRounding = isStochastic;
    auto session = train(ir);
    Step().run(*session);
    session->weightsToHost();
    std::vector<support::Half> weights(64);
    WeightsIO io;
    io.insert("w", {weights.data(), session->getInfo("w")});
    session->readWeights(io);
    auto values = toFloats(weights);
    return std::accumulate(values.begin(), values.end(), 0.0) / 64;
  };
  EXPECT_EQ(meanAfter(false), 1.0);
  // 64 steps of 2^-12 are 2^-6; the mean's deviation is about 0.0005.
  EXPECT_NEAR(meanAfter(true), 1.0 + 1.0 / 64, 0.003);
  EXPECT_EQ(meanAfter(true), meanAfter(true));
}

// Where replicas run apart, as here the machine program's do.
TEST(StochasticRounding, LeavesReplicasWithTheSameWeights) {
  for (std::int64_t factor : {1, 2}) {
    auto ir = climb(0.375f / 1024);
    SessionOptions &options = ir->sessionOptions;
    options.enableReplicatedGraphs = true;
    options.replicatedGraphCount = 2;
    options.enableGradientAccumulation = factor > 1;
    options.accumulationFactor = factor;
    Graph machine;
    toMachine(*ir, machine, 1);
    auto device = modelDevice(2);
    poplar::Graph target(device->getDevice().getTarget(),
                         poplar::replication_factor(2));
    poplar::Engine engine(target, lowerStep(*ir, machine, target, {}));
    engine.load(device->getDevice());
    writeVariables(engine, *ir);
    engine.run(0);
    std::vector<support::Half> weights(2 * 64);
    engine.readTensor("w", weights.data(), weights.data() + weights.size());
    auto values = toFloats(weights);
    EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 64),
              std::vector<float>(values.begin() + 64, values.end()));
    EXPECT_GT(values[0], 1.0f);
  }
}

TEST(FloatingPointChecks, EndARunThatDividesByZero) {
  for (bool isChecked : {false, true}) {
    auto ir = std::make_shared<Ir>();
    Graph &graph = ir->getMainGraph();
    graph.addStream("x", floats({4}));
    graph.addOp({"ai.onnx", "Div"}, {"x", "x"}, {"y"}, {}, {});
    ir->dataFlow = DataFlow(1, {"y"});
    ir->sessionOptions.enableFloatingPointChecks = isChecked;
    auto session = InferenceSession::createFromIr(ir, modelDevice(1));
    session->prepareDevice();
    Step step;
    step.input("x", std::vector<float>(4, 0.0f));
    step.output("y", 4);
    bool isStopped = false;
    try {
      step.run(*session);
    } catch (const std::exception &) {
      isStopped = true;
    }
    EXPECT_EQ(isStopped, isChecked);
  }
}

} // namespace
} // namespace popart::tests
