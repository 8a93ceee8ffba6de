// Recurrent layers whose activations popnn's layers do not have: what the graph
// has in their place. popart/conformance compares their values.
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

} // namespace
} // namespace popart::tests
