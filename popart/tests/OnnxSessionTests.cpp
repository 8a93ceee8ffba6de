// Sessions made from models: weights in and out, models back, files of what was
// compiled, options.
#include "OnnxModels.hpp"

#include <popart/builder.hpp>
#include <popart/session.hpp>
#include <popart/sgd.hpp>

#include <cstdlib>
#include <cstring>

namespace popart::tests {
namespace {

std::shared_ptr<DeviceInfo> cpu() {
  return DeviceManager::createDeviceManager().createCpuDevice();
}

std::vector<float> runSmall(Session &session) {
  std::vector<float> x = {0, 1, 2, -3, 4, -5};
  std::vector<float> y(6);
  NDArrayWrapper<float> in(x.data(), Shape{2, 3});
  NDArrayWrapper<float> out(y.data(), Shape{2, 3});
  StepIO stepIO({{"x", in}}, {{"y", out}});
  session.run(stepIO);
  return y;
}

// By hand: Relu(x + {1, -2, 3}).
const std::vector<float> smallResult = {1, 0, 5, 0, 2, 0};

TEST(OnnxInference, RunsAModel) {
  auto session = InferenceSession::createFromOnnxModel(
      bytesOf(smallModel()), DataFlow(1, {"y"}), cpu());
  EXPECT_ERROR(runSmall(*session), "prepare");
  session->prepareDevice();
  EXPECT_EQ(runSmall(*session), smallResult);
  EXPECT_EQ(session->getInfo("y"), TensorInfo("FLOAT", {2, 3}));
  EXPECT_ERROR(session->getInfo("nothing"), "nothing");
  EXPECT_ERROR(session->resetHostWeights(bytesOf(smallModel())),
               "Cannot call resetHostWeights when constantWeights is set");
}

TEST(OnnxInference, TakesOtherWeightsUnlessTheyAreConstant) {
  SessionOptions options;
  options.constantWeights = false;
  auto session = InferenceSession::createFromOnnxModel(
      bytesOf(smallModel()), DataFlow(1, {"y"}), cpu(), {}, options);
  session->prepareDevice();
  session->weightsFromHost();
  EXPECT_EQ(runSmall(*session), smallResult);
  onnx::ModelProto other = smallModel();
  other.mutable_graph()->mutable_initializer(0)->set_float_data(0, 10);
  session->resetHostWeights(bytesOf(other));
  session->weightsFromHost();
  EXPECT_EQ(runSmall(*session), (std::vector<float>{10, 0, 5, 7, 2, 0}));
  addInitializer(other, "more", {1}, {1});
  EXPECT_ERROR(session->resetHostWeights(bytesOf(other)), "no tensor 'more'");
  session->resetHostWeights(bytesOf(other), true);
  other.mutable_graph()->mutable_initializer(0)->set_dims(0, 1);
  other.mutable_graph()->mutable_initializer(0)->mutable_float_data()->Resize(
      1, 0);
  EXPECT_ERROR(session->resetHostWeights(bytesOf(other), true), "'w'");
}

TEST(OnnxInference, RefusesAnchorsThatAreNotThere) {
  EXPECT_ERROR(InferenceSession::createFromOnnxModel(bytesOf(smallModel()),
                                                     DataFlow(1, {"z"}), cpu()),
               "Anchor tensor `z' not in Ir Tensors.");
  EXPECT_ERROR(InferenceSession::createFromOnnxModel(bytesOf(smallModel()),
                                                     DataFlow(1), cpu()),
               "User must specify an anchor tensor when doing inference.");
}

// loss = sum(w * x), so that each step takes x from w.
class OnnxTraining : public ::testing::Test {
protected:
  OnnxTraining() {
    auto builder = Builder::create();
    x = builder->addInputTensor(TensorInfo("FLOAT", {2}), "x");
    const float start[] = {5, 6};
    w = builder->addInitializedInputTensor({start, TensorInfo("FLOAT", {2})},
                                           "w");
    TensorId product = builder->aiOnnxOpset10().mul({x, w});
    loss = builder->customOp({"ai.graphcore", "IdentityLoss"}, 1, {product}, 1,
                             {{"reduction", std::int64_t{0}}})[0];
    builder->addOutputTensor(loss);
    model = builder->getModelProto();
  }
  std::unique_ptr<TrainingSession> makeSession(const std::string &from) {
    auto session = TrainingSession::createFromOnnxModel(
        from, DataFlow(1, {loss}), loss, *optimizer, cpu());
    session->prepareDevice();
    return session;
  }
  float step(Session &session) {
    std::vector<float> in = {1, 2};
    float out = 0;
    NDArrayWrapper<float> inArray(in.data(), Shape{2});
    NDArrayWrapper<float> outArray(&out, Shape{});
    StepIO stepIO({{x, inArray}}, {{loss, outArray}});
    session.run(stepIO);
    return out;
  }
  std::vector<float> weights(Session &session) {
    std::vector<float> values(2);
    WeightsIO io;
    io.insert(w, {values.data(), TensorInfo("FLOAT", {2})});
    session.weightsToHost();
    session.readWeights(io);
    return values;
  }

