// Operators that a shared object brings: built into models, trained, copied,
// placed, and refused where they contradict themselves. Expected values are the
// operators' formulas, worked out here.
#include "Models.hpp"
#include "OnnxModels.hpp"

#include <ir/Print.hpp>
#include <onnx/Import.hpp>
#include <popart/builder.hpp>
#include <popart/operators.hpp>
#include <popart/opmanager.hpp>
#include <popart/tensornames.hpp>

#include <dlfcn.h>

namespace popart::tests {
namespace {

const std::vector<float> values = {-2.0f, -0.5f, 0.25f, 1.0f, 1.5f, 3.0f};

class CustomOp : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    // As ctypes does it; the operators stay for the life of the process.
    ASSERT_NE(dlopen(POPART_CUSTOM_OPERATORS, RTLD_NOW), nullptr) << dlerror();
  }

  // A model of x[2, 3] through one custom operator, as a graph.
  std::shared_ptr<Ir> model(const std::string &type,
                            const ModelBuilder::AttributeMap &attributes = {},
                            unsigned outputs = 1, int version = 1) {
    auto builder = Builder::create();
    TensorId x = builder->addInputTensor(floats({2, 3}), "x");
    names_ = builder->customOp({"custom.ops", type, version}, version, {x},
                               outputs, attributes);
    for (const TensorId &id : names_) {
      builder->addOutputTensor(id);
    }
    return import(*builder);
  }

  static std::shared_ptr<Ir> import(const Builder &builder,
                                    bool isTraining = false) {
    auto ir = std::make_shared<Ir>();
    ImportOptions options;
    options.areWeightsVariable = isTraining;
    importModel(loadModel(builder.getModelProto()), options,
                ir->getMainGraph());
    return ir;
  }

  // Results of one step on `values`, one list for each id.
  std::vector<std::vector<float>> infer(const std::shared_ptr<Ir> &ir,
                                        const std::vector<TensorId> &ids,
                                        int ipus = 1) {
    ir->dataFlow = DataFlow(1, ids);
    auto session = InferenceSession::createFromIr(ir, modelDevice(ipus));
    session->prepareDevice();
    Step step;
    step.input("x", values);
    std::vector<const std::vector<float> *> results;
    for (const TensorId &id : ids) {
      results.push_back(&step.output(id, session->getInfo(id).nelms()));
    }
    step.run(*session);
    std::vector<std::vector<float>> copies;
    for (const auto *result : results) {
      copies.push_back(*result);
    }
    return copies;
  }

  std::vector<TensorId> names_; // of the custom operator's outputs
};

void expectNear(const std::vector<float> &got,
                const std::vector<float> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-5f + 1e-6f * std::abs(expected[i]))
        << i;
  }
}

template <typename F> std::vector<float> mapped(F f) {
  std::vector<float> results;
  for (float x : values) {
    results.push_back(f(x));
  }
  return results;
}

TEST_F(CustomOp, ComputesWithPoplibs) {
  auto ir = model("Cube");
  expectNear(infer(ir, names_)[0], mapped([](float x) { return x * x * x; }));
}

TEST_F(CustomOp, ReadsAttributesOfTheModel) {
  auto leaky = [](float slope) {
    return mapped([=](float x) { return x < 0 ? slope * x : x; });
  };
  expectNear(infer(model("LeakyRelu", {{"alpha", 0.3f}}), names_)[0],
             leaky(0.3f));
  expectNear(infer(model("LeakyRelu"), names_)[0], leaky(0.01f));
}

TEST_F(CustomOp, HasVerticesOfItsOwn) {
  auto ir = model("Triple");
  expectNear(infer(ir, names_)[0], mapped([](float x) { return 3.0f * x; }));
}

TEST_F(CustomOp, HasSeveralOutputs) {
  auto ir = model("Range", {}, 2, 2);
  auto results = infer(ir, names_);
  expectNear(results[0], {-2.0f, 1.0f});
  expectNear(results[1], {0.25f, 3.0f});
}

TEST_F(CustomOp, IsMadeOfOthersByItsFactory) {
  auto ir = model("NinthPower");
  EXPECT_EQ(ir->getMainGraph().getOps().size(), 2u);
  expectNear(infer(ir, names_)[0],
             mapped([](float x) { return std::pow(x, 9.0f); }));
}

TEST_F(CustomOp, IsReplacedByAPattern) {
  auto ir = model("SoftRelu");
  expectNear(infer(ir, names_)[0],
             mapped([](float x) { return std::log1p(std::exp(x)); }));
  ASSERT_EQ(ir->getMainGraph().getOps().size(), 1u);
  EXPECT_EQ(ir->getMainGraph().getOps().front()->opid.type, "Softplus");
}

