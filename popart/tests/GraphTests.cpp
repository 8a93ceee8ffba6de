// Building graphs: shapes, types and what is refused.
#include "Models.hpp"

#include <ir/GraphEditor.hpp>
#include <ir/Print.hpp>
#include <ir/Verify.hpp>
#include <popart/error.hpp>
#include <support/Error.hpp>

#include <gtest/gtest.h>

namespace popart::tests {
namespace {

// The message of the popart::error that `f` throws; empty when it throws none.
template <typename F> std::string messageOf(F &&f) {
  try {
    f();
  } catch (const error &e) {
    return e.what();
  }
  return {};
}

#define EXPECT_MESSAGE(statement, part)                                        \
  do {                                                                         \
    std::string message = messageOf([&] { statement; });                       \
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message;    \
  } while (false)

TEST(Conv, InfersItsOutput) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({2, 3, 8, 9}));
  TensorId w = addWeight(graph, "w", {4, 3, 3, 3}, 1);
  Attributes attributes;
  attributes.set("strides", Shape{2, 1}).set("pads", Shape{1, 0, 1, 0});
  TensorId y = add(graph, "Conv", {x, w}, attributes);
  // (8 + 2 - 3) / 2 + 1 = 4 and 9 - 3 + 1 = 7
  EXPECT_EQ(graph.getTensor(y).info, floats({2, 4, 4, 7}));
}

TEST(Conv, RefusesWeightsOfOtherChannels) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({2, 3, 8, 8}));
  TensorId w = addWeight(graph, "w", {4, 2, 3, 3}, 1);
  EXPECT_MESSAGE(add(graph, "Conv", {x, w}), "do not fit 1 groups");
}

TEST(Conv, RefusesAKernelLargerThanItsInput) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({1, 1, 2, 8}));
  TensorId w = addWeight(graph, "w", {1, 1, 3, 3}, 1);
  EXPECT_MESSAGE(add(graph, "Conv", {x, w}), "the padded input has 2");
}

TEST(MatMul, BroadcastsBatches) {
  Graph graph;
  TensorId a = graph.addStream("a", floats({5, 1, 2, 3}));
  TensorId b = graph.addStream("b", floats({4, 3, 7}));
  EXPECT_EQ(graph.getTensor(add(graph, "MatMul", {a, b})).info,
            floats({5, 4, 2, 7}));
}

TEST(MatMul, RefusesInnerDimensionsThatDiffer) {
  Graph graph;
  TensorId a = graph.addStream("a", floats({2, 3}));
  TensorId b = graph.addStream("b", floats({4, 5}));
  EXPECT_MESSAGE(add(graph, "MatMul", {a, b}), "3 columns, 4 rows");
}

TEST(Elementwise, BroadcastsByNumPysRules) {
  Graph graph;
  TensorId a = graph.addStream("a", floats({2, 1, 4}));
  TensorId b = graph.addStream("b", floats({3, 1}));
  EXPECT_EQ(graph.getTensor(add(graph, "Mul", {a, b})).info, floats({2, 3, 4}));
  EXPECT_EQ(graph.getTensor(add(graph, "Greater", {a, b})).info.dataType(),
            DataType::BOOL);
}

TEST(Elementwise, RefusesShapesThatDoNotBroadcast) {
  Graph graph;
  TensorId a = graph.addStream("a", floats({2, 4}));
  TensorId b = graph.addStream("b", floats({3, 4}));
  EXPECT_MESSAGE(add(graph, "Add", {a, b}), "do not broadcast");
}

TEST(Elementwise, RefusesMixedTypes) {
  Graph graph;
  TensorId a = graph.addStream("a", floats({2}));
  TensorId b = graph.addStream("b", TensorInfo(DataType::INT32, {2}));
  EXPECT_MESSAGE(add(graph, "Add", {a, b}), "FLOAT and INT32");
}