  TensorId x, w, loss;
  std::string model;
  std::unique_ptr<Optimizer> optimizer = std::make_unique<SGD>(
      Optimizer::Values{{"defaultLearningRate", {1, true}},
                        {"defaultMomentum", {0.5f, true}}});
  Folder folder;
};

TEST_F(OnnxTraining, UpdatesWeightsAndSavesThem) {
  auto session = makeSession(model);
  EXPECT_ERROR(step(*session), "Must call weightsFromHost before run");
  session->weightsFromHost();
  EXPECT_EQ(step(*session), 17.0f); // 5 + 12
  EXPECT_EQ(weights(*session), (std::vector<float>{4, 4}));
  std::string file = (folder.path() / "trained.onnx").string();
  session->modelToHost(file);
  onnx::ModelProto saved;
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(saved.ParseFromIstream(&in));
  EXPECT_EQ(saved.graph().initializer(0).name(), w);
  EXPECT_EQ(saved.graph().initializer(0).float_data(0), 4.0f);
  EXPECT_EQ(saved.graph().initializer(1).name(), "Accl___" + w);
}

TEST_F(OnnxTraining, GoesOnFromASavedModelWithTheOptimisersState) {
  std::string file = (folder.path() / "trained.onnx").string();
  auto session = makeSession(model);
  session->weightsFromHost();
  step(*session);
  session->modelToHost(file);
  step(*session);
  std::vector<float> wanted = weights(*session);
  auto again = makeSession(file);
  again->weightsFromHost();
  step(*again);
  EXPECT_EQ(weights(*again), wanted);
  // Momentum 0.5: the second step takes 1.5 times the gradient.
  EXPECT_EQ(wanted, (std::vector<float>{2.5f, 1.0f}));
  session->resetHostWeights(file);
  session->weightsFromHost();
  EXPECT_EQ(weights(*session), (std::vector<float>{4, 4}));
}

TEST_F(OnnxTraining, KeepsExternalWeightsInTheirFile) {
  auto builder = Builder::createFromOnnxModel(model);
  std::string data = (folder.path() / "weights.bin").string();
  builder->saveInitializersExternally({w}, data);
  auto session = makeSession(builder->getModelProto());
  session->weightsFromHost();
  EXPECT_EQ(step(*session), 17.0f);
  EXPECT_ERROR(session->updateExternallySavedTensorLocations(data, data),
               "already");
  std::string other = (folder.path() / "other.bin").string();
  EXPECT_ERROR(session->updateExternallySavedTensorLocations(other, data),
               "no file");
  session->updateExternallySavedTensorLocations(data, other);
  session->modelToHost((folder.path() / "m.onnx").string());
  float values[2] = {};
  std::ifstream(other, std::ios::binary)
      .read(reinterpret_cast<char *>(values), sizeof(values));
  EXPECT_EQ(values[0], 4.0f);
  std::ifstream(data, std::ios::binary)
      .read(reinterpret_cast<char *>(values), sizeof(values));
  EXPECT_EQ(values[0], 5.0f);
}

TEST_F(OnnxTraining, SavesAndLoadsWhatWasCompiled) {
  auto session = makeSession(model);
  session->weightsFromHost();
  step(*session);
  session->weightsToHost();
  session->saveExecutable(folder.path().string());
  std::string file = (folder.path() / "executable.popef").string();
  auto other = TrainingSession::createFromOnnxModel(model, DataFlow(1, {loss}),
                                                    loss, *optimizer, cpu());
  other->loadExecutable(file);
  other->prepareDevice();
  other->weightsFromHost();
  EXPECT_EQ(step(*other), 12.0f); // with the saved weights, {4, 4}
  // Damaged, or of another model.
  std::ofstream(file, std::ios::binary | std::ios::app) << "";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_ERROR(other->loadExecutable(file), "[loadExecutable]");
  auto inference =
      InferenceSession::createFromOnnxModel(model, DataFlow(1, {loss}), cpu());
  session->compileAndExport(file);
  EXPECT_ERROR(inference->loadExecutable(file), "another model");
  EXPECT_ERROR(inference->loadExecutable("/nowhere"), "[loadExecutable]");
}

TEST_F(OnnxTraining, CachesEngines) {
  SessionOptions options;
  options.enableEngineCaching = true;
  options.cachePath = (folder.path() / "cache").string();
  for (int round = 0; round < 2; ++round) {
    int calls = 0;
    options.compilationProgressLogger = [&](int, int) { ++calls; };
    auto session = TrainingSession::createFromOnnxModel(
        model, DataFlow(1, {loss}), loss, *optimizer, cpu(), {}, options);
    session->prepareDevice();
    session->weightsFromHost();
    EXPECT_EQ(step(*session), 17.0f);
    EXPECT_EQ(calls > 0, round == 0); // the second one is not compiled
    auto files = std::filesystem::directory_iterator(options.cachePath);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  }
}

TEST_F(OnnxTraining, CountsCyclesByTheModel) {
  SessionOptions options;
  auto make = [&] {
    auto session = TrainingSession::createFromOnnxModel(
        model, DataFlow(1, {loss}), loss, *optimizer,
        DeviceManager::createDeviceManager().createIpuModelDevice({}), {},
        options);
    session->prepareDevice();
    session->weightsFromHost();
    return session;
  };
  auto plain = make();
  step(*plain);
  EXPECT_ERROR(plain->getCycleCount(), "instrumentWithHardwareCycleCounter");
  options.instrumentWithHardwareCycleCounter = true;
  auto session = make();
  EXPECT_ERROR(session->getCycleCount(), "Must call run before getCycleCount.");
  step(*session);
  std::uint64_t once = session->getCycleCount();
  EXPECT_GT(once, 0u);
  step(*session);
  EXPECT_EQ(session->getCycleCount(), once); // of the last run
  EXPECT_ERROR(session->getCycleCount("x"), "Invalid id for cycle counter");
}

// x is 0, so that nothing changes; or it is in [0, 1), and w falls.
TEST_F(OnnxTraining, MakesUpItsData) {
  for (SyntheticDataMode mode :
       {SyntheticDataMode::Zeros, SyntheticDataMode::RandomUniform}) {
    SessionOptions options;
    options.syntheticDataMode = mode;
    auto session = TrainingSession::createFromOnnxModel(
        model, DataFlow(2, {loss}), loss, *optimizer, cpu(), {}, options);
    session->prepareDevice();
    session->weightsFromHost();
    StepIO nothing({}, {});
    session->run(nothing);
    bool isZero = mode == SyntheticDataMode::Zeros;
    EXPECT_EQ(weights(*session)[0] == 5.0f, isZero);
    EXPECT_EQ(weights(*session)[1] < 6.0f, !isZero);
    EXPECT_GT(weights(*session)[1], 6.0f - 2.5f);
  }
}

TEST_F(OnnxTraining, RefusesALossThatIsNone) {
  auto make = [&](const TensorId &id) {
    return TrainingSession::createFromOnnxModel(model, DataFlow(1), id,
                                                *optimizer, cpu());
  };
  EXPECT_ERROR(make("nothing"), "Could not find loss tensor 'nothing'");
  EXPECT_ERROR(make("Mul:0"), "must be a scalar tensor");
}

TEST(SessionOptions, ThatContradictEachOtherAreRefused) {
  auto make = [](auto change) {
    SessionOptions options;
    change(options);
    InferenceSession::createFromOnnxModel(
        bytesOf(smallModel()), DataFlow(1, {"y"}), cpu(), {}, options);
  };
  EXPECT_ERROR(make([](auto &o) { o.numIOTiles = 31; }), "numIOTiles");
  EXPECT_ERROR(make([](auto &o) { o.enableExplicitMainLoops = true; }),
               "enableExplicitMainLoops requires useHostCopyOps.");
  EXPECT_ERROR(make([](auto &o) { o.kahnTieBreaker = "dice"; }), "dice");
  EXPECT_ERROR(make([](auto &o) { o.partialsTypeMatMuls = "double"; }),
               "double");
  EXPECT_ERROR(make([](auto &o) { o.gclOptions["x"] = "1"; }), "gclOptions");
  EXPECT_ERROR(make([](auto &o) { o.executionPhaseSettings.phases = 3; }),
               "ExecutionPhases");
  EXPECT_ERROR(make([](auto &o) { o.accumulationFactor = 2; }),
               "enableGradientAccumulation is false");
  EXPECT_ERROR(make([](auto &o) {
                 o.enableDistributedReplicatedGraphs = true;
                 o.globalReplicaOffset = 2;
               }),
               "globalReplicaOffset");
  EXPECT_ERROR(make([](auto &o) {
                 o.batchSerializationSettings.factor = 2;
                 o.batchSerializationSettings.method =
                     BatchSerializationMethod::Loop;
               }),
               "Bwd");
}

TEST(Patterns, HaveNamesAndLevels) {
  Patterns patterns;
  EXPECT_TRUE(patterns.isPatternEnabled("InPlace"));
  EXPECT_FALSE(patterns.isPatternEnabled("TiedGather"));
  EXPECT_TRUE(Patterns(PatternsLevel::All).isPatternEnabled("TiedGather"));
  EXPECT_FALSE(Patterns(PatternsLevel::Minimal).isPatternEnabled("InPlace"));
  EXPECT_ERROR(patterns.enablePattern("MatMulOp", false),
               "Pattern 'MatMulOp' is mandatory and cannot be disabled");
  EXPECT_ERROR(patterns.enablePattern("Inplace", true), "did you mean InPlace");
  EXPECT_ERROR(patterns.isPatternEnabled("X"), "Unknown pattern X");
  EXPECT_ERROR(InferenceSession::createFromOnnxModel(
                   bytesOf(smallModel()), DataFlow(1, {"y"}), cpu(), {}, {},
                   Patterns(PatternsLevel::NoPatterns)),
               "must be enabled");
}

} // namespace
} // namespace popart::tests
