// Whole steps: losses, weights and anchors against figures worked out by hand.
#include "Models.hpp"

#include <popart/adam.hpp>
#include <popart/error.hpp>
#include <support/Half.hpp>

#include <gtest/gtest.h>

#include <filesystem>

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
  // The combined form keeps it ready for the next step: 0.5 * 1.5.
  auto velocity = readWeight(*session, "Accl___w");
  EXPECT_FLOAT_EQ(velocity[0], 0.75f);
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

// Weights and activations in FLOAT16, hyper-parameters in FLOAT.
TEST(Session, TrainsInHalfPrecision) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorInfo info(DataType::FLOAT16, {2});
  std::vector<std::uint16_t> weights = {support::floatToHalfBits(1.0f),
                                        support::floatToHalfBits(-2.0f)};
  graph.addStream("x", floats({2}));
  graph.addVariable("w", info, weights.data());
  TensorId x = add(graph, "Cast", {"x"}, Attributes().set("to", "FLOAT16"));
  TensorId y = add(graph, "Cast", {add(graph, "Mul", {x, "w"})},
                   Attributes().set("to", "FLOAT"));
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {y}, {"loss"},
              Attributes().set("reduction", "Sum"), {});
  ir->loss = "loss";
  ir->optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.5f, false}},
                        {"lossScaling", {128.0f, false}}});
  ir->sessionOptions.enableGradientAccumulation = true;
  ir->sessionOptions.accumulationFactor = 2;
  ir->dataFlow = DataFlow(1, {"loss"});
  auto session = train(ir);
  Step step;
  step.input("x", std::vector<float>{1, 2, 3, 4});
  auto &losses = step.output("loss", 2);
  step.run(*session);
  EXPECT_EQ(losses, (std::vector<float>{-3, -5}));
  session->weightsToHost();
  WeightsIO io;
  io.insert("w", {weights.data(), info});
  session->readWeights(io);
  EXPECT_EQ(support::halfBitsToFloat(weights[0]), -1.0f);
  EXPECT_EQ(support::halfBitsToFloat(weights[1]), -5.0f);
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

// y = x + x, a micro-batch of two elements.
std::shared_ptr<Ir> doubling() {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({2}));
  graph.addOp({"ai.onnx", "Add"}, {"x", "x"}, {"y"}, {}, {});
  ir->dataFlow = DataFlow(2, {"y"});
  return ir;
}

TEST(Session, ReadsConnectedMemoryInsteadOfTheStepsInputs) {
  auto session = InferenceSession::createFromIr(doubling(), modelDevice(1));
  session->prepareDevice();
  std::vector<float> memory = {1, 2};
  session->connectStream("x", memory.data());
  Step step;
  auto &y = step.output("y", 4);
  step.run(*session);
  EXPECT_EQ(y, (std::vector<float>{2, 4, 2, 4})); // every time from its start
  memory = {3, 4};
  step.run(*session);
  EXPECT_EQ(y, (std::vector<float>{6, 8, 6, 8}));
}

TEST(Session, CopiesRemoteBuffers) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({2}));
  graph.addOp({"aspen", "RemoteLoad"}, {}, {"r"},
              Attributes()
                  .set("buffer", Attributes::String("rows"))
                  .set("type", static_cast<Attributes::Int>(DataType::FLOAT))
                  .set("shape", Shape{2}),
              {});
  graph.addOp({"ai.onnx", "Sub"}, {"x", "r"}, {"y"}, {}, {});
  ir->dataFlow = DataFlow(1, {"y"});
  auto session = InferenceSession::createFromIr(ir, modelDevice(1));
  session->prepareDevice();
  std::vector<float> row = {1, -2};
  session->copyToRemoteBuffer(row.data(), "rows", 0);
  Step step;
  step.input("x", std::vector<float>{5, 5});
  auto &y = step.output("y", 2);
  step.run(*session);
  EXPECT_EQ(y, (std::vector<float>{4, 7}));
  std::vector<float> back(2);
  session->copyFromRemoteBuffer("rows", back.data(), 0);
  EXPECT_EQ(back, row);
}

TEST(Session, TriesItsCacheForAnExecutable) {
  const std::string folder = testing::TempDir() + "popart_try_load";
  std::filesystem::remove_all(folder);
  auto make = [&](bool isCaching) {
    auto ir = doubling();
    ir->sessionOptions.enableEngineCaching = isCaching;
    ir->sessionOptions.cachePath = folder;
    return InferenceSession::createFromIr(ir, modelDevice(1));
  };
  EXPECT_FALSE(make(false)->tryLoadExecutable());
  auto first = make(true);
  EXPECT_FALSE(first->tryLoadExecutable());
  first->prepareDevice();
  auto second = make(true);
  EXPECT_TRUE(second->tryLoadExecutable());
  second->prepareDevice();
  Step step;
  step.input("x", std::vector<float>{1, 2, 3, 4});
  auto &y = step.output("y", 4);
  step.run(*second);
  EXPECT_EQ(y, (std::vector<float>{2, 4, 6, 8}));
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace popart::tests