TEST(MaxPool, CountsPartialWindowsInCeilMode) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({1, 1, 5, 5}));
  Attributes attributes;
  attributes.set("kernel_shape", Shape{2, 2}).set("strides", Shape{2, 2});
  TensorId whole = add(graph, "MaxPool", {x}, attributes);
  attributes.set("ceil_mode", Attributes::Int{1});
  TensorId partial = add(graph, "MaxPool", {x}, attributes);
  EXPECT_EQ(graph.getTensor(whole).info, floats({1, 1, 2, 2}));
  EXPECT_EQ(graph.getTensor(partial).info, floats({1, 1, 3, 3}));
}

TEST(Reshape, WorksOutOneDimension) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({2, 3, 4}));
  TensorId y =
      add(graph, "Reshape", {x}, Attributes().set("shape", Shape{0, -1}));
  EXPECT_EQ(graph.getTensor(y).info, floats({2, 12}));
  EXPECT_MESSAGE(
      add(graph, "Reshape", {x}, Attributes().set("shape", Shape{5, 5})),
      "24 elements, not 25");
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({2, 3}));
  EXPECT_MESSAGE(
      add(graph, "Transpose", {x}, Attributes().set("perm", Shape{0, 0})),
      "does not permute");
}

TEST(Nllloss, RefusesLabelsOfAnotherShape) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({4, 10}));
  TensorId labels = graph.addStream("labels", TensorInfo(DataType::INT32, {5}));
  EXPECT_MESSAGE(add(graph, "Nllloss", {x, labels}, {}, {}, "ai.graphcore"),
                 "The label tensor (labels) must have shape {4}");
}

TEST(Graph, RefusesUnknownOperatorsAndTensors) {
  Graph graph;
  EXPECT_MESSAGE(add(graph, "Relu", {"nowhere"}), "'nowhere'");
  EXPECT_MESSAGE(add(graph, "Frobnicate", {}),
                 "No class for ai.onnx.Frobnicate:1");
  graph.addStream("x", floats({1}));
  EXPECT_MESSAGE(graph.addStream("x", floats({1})), "already");
}

TEST(Graph, CopiesCompletely) {
  auto ir = classifier(2, 4, ReductionType::Sum);
  Graph copy;
  GraphEditor(copy).copyFrom(ir->getMainGraph());
  verifyGraph(copy);
  EXPECT_EQ(printGraph(copy), printGraph(ir->getMainGraph()));
}

TEST(Attributes, HoldListsOfTextAndTensors) {
  Attributes attributes;
  attributes.set("activations", Attributes::Strings{"Tanh", "Relu"});
  attributes.set("value", Attributes::Tensor{floats({1}), {0, 0, 0, 64}});
  EXPECT_EQ(attributes.getStrings("activations", {}),
            (Attributes::Strings{"Tanh", "Relu"}));
  ASSERT_NE(attributes.findTensor("value"), nullptr);
  EXPECT_EQ(attributes.findTensor("value")->info, floats({1}));
  EXPECT_EQ(attributes.findTensor("activations"), nullptr);
  EXPECT_EQ(attributes.str().rfind("activations=[Tanh,Relu], value=FLOAT[1]"),
            0u);
}

TEST(Verify, FindsReadsOfUpdatedVariables) {
  Graph graph;
  TensorId accumulator = addWeight(graph, "sum", {2}, 1);
  TensorId gradient = graph.addStream("g", floats({2}));
  add(graph, "Accumulate", {accumulator, gradient}, {}, {}, "aspen");
  add(graph, "Relu", {accumulator});
  EXPECT_THROW(verifyGraph(graph), support::InternalError);
}

TEST(Verify, FindsOperationsOutOfOrder) {
  Graph graph;
  TensorId x = graph.addStream("x", floats({2}));
  TensorId y = add(graph, "Relu", {x});
  add(graph, "Tanh", {y});
  std::vector<Op *> order;
  for (const auto &op : graph.getOps()) {
    order.insert(order.begin(), op.get());
  }
  GraphEditor(graph).reorder(order);
  EXPECT_THROW(verifyGraph(graph), support::InternalError);
}

} // namespace
} // namespace popart::tests
