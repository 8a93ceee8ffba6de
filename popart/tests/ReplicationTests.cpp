// Replicas against one replica with the same total batch: the sum of their
// losses is its loss, and their weights are its weights.
#include "EngineVariables.hpp"
#include "Models.hpp"

#include <ir/GraphEditor.hpp>
#include <lowering/HostTensors.hpp>
#include <lowering/StepProgram.hpp>
#include <popart/adam.hpp>
#include <popart/builder.hpp>
#include <popart/error.hpp>
#include <transforms/Pipeline.hpp>

#include <poplar/Engine.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace popart::tests {
namespace {

constexpr std::int64_t batches = 6;
constexpr std::int64_t samples = 2;

struct Case {
  std::int64_t replicas = 1;
  std::int64_t factor = 1;
  bool isPipelined = false;
};

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.replicas << "x" << test.factor << (test.isPipelined ? "p" : "");
}

void setOptions(Ir &ir, const Case &test) {
  SessionOptions &options = ir.sessionOptions;
  options.enableReplicatedGraphs = test.replicas > 1;
  options.replicatedGraphCount = test.replicas;
  options.enableGradientAccumulation = test.factor > 1;
  options.accumulationFactor = test.factor;
  if (test.isPipelined) {
    options.virtualGraphMode = VirtualGraphMode::Manual;
    options.enablePipelining = true;
  }
}

int ipusFor(const Case &test) {
  return static_cast<int>(test.replicas) * (test.isPipelined ? 2 : 1);
}

std::shared_ptr<SGD> momentum() {
  return std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.125f, false}},
                        {"defaultMomentum", {0.75f, true}}});
}

struct Result {
  std::vector<float> losses; // one for each micro-batch of each replica
  std::vector<float> weights;
};

void giveInputs(Step &step, std::int64_t count) {
  step.input("x", Numbers(3).list(count * 3));
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 5));
  }
  step.input("labels", labels);
}

Result run(const std::shared_ptr<Ir> &ir, const Case &test,
           std::int64_t perMicroBatch) {
  setOptions(*ir, test);
  ir->dataFlow = DataFlow(batches, {"loss"});
  auto session = train(ir, ipusFor(test));
  std::int64_t microBatches = batches * test.factor * test.replicas;
  Step step;
  giveInputs(step, microBatches * perMicroBatch);
  Result result;
  auto &losses = step.output("loss", microBatches);
  step.run(*session);
  result.losses = losses;
  for (const char *id : {"w0", "b0", "w1", "b1"}) {
    auto weights = readWeight(*session, id);
    result.weights.insert(result.weights.end(), weights.begin(), weights.end());
  }
  return result;
}

Result runReplicas(const Case &test, const std::shared_ptr<Optimizer> &how) {
  auto ir = classifier(2, samples, ReductionType::Sum);
  ir->optimizer = how;
  return run(ir, test, samples);
}

// The samples of all replicas in one micro-batch.
Result runTogether(Case test, const std::shared_ptr<Optimizer> &how) {
  auto ir = classifier(2, samples * test.replicas, ReductionType::Sum);
  ir->optimizer = how;
  std::int64_t all = samples * test.replicas;
  test.replicas = 1;
  return run(ir, test, all);
}

void expectNear(const std::vector<float> &a, const std::vector<float> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-5 * std::max(1.0f, std::abs(b[i]))) << i;
  }
}

std::vector<float> sumOverReplicas(const std::vector<float> &losses,
                                   std::int64_t replicas) {
  std::vector<float> sums;
  for (auto it = losses.begin(); it != losses.end(); it += replicas) {
    sums.push_back(std::accumulate(it, it + replicas, 0.0f));
  }
  return sums;
}

class Replication : public testing::TestWithParam<Case> {};

TEST_P(Replication, TrainsLikeOneReplicaWithAllSamples) {
  const Case &test = GetParam();
  for (const std::shared_ptr<Optimizer> &how :
       {std::shared_ptr<Optimizer>(momentum()),
        std::shared_ptr<Optimizer>(std::make_shared<Adam>(
            Optimizer::Values{{"defaultLearningRate", {0.125f, false}},
                              {"defaultEps", {0.25f, true}}}))}) {
    Result replicas = runReplicas(test, how);
    Result together = runTogether(test, how);
    expectNear(sumOverReplicas(replicas.losses, test.replicas),
               together.losses);
    expectNear(replicas.weights, together.weights);
  }
}

INSTANTIATE_TEST_SUITE_P(Factors, Replication,
                         testing::Values(Case{1, 1, false}, Case{2, 1, false},
                                         Case{4, 1, false}, Case{1, 4, false},
                                         Case{2, 4, false}, Case{4, 4, false},
                                         Case{1, 1, true}, Case{2, 1, true},
                                         Case{4, 1, true}, Case{1, 4, true},
                                         Case{2, 4, true}, Case{4, 4, true}),
                         testing::PrintToStringParamName());

