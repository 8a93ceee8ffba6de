// A vertex loop over 10^8 floats, against what the machine's memory gives a
// plain loop over the same floats with a thread for each core.
#include "Benchmark.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

#include <thread>

using namespace poplar;
using namespace poplar::program;

namespace {

constexpr std::size_t count = 100000000;
constexpr double bytes = 8.0 * count; // read and written

double vertexSeconds() {
  Device device = IPUModel().createDevice();
  Graph graph(device);
  graph.addCodelets("codelets.cpp");
  Tensor x = graph.addVariable(FLOAT, {count}, VariableMappingMethod::LINEAR);
  ComputeSet computeSet = graph.addComputeSet("scale");
  const Graph::TileToTensorMapping mapping = graph.getTileMapping(x);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    for (const Interval &interval : mapping[tile]) {
      constexpr std::size_t workers = 6;
      for (std::size_t w = 0; w < workers; ++w) {
        const std::size_t size = interval.size();
        VertexRef vertex = graph.addVertex(
            computeSet, "Scale",
            {{"values", x.slice(interval.begin() + w * size / workers,
                                interval.begin() + (w + 1) * size / workers)}});
        graph.setTileMapping(vertex, tile);
      }
    }
  }
  graph.setInitialValue(x, 1.0f);
  Engine engine(graph, Execute(computeSet));
  engine.load(device);
  return bestSeconds(10, [&] { engine.run(); });
}

double plainSeconds() {
  std::vector<float> x(count, 1.0f);
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  return bestSeconds(10, [&] {
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        float *begin = x.data() + count * t / threads;
        float *end = x.data() + count * (t + 1) / threads;
        for (float *value = begin; value != end; ++value) {
          *value = *value * 0.999f;
        }
      });
    }
    for (std::thread &worker : workers) {
      worker.join();
    }
  });
}

} // namespace

int main() {
  const double plain = plainSeconds();
  const double vertex = vertexSeconds();
  std::printf("{\"plain_GBps\": %.2f, \"vertex_GBps\": %.2f, \"ratio\": "
              "%.3f}\n",
              bytes / plain / 1e9, bytes / vertex / 1e9, plain / vertex);
}
