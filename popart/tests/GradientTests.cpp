// Every operation's gradient against finite differences of its own forward
// pass, and some forward values against figures worked out by hand.
#include "Models.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace popart::tests {
namespace {

// A model of one weight "w" of this shape: the rest of it ends in any tensor,
// which a fixed random weighting turns into a scalar loss.
struct Case {
  const char *name;
  Shape shape;
  std::function<TensorId(Graph &, const TensorId &w)> build;
  float offset = 0; // added to w, to stay clear of poles and kinks
};

TensorId constant(Graph &graph, const TensorId &id, const Shape &shape,
                  std::uint32_t seed) {
  TensorInfo info = floats(shape);
  auto values = Numbers(seed).list(info.nelms());
  return graph.addConstant(id, info, values.data());
}

std::function<TensorId(Graph &, const TensorId &)>
unary(const std::string &type, const Attributes &attributes = {}) {
  return [=](Graph &graph, const TensorId &w) {
    return add(graph, type, {w}, attributes);
  };
}

std::function<TensorId(Graph &, const TensorId &)>
binary(const std::string &type, const Shape &other, bool isFirst) {
  return [=](Graph &graph, const TensorId &w) {
    TensorId c = constant(graph, "c", other, 5);
    TensorId two = constant(graph, "two", {1}, 11);
    // Away from zero, so that quotients are tame.
    c = add(graph, "Add", {add(graph, "Mul", {c, c}), two});
    return isFirst ? add(graph, type, {w, c}) : add(graph, type, {c, w});
  };
}

std::function<TensorId(Graph &, const TensorId &)>
conv(const Attributes &attributes, const Shape &x, const Shape &k, int which) {
  return [=](Graph &graph, const TensorId &w) {
    std::vector<TensorId> inputs = {constant(graph, "cx", x, 3),
                                    constant(graph, "ck", k, 4),
                                    constant(graph, "cb", {k[0]}, 5)};
    inputs[static_cast<std::size_t>(which)] = w;
    return add(graph, "Conv", inputs, attributes);
  };
}

TensorId groupNorm(Graph &graph, const std::vector<TensorId> &inputs) {
  return graph.addOp({"ai.graphcore", "GroupNormalization"}, inputs, 3,
                     Attributes().set("num_groups", Attributes::Int{2}), {})[0];
}

TensorId nll(Graph &graph, const TensorId &x, Attributes attributes) {
  std::vector<std::int32_t> labels = {1, 0, 2, 1};
  TensorId id = graph.addConstant("labels", TensorInfo(DataType::INT32, {4}),
                                  labels.data());
  return add(graph, "Nllloss", {x, id}, attributes, {}, "ai.graphcore");
}

Attributes logProbability(ReductionType reduction, std::int64_t ignore = -1) {
  return Attributes()
      .set("inputIsLogProbability", Attributes::Int{1})
      .set("reduction", static_cast<Attributes::Int>(reduction))
      .set("ignoreIndex", ignore);
}

Attributes window(const Shape &strides, const Shape &pads,
                  std::int64_t group = 1) {
  return Attributes()
      .set("strides", strides)
      .set("pads", pads)
      .set("group", group);
}

std::vector<Case> cases() {
  Attributes pool =
      Attributes().set("kernel_shape", Shape{2, 2}).set("strides", Shape{2, 2});
  Attributes axes = Attributes().set("axes", Shape{1});
  return {
      {"Relu", {3, 4}, unary("Relu")},
      {"Tanh", {3, 4}, unary("Tanh")},
      {"Sigmoid", {3, 4}, unary("Sigmoid")},
      {"Exp", {3, 4}, unary("Exp")},
      {"Log", {3, 4}, unary("Log"), 2},
      {"Sqrt", {3, 4}, unary("Sqrt"), 2},
      {"Reciprocal", {3, 4}, unary("Reciprocal"), 3},
      {"AddBroadcast", {4}, binary("Add", {3, 4}, true)},
      {"SubRight", {3, 1}, binary("Sub", {3, 4}, false)},
      {"MulBroadcast", {2, 1, 4}, binary("Mul", {3, 1}, true)},
      {"DivLeft", {3, 4}, binary("Div", {4}, true)},
      {"DivRight", {4}, binary("Div", {3, 4}, false), 3},
      {"MaxBroadcast", {4}, binary("Max", {3, 4}, true)},
      {"MatMulLeft",
       {2, 3},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "MatMul", {w, constant(graph, "c", {3, 4}, 5)});
       }},
      {"MatMulRight",
       {3, 4},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "MatMul", {constant(graph, "c", {2, 3}, 5), w});
       }},
      {"MatMulTransposed",
       {4, 3},
       [](Graph &graph, const TensorId &w) {
         TensorId right = add(graph, "Transpose", {w});
         return add(graph, "MatMul", {constant(graph, "c", {2, 3}, 5), right});
       }},
      {"MatMulOfRows",
       {3, 4},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "MatMul", {constant(graph, "c", {2, 2, 3}, 5), w});
       }},
      {"MatMulBatchedLeft",
       {2, 2, 3},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "MatMul", {w, constant(graph, "c", {2, 3, 4}, 5)});
       }},
      {"MatMulBroadcastRight",
       {1, 3, 4},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "MatMul", {constant(graph, "c", {2, 2, 3}, 5), w});
       }},
      {"ConvData",
       {2, 4, 5, 5},
       conv(window({2, 1}, {1, 0, 1, 1}, 2), {}, {6, 2, 3, 3}, 0)},
      {"ConvWeights",
       {6, 2, 3, 3},
       conv(window({2, 1}, {1, 0, 1, 1}, 2), {2, 4, 5, 5}, {6, 2, 3, 3}, 1)},
      {"ConvBias",
       {3},
       conv(window({1, 1}, {0, 0, 0, 0}), {2, 2, 4, 4}, {3, 2, 3, 3}, 2)},
      {"MaxPool", {2, 2, 4, 4}, unary("MaxPool", pool)},
      {"MaxPoolCeil",
       {1, 2, 5, 5},
       unary("MaxPool", Attributes(pool).set("ceil_mode", Attributes::Int{1}))},
      {"Reshape",
       {2, 6},
       unary("Reshape", Attributes().set("shape", Shape{3, -1}))},
      {"Flatten", {2, 3, 2}, unary("Flatten")},
      {"Transpose",
       {2, 3, 4},
       unary("Transpose", Attributes().set("perm", Shape{2, 0, 1}))},
      {"Identity", {2, 3}, unary("Identity")},
      {"ReduceSum", {2, 3, 4}, unary("ReduceSum", axes)},
      {"ReduceMean",
       {2, 3, 4},
       unary("ReduceMean",
             Attributes(axes).set("keepdims", Attributes::Int{0}))},
      {"Softmax", {3, 4}, unary("Softmax")},
      {"LogSoftmax", {3, 4}, unary("LogSoftmax")},
      {"SoftmaxFromAxisOne",
       {2, 3, 2},
       unary("Softmax", Attributes().set("axis", Attributes::Int{1}))},
      {"Sum",
       {4},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "Sum", {w, constant(graph, "c", {3, 4}, 5), w});
       }},
      {"GroupNormData",
       {2, 4, 3},
       [](Graph &graph, const TensorId &w) {
         return groupNorm(graph, {w, constant(graph, "gamma", {4}, 5),
                                  constant(graph, "beta", {4}, 6)});
       }},
      {"GroupNormScale",
       {4},
       [](Graph &graph, const TensorId &w) {
         return groupNorm(graph, {constant(graph, "cx", {2, 4, 3}, 5), w,
                                  constant(graph, "beta", {4}, 6)});
       }},
      {"GroupNormShift",
       {4},
       [](Graph &graph, const TensorId &w) {
         return groupNorm(graph, {constant(graph, "cx", {2, 4, 3}, 5),
                                  constant(graph, "gamma", {4}, 6), w});
       }},
      {"NllMean",
       {4, 3},
       [](Graph &graph, const TensorId &w) {
         return nll(graph, w, logProbability(ReductionType::Mean));
       }},
      {"NllSumIgnoring",
       {4, 3},
       [](Graph &graph, const TensorId &w) {
         return nll(graph, w, logProbability(ReductionType::Sum, 1));
       }},
      {"NllUnreduced",
       {4, 3},
       [](Graph &graph, const TensorId &w) {
         return nll(graph, w, logProbability(ReductionType::NoReduction));
       }},
      {"NllOfProbabilities",
       {4, 3},
       [](Graph &graph, const TensorId &w) {
         return nll(graph, add(graph, "Softmax", {w}), {});
       }},
      {"IdentityLossMean",
       {2, 3},
       [](Graph &graph, const TensorId &w) {
         return add(graph, "IdentityLoss", {add(graph, "Tanh", {w})}, {}, {},
                    "ai.graphcore");
       }},
      {"CastThereAndBack",
       {2, 3},
       unary("Cast", Attributes().set("to", Attributes::String("FLOAT")))},
  };
}