// The value program adds micro-batches in the order of the input.
TEST(ReplicatedSession, AddsInTheOrderOfAccumulation) {
  auto how = std::make_shared<ConstSGD>(0.25f);
  Result replicas = runReplicas({4, 2, false}, how);
  Result accumulated = runReplicas({1, 8, false}, how);
  EXPECT_EQ(replicas.losses, accumulated.losses);
  EXPECT_EQ(replicas.weights, accumulated.weights);
}

TEST(ReplicatedSession, TakesMeansOverReplicas) {
  for (auto strategy :
       {MeanReductionStrategy::Post, MeanReductionStrategy::Running}) {
    for (std::int64_t factor : {1, 4}) {
      auto ir = classifier(2, samples, ReductionType::Sum);
      // The mean of 2 * factor gradients with a rate as much larger.
      ir->optimizer =
          std::make_shared<ConstSGD>(0.125f * 2 * static_cast<float>(factor));
      ir->sessionOptions.accumulationAndReplicationReductionType =
          ReductionType::Mean;
      ir->sessionOptions.meanAccumulationAndReplicationReductionStrategy =
          strategy;
      Result mean = run(ir, {2, factor, false}, samples);
      Result sum =
          runReplicas({2, factor, false}, std::make_shared<ConstSGD>(0.125f));
      expectNear(mean.losses, sum.losses);
      expectNear(mean.weights, sum.weights);
    }
  }
}

// y = x + w, for anchors of every type; micro-batch m has x = m.
std::vector<float> anchored(const AnchorReturnType &type, const Shape &shape,
                            bool isBroadcast = false) {
  constexpr std::int64_t replicas = 2;
  constexpr std::int64_t steps = 4;
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({1}));
  graph.addStream("b", floats({1}));
  graph.getTensor("b").replicatedStreamMode =
      isBroadcast ? ReplicatedStreamMode::Broadcast
                  : ReplicatedStreamMode::Replicate;
  graph.addOp({"ai.onnx", "Add"}, {"x", "b"}, {"y"}, {}, {});
  ir->dataFlow = DataFlow(steps, {{"y", type}});
  ir->sessionOptions.enableReplicatedGraphs = true;
  ir->sessionOptions.replicatedGraphCount = replicas;
  auto session = InferenceSession::createFromIr(ir, modelDevice(replicas));
  session->prepareDevice();
  EXPECT_EQ(session->getAnchorShape("y"), shape);
  Step step;
  step.input("x", std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  step.input("b", isBroadcast ? std::vector<float>{10, 20, 30, 40}
                              : std::vector<float>(8, 0.0f));
  auto &result = step.output("y", TensorInfo(DataType::FLOAT, shape).nelms());
  step.run(*session);
  return result;
}

