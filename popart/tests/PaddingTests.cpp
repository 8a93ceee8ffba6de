// What padding takes of the machine's memory.
#include "MachineRuns.hpp"

#include <poplar/internal/Access.hpp>

namespace popart::tests {
namespace {

// Of the constants in the machine program.
std::size_t constantBytes(const Ir &ir) {
  poplar::Graph graph(poplar::Target::createIPUTarget(1, 16, "ipu2"));
  lowerStep(ir, ir.getMainGraph(), graph, {.isMachine = true});
  std::size_t bytes = 0;
  for (const auto &variable : poplar::internal::graphData(graph).variables) {
    bytes += variable.isConstant ? variable.initialData.size() : 0;
  }
  return bytes;
}

TEST(CountedPadding, IsOneZeroHoweverMuchThereIs) {
  using Ints = Attributes::Ints;
  Ir ir;
  Graph &graph = ir.getMainGraph();
  graph.addStream("x", floats({1, 8, 32, 32}));
  graph.addOp({"ai.onnx", "AveragePool"}, {"x"}, {"y"},
              Attributes()
                  .set("kernel_shape", Ints{5, 5})
                  .set("pads", Ints{2, 2, 2, 2})
                  .set("count_include_pad", Ints::value_type{1}),
              {});
  ir.dataFlow = DataFlow(1, {"y"});
  EXPECT_EQ(constantBytes(ir), sizeof(float));
}

} // namespace
} // namespace popart::tests
