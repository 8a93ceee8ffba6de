// Passes that make a graph smaller: what they remove, what they must leave, and
// that they can be left out.
#include "Models.hpp"
#include "OnnxModels.hpp"

#include <popart/tensornames.hpp>

#include <cstdlib>

namespace popart::tests {
namespace {

int countOps(const Session &session, const std::string &type) {
  int count = 0;
  for (const auto &op : session.getIr().getMainGraph().getOps()) {
    count += op->opid.type == type ? 1 : 0;
  }
  return count;
}

class Simplify : public ::testing::Test {
protected:
  ~Simplify() override { unsetenv("ASPEN_DISABLE_PASSES"); }

  std::vector<float> run(const TensorId &output,
                         const std::vector<float> &input) {
    ir_->dataFlow = DataFlow(1, std::vector<TensorId>{output});
    session_ = InferenceSession::createFromIr(ir_, modelDevice(1));
    session_->prepareDevice();
    Step step;
    step.input("x", input);
    const auto &result = step.output(output, session_->getInfo(output).nelms());
    step.run(*session_);
    return result;
  }

  std::shared_ptr<Ir> ir_ = std::make_shared<Ir>();
  Graph &graph_ = ir_->getMainGraph();
  TensorId x_ = graph_.addStream("x", floats({2}));
  std::unique_ptr<InferenceSession> session_;
};

// x + (2 * 3 + 1)
TEST_F(Simplify, FoldsOperationsOnConstants) {
  float values[] = {2.0f, 3.0f, 1.0f};
  TensorId two = graph_.addConstant("two", floats({}), &values[0]);
  TensorId three = graph_.addConstant("three", floats({}), &values[1]);
  TensorId one = graph_.addConstant("one", floats({}), &values[2]);
  TensorId seven = add(graph_, "Add", {add(graph_, "Mul", {two, three}), one});
  TensorId y = add(graph_, "Add", {x_, seven});
  EXPECT_EQ(run(y, {1.0f, -1.0f}), (std::vector<float>{8.0f, 6.0f}));
  EXPECT_EQ(countOps(*session_, "Mul"), 0);
  EXPECT_EQ(countOps(*session_, "Add"), 1);
}

TEST_F(Simplify, FoldsSharedConstantsUnlessToldNot) {
  float value = 2.0f;
  TensorId two = graph_.addConstant("two", floats({}), &value);
  TensorId four = add(graph_, "Mul", {two, two});
  TensorId y = add(graph_, "Add", {add(graph_, "Add", {x_, four}), two});
  ir_->sessionOptions.enableConstantFoldingOfMultipleConsumers = false;
  EXPECT_EQ(run(y, {1.0f, -1.0f}), (std::vector<float>{7.0f, 5.0f}));
  EXPECT_EQ(countOps(*session_, "Mul"), 1);
}

TEST_F(Simplify, KeepsAnchorsAndWhatDependsOnData) {
  float value = 2.0f;
  TensorId two = graph_.addConstant("two", floats({}), &value);
  TensorId four = add(graph_, "Mul", {two, two});
  EXPECT_EQ(run(four, {1.0f, -1.0f}), (std::vector<float>{4.0f}));
  EXPECT_EQ(countOps(*session_, "Mul"), 1);
}

// tanh(x) * tanh(x)
TEST_F(Simplify, MergesEqualOperations) {
  TensorId a = add(graph_, "Tanh", {x_});
  TensorId b = add(graph_, "Tanh", {x_});
  TensorId y = add(graph_, "Mul", {a, b});
  auto got = run(y, {0.5f, -2.0f});
  EXPECT_NEAR(got[0], std::tanh(0.5f) * std::tanh(0.5f), 1e-6f);
  EXPECT_NEAR(got[1], std::tanh(-2.0f) * std::tanh(-2.0f), 1e-6f);
  EXPECT_EQ(countOps(*session_, "Tanh"), 1);
}

TEST_F(Simplify, KeepsOperationsWithOtherAttributes) {
  TensorId a = add(graph_, "LeakyRelu", {x_}, Attributes().set("alpha", 0.1f));
  TensorId b = add(graph_, "LeakyRelu", {x_}, Attributes().set("alpha", 0.2f));
  TensorId y = add(graph_, "Add", {a, b});
  EXPECT_NEAR(run(y, {-1.0f, 1.0f})[0], -0.3f, 1e-6f);
  EXPECT_EQ(countOps(*session_, "LeakyRelu"), 2);
}

TEST_F(Simplify, RemovesOperationsThatChangeNothing) {
  TensorId same = add(graph_, "Identity", {x_});
  TensorId sum = add(graph_, "Sum", {same});
  TensorId y = add(graph_, "Identity", {add(graph_, "Neg", {sum})});
  EXPECT_EQ(run(y, {1.0f, -3.0f}), (std::vector<float>{-1.0f, 3.0f}));
  EXPECT_EQ(countOps(*session_, "Sum"), 0);
  EXPECT_EQ(countOps(*session_, "Identity"), 1); // the anchor
}

// tanh(x)^2 in two halves, which are one afterwards.
TEST_F(Simplify, MergedOperationsKeepTheirGradients) {
  TensorId a = add(graph_, "Tanh", {x_});
  TensorId b = add(graph_, "Tanh", {x_});
  graph_.addOp(
      {"ai.graphcore", "IdentityLoss"}, {add(graph_, "Mul", {a, b})}, {"loss"},
      Attributes().set("reduction",
                       static_cast<Attributes::Int>(ReductionType::Sum)),
      {});
  TensorId gradient = getGradId(x_);
  ir_->loss = "loss";
  ir_->optimizer = std::make_shared<ConstSGD>(0.1f);
  ir_->dataFlow = DataFlow(1, std::vector<TensorId>{gradient});
  auto session = train(ir_);
  EXPECT_EQ(countOps(*session, "Tanh"), 1);
  Step step;
  step.input("x", std::vector<float>{0.5f, -2.0f});
  const auto &got = step.output(gradient, 2);
  step.run(*session);
  for (std::size_t i = 0; i < 2; ++i) {
    float t = std::tanh(i == 0 ? 0.5f : -2.0f);
    EXPECT_NEAR(got[i], 2.0f * t * (1.0f - t * t), 1e-6f);
  }
}

TEST_F(Simplify, PatternsTurnRemovalsOff) {
  ir_->patterns.enablePattern("PostNRepl", false);
  TensorId y = add(graph_, "Neg", {add(graph_, "Identity", {x_})});
  EXPECT_EQ(run(y, {1.0f, -3.0f}), (std::vector<float>{-1.0f, 3.0f}));
  EXPECT_EQ(countOps(*session_, "Identity"), 1);
}

TEST_F(Simplify, OperationsMayBeExcludedFromPatterns) {
  Op::Settings kept;
  kept.excludePatterns = {"PostNRepl"};
  TensorId same = add(graph_, "Identity", {x_}, {}, kept);
  EXPECT_EQ(run(add(graph_, "Neg", {same}), {1.0f, -3.0f}),
            (std::vector<float>{-1.0f, 3.0f}));
  EXPECT_EQ(countOps(*session_, "Identity"), 1);
}

TEST_F(Simplify, CanBeLeftOut) {
  setenv("ASPEN_DISABLE_PASSES",
         "foldConstants,removeIdentities,mergeDuplicates", 1);
  TensorId a = add(graph_, "Tanh", {add(graph_, "Identity", {x_})});
  TensorId b = add(graph_, "Tanh", {add(graph_, "Identity", {x_})});
  run(add(graph_, "Mul", {a, b}), {0.0f, 0.0f});
  EXPECT_EQ(countOps(*session_, "Tanh"), 2);
  EXPECT_EQ(countOps(*session_, "Identity"), 2);
}

} // namespace
} // namespace popart::tests