void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

class Gradient : public testing::TestWithParam<Case> {};

// Distinct values, further apart than the differences taken, so that no maximum
// and no kink lies between two of them.
std::vector<float> spacedValues(std::int64_t count, float offset) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    float place = static_cast<float>(i * 37 % count) + 0.5f;
    values.push_back(2 * place / static_cast<float>(count) - 1 + offset);
  }
  return values;
}

std::shared_ptr<Ir> makeModel(const Case &test) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorInfo info = floats(test.shape);
  auto values = spacedValues(info.nelms(), test.offset);
  TensorId w = graph.addVariable("w", info, values.data());
  TensorId y = test.build(graph, w);
  TensorId weighting =
      constant(graph, "weighting", graph.getTensor(y).info.shape(), 9);
  TensorId weighted = add(graph, "Mul", {y, weighting});
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {weighted}, {"loss"},
              Attributes().set("reduction", Attributes::Int{0}), {});
  ir->loss = "loss";
  ir->sessionOptions.constantWeights = false;
  return ir;
}

TEST_P(Gradient, MatchesFiniteDifferences) {
  const Case &test = GetParam();
  auto count = floats(test.shape).nelms();

  auto trained = makeModel(test);
  trained->optimizer = std::make_shared<ConstSGD>(0.1f);
  trained->dataFlow = DataFlow(1, {"Gradient___w"});
  auto training = TrainingSession::createFromIr(trained, modelDevice(1));
  training->prepareDevice();
  training->weightsFromHost();
  Step step;
  auto &gradient = step.output("Gradient___w", count);
  step.run(*training);

  auto forward = makeModel(test);
  forward->dataFlow = DataFlow(1, {"loss"});
  auto session = InferenceSession::createFromIr(forward, modelDevice(1));
  session->prepareDevice();
  auto lossAt = [&](std::int64_t index, float delta) {
    auto moved = spacedValues(count, test.offset);
    moved[static_cast<std::size_t>(index)] += delta;
    WeightsIO io;
    io.insert("w", {moved.data(), floats(test.shape)});
    session->writeWeights(io);
    session->weightsFromHost();
    Step forwardStep;
    auto &loss = forwardStep.output("loss", 1);
    forwardStep.run(*session);
    return loss[0];
  };
  const float delta = 1e-2f;
  for (std::int64_t i = 0; i < count; ++i) {
    float expected = (lossAt(i, delta) - lossAt(i, -delta)) / (2 * delta);
    EXPECT_NEAR(gradient[static_cast<std::size_t>(i)], expected,
                2e-3f + 1e-2f * std::abs(expected))
        << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, Gradient, testing::ValuesIn(cases()),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
} // namespace popart::tests
