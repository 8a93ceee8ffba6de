// Weights of the machine program lie as the products that read them want them,
// seen through transpositions, changes of shape and functions.
#include "MachineRuns.hpp"

#include <lowering/WeightLayout.hpp>

#include <poplar/internal/Access.hpp>

namespace popart::tests {
namespace {

using Ints = Attributes::Ints;

// Element indices of its variable, in the tensor's order.
std::vector<std::int64_t> elementsOf(const poplar::Tensor &tensor) {
  std::vector<std::int64_t> elements;
  poplar::internal::forEachRun(
      poplar::internal::tensorView(tensor),
      [&](auto, std::int64_t begin, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          elements.push_back(begin + i);
        }
      });
  return elements;
}

// "w" as it is laid out in a graph of 4 tiles.
struct LaidOut {
  explicit LaidOut(const std::shared_ptr<Ir> &ir)
      : graph(poplar::Target::createIPUTarget(1, 4, "ipu2")),
        context(graph, ir->sessionOptions),
        weight(popart::addWeight(context, ir->getMainGraph().getTensor("w"))) {}

  poplar::Graph graph;
  LoweringContext context;
  poplar::Tensor weight;
};

// y [1, 3] = x [1, 2] and w [3, 2], transposed as PyTorch's linear layers are.
std::shared_ptr<Ir> linear() {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({1, 2}));
  const float weight[] = {1, 2, 3, 4, 5, 6};
  graph.addVariable("w", floats({3, 2}), weight);
  TensorId turned =
      add(graph, "Transpose", {"w"}, Attributes().set("perm", Ints{1, 0}));
  graph.addOp({"ai.onnx", "MatMul"}, {"x", turned}, {"y"}, {}, {});
  ir->dataFlow = DataFlow(1, {"y"});
  return ir;
}

TEST(WeightLayout, IsTheOperandsBehindATranspose) {
  LaidOut laidOut(linear());
  EXPECT_EQ(laidOut.weight.shape(), (std::vector<std::size_t>{3, 2}));
  // The operand has rows w00 w10 w20 and w01 w11 w21.
  EXPECT_EQ(elementsOf(laidOut.weight),
            (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(WeightLayout, IsSpreadOverTheTilesOfThePlan) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({1, 64}));
  popart::tests::addWeight(graph, "w", {32, 64}, 1);
  add(graph, "MatMul", {"x", add(graph, "Transpose", {"w"})});
  ir->sessionOptions.matmulOptions = {
      {"planConstraints",
       R"({"0": {"partition": {"inChanSplit": {"parallel": 2},
                               "outChanSplit": {"parallel": 1}},
                 "transform": {"swapOperands": false}}})"}};
  LaidOut laidOut(ir);
  // Two of the four tiles have 32 of the 64 rows of the operand each.
  using Intervals = std::vector<poplar::Interval>;
  EXPECT_EQ(laidOut.graph.getTileMapping(laidOut.weight.transpose()),
            (std::vector<Intervals>{{{0, 1024}}, {{1024, 2048}}, {}, {}}));
}

TEST(WeightLayout, GoesBackThroughAnyViews) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({5, 6}));
  popart::tests::addWeight(graph, "w", {2, 2, 3}, 1);
  // [2, 2, 3] to [3, 2, 2], as [6, 2].
  TensorId turned =
      add(graph, "Transpose", {"w"}, Attributes().set("perm", Ints{2, 0, 1}));
  TensorId matrix = add(graph, "Reshape", {turned},
                        Attributes().set("shape", Ints{6, 2}), {}, "aspen");
  add(graph, "MatMul", {"x", matrix});
  EXPECT_EQ(elementsOf(LaidOut(ir).weight),
            (std::vector<std::int64_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

TEST(WeightLayout, IsThatOfGemmsTransposedOperand) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({1, 2}));
  popart::tests::addWeight(graph, "w", {3, 2}, 1);
  add(graph, "Gemm", {"x", "w"},
      Attributes().set("transB", Ints::value_type{1}));
  EXPECT_EQ(elementsOf(LaidOut(ir).weight),
            (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(WeightLayout, IsTheWeightsOwnWhereOthersReadItToo) {
  auto ir = linear();
  add(ir->getMainGraph(), "Tanh", {"w"});
  EXPECT_EQ(elementsOf(LaidOut(ir).weight),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(WeightLayout, IsItsOwnWhereItIsTheShapeOfAnOperand) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  graph.addStream("x", floats({2, 3}));
  graph.addStream("z", floats({2, 3}));
  const std::int64_t shape[] = {3, 2};
  graph.addConstant("w", TensorInfo(DataType::INT64, {2}), shape);
  add(graph, "MatMul", {add(graph, "Reshape", {"x", "w"}), "z"});
  EXPECT_EQ(elementsOf(LaidOut(ir).weight), (std::vector<std::int64_t>{0, 1}));
}

// The machine program, run as written.
std::vector<float> runLinear(bool hasConstantWeights) {
  auto ir = linear();
  ir->sessionOptions.constantWeights = hasConstantWeights;
  auto device = modelDevice(1);
  poplar::Graph target(device->getDevice().getTarget());
  poplar::Engine engine(
      target, lowerStep(*ir, ir->getMainGraph(), target, {.isMachine = true}));
  engine.load(device->getDevice());
  std::vector<float> weight = {1, 2, 3, 4, 5, 6};
  if (!hasConstantWeights) {
    engine.writeTensor("w", weight.data(), weight.data() + weight.size());
  }
  std::vector<float> x = {10, 1};
  std::vector<float> y(3);
  engine.connectStream("x", x.data(), x.data() + x.size());
  engine.connectStream(anchorHandle("y"), y.data(), y.data() + y.size());
  engine.run(0);
  return y;
}

TEST(WeightLayout, KeepsValuesOfConstantsAndVariables) {
  EXPECT_EQ(runLinear(true), (std::vector<float>{12, 34, 56}));
  EXPECT_EQ(runLinear(false), (std::vector<float>{12, 34, 56}));
}

// `layers` layers x w^T, or x w, with tanh.
std::string reportOf(int layers, bool isTransposed) {
  auto ir = std::make_shared<Ir>();
  Graph &graph = ir->getMainGraph();
  TensorId x = graph.addStream("x", floats({2, 64}));
  for (int i = 0; i < layers; ++i) {
    TensorId weight =
        popart::tests::addWeight(graph, "w" + std::to_string(i), {64, 64},
                                 static_cast<std::uint32_t>(i + 1));
    if (isTransposed) {
      weight = add(graph, "Transpose", {weight});
    }
    x = add(graph, "Tanh", {add(graph, "MatMul", {x, weight})});
  }
  ir->dataFlow = DataFlow(1, {x});
  ir->sessionOptions.constantWeights = false; // else equal ones would be one
  auto session = InferenceSession::createFromIr(ir, modelDevice(1, 16));
  session->prepareDevice();
  return session->getSummaryReport();
}

TEST(WeightLayout, MakesTransposedWeightsCostWhatOthersDo) {
  EXPECT_EQ(reportOf(1, true), reportOf(1, false));
  // Two layers are calls of one function, which takes copies.
  EXPECT_EQ(reportOf(2, true), reportOf(2, false));
}

} // namespace
} // namespace popart::tests
