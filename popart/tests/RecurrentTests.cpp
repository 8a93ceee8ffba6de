// Recurrent layers: what the graph has in place of those whose activations
// popnn's layers do not have, and which gradients are made.
// popart/conformance compares their values.
#include "MachineRuns.hpp"

namespace popart::tests {
namespace {

// An LSTM of three steps in a graph that all model passes have run on.
std::map<std::string, int> opsOf(const Attributes::Strings &activations) {
  Ir ir;
  Graph &graph = ir.getMainGraph();
  graph.addStream("x", floats({3, 2, 5}));
  addWeight(graph, "w", {1, 16, 5}, 1);
  addWeight(graph, "r", {1, 16, 4}, 2);
  graph.addOp({"ai.onnx", "LSTM", 7}, {"x", "w", "r"}, {"y", "h", "c"},
              Attributes().set("activations", activations), {});
  ir.dataFlow = DataFlow(1, {"y", "h", "c"});
  PassContext context{ir, graph, 1};
  runPasses(modelPasses(), context);
  EXPECT_EQ(graph.getTensor("y").info, floats({3, 1, 2, 4}));
  return countOps(graph);
}

TEST(RecurrentLayers, StayWholeWithActivationsOfTheirKinds) {
  auto counts = opsOf({"Sigmoid", "Relu", "Relu"});
  EXPECT_EQ(counts, (std::map<std::string, int>{{"LSTM", 1}}));
}

TEST(RecurrentLayers, AreWrittenOutWithOthers) {
  auto counts = opsOf({"Gelu", "Swish", "Swish"});
  EXPECT_EQ(counts["LSTM"], 0);
  EXPECT_EQ(counts["MatMul"], 1 + 3); // of all inputs, of each step's state
  EXPECT_EQ(counts["Gelu"], 3 * 3);
  EXPECT_EQ(counts["Swish"], 3 * 2); // of the candidate and of the cell
}

TEST(RecurrentLayers, MakeGradientsOfInputsThatAreWanted) {
  Ir ir;
  Graph &graph = ir.getMainGraph();
  graph.addStream("x", floats({3, 2, 4}));
  addWeight(graph, "w", {1, 16, 4}, 1);
  addWeight(graph, "r", {1, 16, 4}, 2);
  const Op::Settings settings;
  graph.addOp({"ai.onnx", "LSTM", 7}, {"x", "w", "r"}, {"y", "h", "c"}, {},
              settings);
  graph.addOp({"ai.onnx", "Squeeze", 1}, {"y"}, {"lower"},
              Attributes().set("axes", Attributes::Ints{1}), settings);
  graph.addOp({"ai.onnx", "LSTM", 7}, {"lower", "w", "r"},
              {"upper", "upperH", "upperC"}, {}, settings);
  graph.addOp({"ai.graphcore", "IdentityLoss"}, {"upper"}, {"loss"},
              Attributes().set("reduction", Attributes::Int{0}), settings);
  ir.loss = "loss";
  ir.optimizer = std::make_shared<SGD>(
      Optimizer::Values{{"defaultLearningRate", {0.1f, true}}});
  PassContext context{ir, graph, 1};
  runPasses(modelPasses(), context);
  std::map<TensorId, Attributes::Int> wanted; // by what the layer reads
  for (const auto &op : graph.getOps()) {
    if (op->opid.type == "LSTMGrad") {
      wanted[op->inputs[0]] = op->attributes.getInt("wants_input_gradient", -1);
    }
  }
  EXPECT_EQ(wanted,
            (std::map<TensorId, Attributes::Int>{{"x", 0}, {"lower", 1}}));
}

} // namespace
} // namespace popart::tests