TEST_F(CustomOp, PatternsAreTurnedOffByTheirNames) {
  EXPECT_TRUE(Patterns().isPatternEnabled("SoftRelu"));
  EXPECT_FALSE(Patterns(PatternsLevel::Minimal).isPatternEnabled("SoftRelu"));
  auto ir = model("SoftRelu");
  ir->patterns.enablePattern("SoftRelu", false);
  EXPECT_ERROR(infer(ir, names_), "SoftRelu must become Softplus");
}

TEST_F(CustomOp, HasAllKindsOfAttributes) {
  Attributes attributes;
  attributes.set("i", Attributes::Int{3})
      .set("f", 0.5f)
      .set("s", Attributes::String("text"))
      .set("is", Attributes::Ints{1, 2})
      .set("fs", Attributes::Floats{0.25f})
      .set("ss", Attributes::Strings{"a", "b"})
      .set("g", Attributes::Graph{"body(0)"});
  EXPECT_EQ(attributes.getAttribute<Attributes::Int>("i"), 3);
  EXPECT_EQ(attributes.getAttribute<Attributes::Float>("f"), 0.5f);
  EXPECT_EQ(attributes.getAttribute<Attributes::String>("s"), "text");
  EXPECT_EQ(attributes.getAttribute<Attributes::Ints>("is").size(), 2u);
  EXPECT_EQ(attributes.getAttribute<Attributes::Floats>("fs")[0], 0.25f);
  EXPECT_EQ(attributes.getAttribute<Attributes::Strings>("ss")[1], "b");
  EXPECT_EQ(attributes.getAttribute<Attributes::Graph>("g").id, "body(0)");
  EXPECT_EQ(attributes.getAttribute<Attributes::Int>("none", 7), 7);
  EXPECT_ERROR(attributes.getAttribute<Attributes::Int>("f"),
               "No attribute value found for attribute 'f'");
}

TEST_F(CustomOp, KnowsTheNamesOfBuiltInOperators) {
  EXPECT_EQ(OperatorIdentifier(Onnx::Operators::Relu_6),
            OperatorIdentifier(Domain::ai_onnx, "Relu", 6));
  EXPECT_EQ(Onnx::AiOnnx::OpSet9::Add.version, 7);
  EXPECT_EQ(OperatorIdentifier(Onnx::AiGraphcore::OpSet1::Detach),
            OperatorIdentifier(Domain::ai_graphcore, "Detach", 1));
}

// Two operators on the same input differ, and so do micro-batches; a seed gives
// all of it again.
TEST_F(CustomOp, DrawsNumbersFromItsSeed) {
  auto builder = Builder::create();
  TensorId x = builder->addInputTensor(floats({2, 3}), "x");
  std::vector<TensorId> ids;
  for (int i = 0; i < 2; ++i) {
    ids.push_back(
        builder->customOp({"custom.ops", "Noise", 1}, 1, {x}, 1, {})[0]);
    builder->addOutputTensor(ids.back());
  }
  auto ir = import(*builder);
  ir->dataFlow = DataFlow(1, ids);
  auto session = InferenceSession::createFromIr(ir, modelDevice(1));
  session->prepareDevice();
  auto run = [&] {
    Step step;
    step.input("x", values);
    const auto &a = step.output(ids[0], 6);
    const auto &b = step.output(ids[1], 6);
    step.run(*session);
    return std::vector<std::vector<float>>{a, b};
  };
  session->setRandomSeed(7);
  auto first = run();
  auto second = run();
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], second[0]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_GE(first[0][i], values[i]);
    EXPECT_LE(first[0][i], values[i] + 1.0f);
  }
  session->setRandomSeed(7);
  EXPECT_EQ(run(), first);
}

TEST_F(CustomOp, TellsTheBuilderItsShapes) {
  auto builder = Builder::create();
  TensorId x = builder->addInputTensor(floats({4, 5}));
  auto range = builder->customOp({"custom.ops", "Range", 2}, 2, {x}, 2, {});
  EXPECT_EQ(builder->getTensorShape(range[1]), (Shape{4}));
  EXPECT_EQ(builder->getTensorDtypeString(range[0]), "float32");
  // The version at opset 2 is 1, and nothing says its shapes.
  auto cube = builder->customOp({"custom.ops", "Cube", 1}, 2, {x}, 1, {});
  EXPECT_FALSE(builder->hasTensorShape(cube[0]));
}

