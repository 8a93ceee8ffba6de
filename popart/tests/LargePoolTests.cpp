// Max pooling over large windows: what the graph has in its place.
// popart/conformance compares values and gradients.
#include "MachineRuns.hpp"

namespace popart::tests {
namespace {

using Counts = std::map<std::string, int>;

// One pooling in a graph that all model passes have run on.
Counts opsOf(const Shape &x, const Attributes::Ints &kernel,
             const Attributes::Ints &pads) {
  Ir ir;
  Graph &graph = ir.getMainGraph();
  graph.addStream("x", floats(x));
  graph.addOp({"ai.onnx", "MaxPool", 11}, {"x"}, {"y"},
              Attributes().set("kernel_shape", kernel).set("pads", pads), {});
  TensorInfo whole = graph.getTensor("y").info;
  ir.dataFlow = DataFlow(1, {"y"});
  PassContext context{ir, graph, 1};
  runPasses(modelPasses(), context);
  EXPECT_EQ(graph.getTensor("y").info, whole);
  return countOps(graph);
}

TEST(LargePools, AreSplitByDimensions) {
  EXPECT_EQ(opsOf({1, 2, 16, 16}, {15, 16}, {0, 0, 0, 0}),
            (Counts{{"MaxPool", 1}}));
  EXPECT_EQ(opsOf({1, 2, 16, 17}, {16, 17}, {0, 0, 0, 0}),
            (Counts{{"MaxPool", 2}}));
}

TEST(LargePools, AreSplitAlongADimensionOfManyElements) {
  EXPECT_EQ(opsOf({1, 2, 400}, {301}, {150, 150}),
            (Counts{{"Pad", 1}, {"MaxPool", 2}}));
  // 350 of 350 elements, both of which are too many again.
  EXPECT_EQ(opsOf({1, 1, 70001}, {70000}, {0, 0}), (Counts{{"MaxPool", 4}}));
}

} // namespace
} // namespace popart::tests
