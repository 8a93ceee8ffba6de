// What an iteration of Repeat costs around one Execute of a vertex with one
// element.
#include "Benchmark.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

using namespace poplar;
using namespace poplar::program;

int main() {
  constexpr unsigned iterations = 1000000;
  Device device = IPUModel().createDevice();
  Graph graph(device);
  graph.addCodelets("codelets.cpp");
  Tensor value = graph.addVariable(UNSIGNED_INT, {1});
  graph.setTileMapping(value, 0);
  graph.setInitialValue(value, 0);
  ComputeSet computeSet = graph.addComputeSet("increment");
  VertexRef vertex =
      graph.addVertex(computeSet, "Increment", {{"value", value[0]}});
  graph.setTileMapping(vertex, 0);
  graph.createHostRead("value", value);
  Engine engine(graph, Repeat(iterations, Execute(computeSet)));
  engine.load(device);
  const double seconds = bestSeconds(5, [&] { engine.run(); });
  unsigned result = 0;
  engine.readTensor("value", &result, &result + 1);
  if (result != 5 * iterations) {
    std::fprintf(stderr, "wrong count: %u\n", result);
    return 1;
  }
  std::printf("{\"ns_per_iteration\": %.1f}\n", seconds / iterations * 1e9);
}
