// Call, If, Loop and Scan by the Builder in C++: imported, run, differentiated.
// Expected values are worked out by hand; test_subgraphs.py has more forms.
#include "Models.hpp"
#include "OnnxModels.hpp"

#include <onnx/Import.hpp>
#include <popart/builder.hpp>
#include <popart/tensornames.hpp>

namespace popart::tests {
namespace {

using Lists = std::map<TensorId, std::vector<float>>;

class Subgraph : public ::testing::Test {
protected:
  std::shared_ptr<Ir> import(bool isTraining = false) const {
    auto ir = std::make_shared<Ir>();
    ImportOptions options;
    options.areWeightsVariable = isTraining;
    options.isTraining = isTraining;
    importModel(loadModel(builder_->getModelProto()), options,
                ir->getMainGraph());
    return ir;
  }

  TensorId input(const Shape &shape, const std::string &name) {
    return builder_->addInputTensor(floats(shape), name);
  }
  TensorId scalar(std::int64_t value) {
    return onnx_.constant(
        ConstVoidData{&value, TensorInfo(DataType::INT64, {})});
  }
  TensorId truth() {
    char yes = 1;
    return onnx_.constant(ConstVoidData{&yes, TensorInfo(DataType::BOOL, {})});
  }

  Lists infer(const Lists &inputs, const std::vector<TensorId> &outputs) {
    for (const TensorId &id : outputs) {
      builder_->addOutputTensor(id);
    }
    auto ir = import();
    ir->dataFlow = DataFlow(1, outputs);
    auto session = InferenceSession::createFromIr(ir, modelDevice(1));
    session->prepareDevice();
    return run(*session, inputs, outputs);
  }

  static Lists run(Session &session, const Lists &inputs,
                   const std::vector<TensorId> &outputs) {
    Step step;
    for (const auto &[id, values] : inputs) {
      step.input(id, values);
    }
    std::map<TensorId, const std::vector<float> *> results;
    for (const TensorId &id : outputs) {
      results[id] = &step.output(id, session.getInfo(id).nelms());
    }
    step.run(session);
    Lists copies;
    for (const auto &[id, values] : results) {
      copies[id] = *values;
    }
    return copies;
  }

  // Sum of `values` as the loss: every gradient by hand.
  Lists train(const TensorId &value, const Lists &inputs,
              const std::vector<TensorId> &gradients) {
    TensorId loss = builder_->customOp(
        {"ai.graphcore", "IdentityLoss"}, 1, {value}, 1,
        {{"reduction", static_cast<std::int64_t>(ReductionType::Sum)}})[0];
    builder_->addOutputTensor(loss);
    auto ir = import(true);
    ir->dataFlow = DataFlow(1, gradients);
    ir->loss = loss;
    ir->optimizer = std::make_shared<ConstSGD>(0.1f);
    auto session = tests::train(ir);
    return run(*session, inputs, gradients);
  }

