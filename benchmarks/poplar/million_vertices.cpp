// Builds, compiles and runs a graph of a million user vertices.
#include "Benchmark.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

using namespace poplar;
using namespace poplar::program;

int main() {
  constexpr std::size_t count = 1000000;
  const Stopwatch total;
  Device device = IPUModel().createDevice();
  Graph graph(device);
  graph.addCodelets("codelets.cpp");
  Tensor a = graph.addVariable(FLOAT, {count}, VariableMappingMethod::LINEAR);
  Tensor b = graph.addVariable(FLOAT, {count}, VariableMappingMethod::LINEAR);
  Tensor sum = graph.addVariable(FLOAT, {count}, VariableMappingMethod::LINEAR);
  const unsigned tiles = graph.getTarget().getNumTiles();
  ComputeSet computeSet = graph.addComputeSet("add");
  for (std::size_t i = 0; i < count; ++i) {
    VertexRef vertex = graph.addVertex(
        computeSet, "Add", {{"a", a[i]}, {"b", b[i]}, {"sum", sum[i]}});
    graph.setTileMapping(vertex, static_cast<unsigned>(i * tiles / count));
    graph.setPerfEstimate(vertex, 20);
  }
  graph.createHostWrite("a", a);
  graph.createHostWrite("b", b);
  graph.createHostRead("sum", sum);
  const double build = total.seconds();

  const Stopwatch compile;
  Engine engine(graph, Execute(computeSet));
  engine.load(device);
  const double compiled = compile.seconds();
  const double peak = peakGiB();

  std::vector<float> values(count), sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i % 1000);
  }
  engine.writeTensor("a", values.data(), values.data() + count);
  engine.writeTensor("b", values.data(), values.data() + count);
  const double run = bestSeconds(10, [&] { engine.run(); });
  engine.readTensor("sum", sums.data(), sums.data() + count);
  for (std::size_t i = 0; i < count; ++i) {
    if (sums[i] != 2 * values[i]) {
      std::fprintf(stderr, "wrong sum at %zu\n", i);
      return 1;
    }
  }
  std::printf("{\"build_s\": %.3f, \"compile_s\": %.3f, \"peak_GiB\": %.3f, "
              "\"run_ms\": %.3f}\n",
              build, compiled, peak, run * 1e3);
}