TEST_F(CustomOp, PrintsWhatItsClassSays) {
  auto ir = model("LeakyRelu", {{"alpha", 0.25f}});
  EXPECT_NE(printGraph(ir->getMainGraph()).find("{alpha=0.25}"),
            std::string::npos);
}

TEST_F(CustomOp, IsRefusedWithItsName) {
  EXPECT_ERROR(model("Unknown"), "No class for custom.ops.Unknown:1");
  // Registered with version 2 only.
  EXPECT_ERROR(model("Range", {}, 2, 1), "No class for custom.ops.Range:1");
  EXPECT_ERROR(infer(model("Wrong"), names_), "output 0 is FLOAT");
  auto builder = Builder::create();
  TensorId x = builder->addInputTensor(floats({4}), "x");
  builder->addOutputTensor(
      builder->customOp({"custom.ops", "Cube", 1}, 1, {x}, 2, {})[0]);
  EXPECT_ERROR(import(*builder), "has 1 outputs, not 2");
}

// loss = sum(leakyRelu(cube(x w))): weights move against the gradient that the
// operators' own classes give.
TEST_F(CustomOp, IsTrainedThroughItsGradientOperators) {
  constexpr float alpha = 0.5f;
  constexpr float rate = 0.01f;
  std::vector<float> weights = {0.5f, -1.0f, 2.0f, 0.1f, -0.3f, 0.7f};
  auto builder = Builder::create();
  auto onnx = builder->aiOnnxOpset11();
  TensorId x = builder->addInputTensor(floats({2, 3}), "x");
  TensorId w =
      builder->addInitializedInputTensor({weights.data(), floats({2, 3})}, "w");
  TensorId cube = builder->customOp({"custom.ops", "Cube", 1}, 1,
                                    {onnx.mul({x, w})}, 1, {})[0];
  TensorId leaky = builder->customOp({"custom.ops", "LeakyRelu", 1}, 1, {cube},
                                     1, {{"alpha", alpha}})[0];
  TensorId loss = builder->customOp(
      {"ai.graphcore", "IdentityLoss"}, 1, {leaky}, 1,
      {{"reduction", static_cast<std::int64_t>(ReductionType::Sum)}})[0];
  builder->addOutputTensor(loss);
  for (RecomputationType recomputation :
       {RecomputationType::None, RecomputationType::RecomputeAll}) {
    auto ir = import(*builder, true);
    TensorId gradient = getGradId(x);
    ir->dataFlow = DataFlow(1, std::vector<TensorId>{loss, gradient});
    ir->loss = loss;
    ir->optimizer = std::make_shared<ConstSGD>(rate);
    ir->sessionOptions.autoRecomputation = recomputation;
    auto session = train(ir);
    Step step;
    step.input("x", values);
    const auto &gotLoss = step.output(loss, 1);
    const auto &gotGradient = step.output(gradient, 6);
    step.run(*session);
    float sum = 0.0f;
    std::vector<float> gradients;
    std::vector<float> updated;
    for (std::size_t i = 0; i < values.size(); ++i) {
      float y = values[i] * weights[i];
      float slope = y < 0 ? alpha : 1.0f;
      sum += slope * y * y * y;
      gradients.push_back(slope * 3.0f * y * y * weights[i]);
      updated.push_back(weights[i] - rate * slope * 3.0f * y * y * values[i]);
    }
    expectNear(gotLoss, {sum});
    expectNear(gotGradient, gradients);
    expectNear(readWeight(*session, w), updated);
  }
}

// The machine program and the value program both come from copies of the graph
// or from the graph itself; operators keep their own members in both.
TEST_F(CustomOp, RunsOnTheIpuOfItsPlacement) {
  auto builder = Builder::create();
  TensorId x = builder->addInputTensor(floats({2, 3}), "x");
  TensorId cube =
      builder->customOp({"custom.ops", "Cube", 1}, 1, {x}, 1, {})[0];
  TensorId triple =
      builder->customOp({"custom.ops", "Triple", 1}, 1, {cube}, 1, {})[0];
  builder->virtualGraph({cube}, 0);
  builder->virtualGraph({triple}, 1);
  builder->addOutputTensor(triple);
  auto ir = import(*builder);
  ir->sessionOptions.virtualGraphMode = VirtualGraphMode::Manual;
  expectNear(infer(ir, {triple}, 2)[0],
             mapped([](float x) { return 3.0f * x * x * x; }));
}

} // namespace
} // namespace popart::tests