  std::unique_ptr<Builder> builder_ = Builder::create();
  AiOnnxOpset11 onnx_ = builder_->aiOnnxOpset11();
};

// callee(a, b) = a * b + a, called twice: once on its own result.
TEST_F(Subgraph, CallsAreInlinedAndDifferentiated) {
  Builder &callee = builder_->createSubgraphBuilder();
  auto inner = callee.aiOnnxOpset11();
  TensorId a = callee.addInputTensor(floats({2}));
  TensorId b = callee.addInputTensor(floats({2}));
  callee.addOutputTensor(inner.add({inner.mul({a, b}), a}));
  auto graphcore = builder_->aiGraphcoreOpset1();
  TensorId x = input({2}, "x");
  TensorId w = input({2}, "w");
  TensorId once = graphcore.call({x, w}, 1, callee)[0];
  TensorId twice = graphcore.call({once, w}, 1, callee)[0];
  // x (w + 1)^2, with gradients (w + 1)^2 and 2 x (w + 1)
  auto got = train(twice, {{x, {2.0f, -1.0f}}, {w, {3.0f, 0.5f}}},
                   {twice, getGradId(x), getGradId(w)});
  EXPECT_EQ(got[twice], (std::vector<float>{32.0f, -2.25f}));
  EXPECT_EQ(got[getGradId(x)], (std::vector<float>{16.0f, 2.25f}));
  EXPECT_EQ(got[getGradId(w)], (std::vector<float>{16.0f, -3.0f}));
}

// flag > zero ? x * w : -x, both reading the graph around them.
TEST_F(Subgraph, IfTakesAndDifferentiatesOneBranch) {
  TensorId x = input({2}, "x");
  TensorId w = input({2}, "w");
  TensorId zero = input({1}, "zero");
  Builder &yes = builder_->createSubgraphBuilder();
  yes.addInputTensorFromParentGraph(x);
  yes.addInputTensorFromParentGraph(w);
  yes.addOutputTensor(yes.aiOnnxOpset11().mul({x, w}));
  Builder &no = builder_->createSubgraphBuilder();
  no.addInputTensorFromParentGraph(x);
  no.addOutputTensor(no.aiOnnxOpset11().neg({x}));
  TensorId flag = input({1}, "flag");
  TensorId y = onnx_.logical_if({onnx_.greater({flag, zero})}, 1, no, yes)[0];
  std::vector<TensorId> wanted = {y, getGradId(x), getGradId(w)};
  Lists inputs = {
      {x, {2.0f, 3.0f}}, {w, {5.0f, 7.0f}}, {flag, {5.0f}}, {zero, {0.0f}}};
  auto taken = train(y, inputs, wanted);
  EXPECT_EQ(taken[y], (std::vector<float>{10.0f, 21.0f}));
  EXPECT_EQ(taken[getGradId(x)], (std::vector<float>{5.0f, 7.0f}));
  EXPECT_EQ(taken[getGradId(w)], (std::vector<float>{2.0f, 3.0f}));
  inputs[zero] = {6.0f};
  auto other = train(y, inputs, wanted);
  EXPECT_EQ(other[y], (std::vector<float>{-2.0f, -3.0f}));
  EXPECT_EQ(other[getGradId(x)], (std::vector<float>{-1.0f, -1.0f}));
  EXPECT_EQ(other[getGradId(w)], (std::vector<float>{0.0f, 0.0f}));
}

// (a, b) -> (b, a + b * step): Fibonacci numbers, and all of them.
TEST_F(Subgraph, LoopHandsValuesOverAndCollectsThem) {
  TensorId a = input({1}, "a");
  TensorId b = input({1}, "b");
  TensorId step = input({1}, "step");
  Builder &body = builder_->createSubgraphBuilder();
  auto inner = body.aiOnnxOpset11();
  body.addInputTensor(TensorInfo(DataType::INT64, {}));
  TensorId goesOn = body.addInputTensor(TensorInfo(DataType::BOOL, {}));
  TensorId first = body.addInputTensor(floats({1}));
  TensorId second = body.addInputTensor(floats({1}));
  body.addInputTensorFromParentGraph(step);
  TensorId next = inner.add({first, inner.mul({second, step})});
  body.addOutputTensor(inner.identity({goesOn}));
  body.addOutputTensor(second);
  body.addOutputTensor(next);
  body.addOutputTensor(inner.identity({next}));
  auto out = onnx_.loop({scalar(5), truth(), a, b}, 3, body);
  Lists inputs = {{a, {1.0f}}, {b, {1.0f}}, {step, {1.0f}}};
  auto got = infer(inputs, out);
  EXPECT_EQ(got[out[0]], (std::vector<float>{8.0f}));
  EXPECT_EQ(got[out[1]], (std::vector<float>{13.0f}));
  EXPECT_EQ(got[out[2]], (std::vector<float>{2, 3, 5, 8, 13}));
  // The sum 31 = 12 a + 19 b: a counts once in every second number.
  auto gradients = train(out[2], inputs, {getGradId(a), getGradId(b)});
  EXPECT_EQ(gradients[getGradId(a)], (std::vector<float>{12.0f}));
  EXPECT_EQ(gradients[getGradId(b)], (std::vector<float>{19.0f}));
}

// Turns that read their number are written out: sum of x[n] * n.
TEST_F(Subgraph, LoopMayReadTheNumberOfItsTurn) {
  TensorId x = input({4}, "x");
  float zero[] = {0.0f};
  TensorId start = onnx_.constant(ConstVoidData{zero, floats({1})});
  Builder &body = builder_->createSubgraphBuilder();
  auto inner = body.aiOnnxOpset11();
  TensorId number = body.addInputTensor(TensorInfo(DataType::INT64, {}));
  TensorId goesOn = body.addInputTensor(TensorInfo(DataType::BOOL, {}));
  TensorId sum = body.addInputTensor(floats({1}));
  body.addInputTensorFromParentGraph(x);
  TensorId begin = inner.unsqueeze({number}, {0});
  std::int64_t one = 1;
  TensorId next =
      inner.constant(ConstVoidData{&one, TensorInfo(DataType::INT64, {1})});
  TensorId part = inner.slice({x, begin, inner.add({begin, next})});
  TensorId factor = inner.cast({begin}, "FLOAT");
  body.addOutputTensor(inner.identity({goesOn}));
  body.addOutputTensor(inner.add({sum, inner.mul({part, factor})}));
  auto out = onnx_.loop({scalar(4), truth(), start}, 1, body);
  auto got = infer({{x, {1, 10, 100, 1000}}}, out);
  EXPECT_EQ(got[out[0]], (std::vector<float>{3210.0f}));
}

// Doubles while less than the limit.
TEST_F(Subgraph, LoopEndsWhenItsConditionDoes) {
  TensorId x = input({1}, "x");
  TensorId limit = input({1}, "limit");
  Builder &body = builder_->createSubgraphBuilder();
  auto inner = body.aiOnnxOpset11();
  body.addInputTensor(TensorInfo(DataType::INT64, {}));
  body.addInputTensor(TensorInfo(DataType::BOOL, {}));
  TensorId value = body.addInputTensor(floats({1}));
  body.addInputTensorFromParentGraph(limit);
  TensorId doubled = inner.add({value, value});
  body.addOutputTensor(inner.less({doubled, limit}));
  body.addOutputTensor(doubled);
  auto out = onnx_.loop({scalar(100), truth(), x}, 1, body);
  auto got = infer({{x, {3.0f}}, {limit, {50.0f}}}, out);
  EXPECT_EQ(got[out[0]], (std::vector<float>{96.0f}));
}

// Running sums along the second axis, forwards, and the squares backwards.
TEST_F(Subgraph, ScanGoesAlongAnAxis) {
  TensorId start = input({2}, "start");
  TensorId x = input({2, 3}, "x");
  Builder &body = builder_->createSubgraphBuilder();
  auto inner = body.aiOnnxOpset11();
  TensorId sum = body.addInputTensor(floats({2}));
  TensorId column = body.addInputTensor(floats({2}));
  TensorId next = inner.add({sum, column});
  body.addOutputTensor(next);
  body.addOutputTensor(inner.identity({next}));
  body.addOutputTensor(inner.mul({column, column}));
  auto out = builder_->customOp(
      {"ai.onnx", "Scan", 11}, 11, {start, x}, 3,
      {{"body", static_cast<ModelBuilder *>(&body)},
       {"num_scan_inputs", std::int64_t{1}},
       {"scan_input_axes", std::vector<std::int64_t>{1}},
       {"scan_output_axes", std::vector<std::int64_t>{0, -1}},
       {"scan_output_directions", std::vector<std::int64_t>{0, 1}}});
  auto got = infer({{start, {10, 20}}, {x, {1, 2, 3, 4, 5, 6}}}, out);
  EXPECT_EQ(got[out[0]], (std::vector<float>{16, 35}));
  EXPECT_EQ(got[out[1]], (std::vector<float>{11, 24, 13, 29, 16, 35}));
  EXPECT_EQ(got[out[2]], (std::vector<float>{9, 36, 4, 25, 1, 16}));
}

TEST_F(Subgraph, SaysWhatIsWrongWithABody) {
  TensorId x = input({2}, "x");
  TensorId wide = input({3, 2}, "wide");
  Builder &body = builder_->createSubgraphBuilder();
  auto inner = body.aiOnnxOpset11();
  body.addInputTensorFromParentGraph(wide);
  body.addInputTensor(TensorInfo(DataType::INT64, {}));
  TensorId goesOn = body.addInputTensor(TensorInfo(DataType::BOOL, {}));
  TensorId value = body.addInputTensor(floats({2}));
  body.addOutputTensor(inner.identity({goesOn}));
  body.addOutputTensor(inner.add({value, wide}));
  auto out = onnx_.loop({scalar(2), truth(), x}, 1, body);
  builder_->addOutputTensor(out[0]);
  EXPECT_ERROR(import(), "value 0 changes from FLOAT{2} to FLOAT{3,2}");
}

} // namespace
} // namespace popart::tests