TEST(ReplicatedSession, ReturnsAnchorsOfEveryReplica) {
  using List = std::vector<float>;
  EXPECT_EQ(anchored(AnchorReturnType("All"), {4, 2, 1}),
            (List{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(anchored(AnchorReturnType("EveryN", 2), {2, 2, 1}),
            (List{2, 3, 6, 7}));
  EXPECT_EQ(anchored(AnchorReturnType("Final"), {2, 1}), (List{6, 7}));
  EXPECT_EQ(anchored(AnchorReturnType("Sum"), {2, 1}), (List{12, 16}));
}

TEST(ReplicatedSession, GivesAllReplicasWhatIsBroadcast) {
  EXPECT_EQ(anchored(AnchorReturnType("All"), {4, 2, 1}, true),
            (std::vector<float>{10, 11, 22, 23, 34, 35, 46, 47}));
}

TEST(ReplicatedSession, ReadsWhatIsBroadcastFromTheModel) {
  auto builder = Builder::create();
  TensorId x = builder->addInputTensor(floats({1}));
  TensorId b = builder->addInputTensor(
      floats({1}), InputSettings(ReplicatedStreamMode::Broadcast));
  TensorId y = builder->aiOnnxOpset9().add({x, b});
  SessionOptions options;
  options.enableReplicatedGraphs = true;
  options.replicatedGraphCount = 2;
  auto session = InferenceSession::createFromOnnxModel(
      builder->getModelProto(), DataFlow(1, {y}), modelDevice(2), {}, options);
  session->prepareDevice();
  Step step;
  step.input(x, std::vector<float>{1, 2});
  step.input(b, std::vector<float>{10});
  auto &result = step.output(y, 2);
  step.run(*session);
  EXPECT_EQ(result, (std::vector<float>{11, 12}));
}

// Each replica counts what it has seen: state that is not shared.
TEST(ReplicatedSession, KeepsStateOfEachReplica) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  float zero = 0;
  graph.addStream("x", floats({}));
  graph.addVariable("total", floats({}), &zero);
  graph.getTensor("total").variableUpdateType = VariableUpdateType::Copy;
  graph.addOp({"ai.onnx", "Add"}, {"total", "x"}, {"next"}, {}, {});
  graph.addOp({"ai.graphcore", "CopyVarUpdate"}, {"total", "next"}, {"new"}, {},
              {});
  ir->dataFlow = DataFlow(3, {"next"});
  ir->sessionOptions.enableReplicatedGraphs = true;
  ir->sessionOptions.replicatedGraphCount = 2;
  ir->sessionOptions.constantWeights = false;
  auto session = InferenceSession::createFromIr(ir, modelDevice(2));
  session->prepareDevice();
  session->weightsFromHost();
  Step step;
  step.input("x", std::vector<float>{1, 10, 2, 20, 3, 30});
  auto &result = step.output("next", 6);
  step.run(*session);
  EXPECT_EQ(result, (std::vector<float>{1, 10, 3, 30, 6, 60}));
  EXPECT_EQ(readWeight(*session, "total"), std::vector<float>{6});
}

TEST(ReplicatedSession, NeedsIpusForEveryReplica) {
  auto ir = classifier(1, samples, ReductionType::Sum);
  ir->optimizer = momentum();
  setOptions(*ir, {2, 1, false});
  ir->dataFlow = DataFlow(1, {"loss"});
  try {
    train(ir, 3);
    FAIL() << "3 IPUs were taken for 2 replicas";
  } catch (const error &e) {
    EXPECT_NE(std::string(e.what()).find(
                  "For replicated graphs, the number of IPUs must be "
                  "divisible by the replication factor."),
              std::string::npos);
  }
}

std::uint64_t cyclesOf(const Case &test) {
  auto ir = classifier(2, samples, ReductionType::Sum);
  ir->optimizer = std::make_shared<ConstSGD>(0.25f);
  ir->sessionOptions.instrumentWithHardwareCycleCounter = true;
  setOptions(*ir, test);
  ir->dataFlow = DataFlow(batches, {"loss"});
  auto session = train(ir, ipusFor(test));
  std::int64_t microBatches = batches * test.factor * test.replicas;
  Step step;
  giveInputs(step, microBatches * samples);
  step.output("loss", microBatches);
  step.run(*session);
  return session->getCycleCount();
}

// Replicas work at the same time, but for what they combine: gradients in every
// batch, or accumulators once for all micro-batches of one.
TEST(ReplicatedSession, PaysForItsCollectives) {
  std::uint64_t one = cyclesOf({1, 1, false});
  std::uint64_t two = cyclesOf({2, 1, false});
  EXPECT_GT(two, one);
  std::uint64_t accumulatedOne = cyclesOf({1, 4, false});
  std::uint64_t accumulatedTwo = cyclesOf({2, 4, false});
  EXPECT_GT(accumulatedTwo, accumulatedOne);
  EXPECT_LT(accumulatedTwo, 2 * accumulatedOne);
}

// The machine program itself, run as written.
TEST(ReplicatedSession, HasAMachineProgramWithTheSameValues) {
  for (bool isPipelined : {false, true}) {
    Case test{2, 4, isPipelined};
    Result values = runReplicas(test, std::make_shared<ConstSGD>(0.25f));
    auto ir = classifier(2, samples, ReductionType::Sum);
    ir->optimizer = std::make_shared<ConstSGD>(0.25f);
    setOptions(*ir, test);
    ir->dataFlow = DataFlow(batches, {"loss"});
    PassContext model{*ir, ir->getMainGraph(), isPipelined ? 2 : 1};
    runPasses(modelPasses(), model);
    Graph machine;
    GraphEditor(machine).copyFrom(ir->getMainGraph());
    PassContext context{*ir, machine, isPipelined ? 2 : 1};
    runPasses(machinePasses(), context);
    auto device = modelDevice(ipusFor(test));
    poplar::Graph target(device->getDevice().getTarget(),
                         poplar::replication_factor(2));
    poplar::Engine engine(
        target, lowerStep(*ir, machine, target, {.isPipelined = isPipelined}));
    engine.load(device->getDevice());
    writeVariables(engine, *ir);
    std::int64_t count = batches * test.factor * test.replicas * samples;
    auto x = Numbers(3).list(count * 3);
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<std::int32_t>(i % 5));
    }
    std::vector<float> losses(values.losses.size());
    engine.connectStream("x", x.data(), x.data() + x.size());
    engine.connectStream("labels", labels.data(),
                         labels.data() + labels.size());
    engine.connectStream(anchorHandle("loss"), losses.data(),
                         losses.data() + losses.size());
    engine.run(0);
    expectNear(losses, values.losses);
  }
}

} // namespace
} // namespace popart::tests
