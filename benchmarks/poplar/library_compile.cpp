// Builds and compiles one library program for few tiles and for many: nothing
// in it is made per tile.
#include "Benchmark.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

using namespace poplar;
using namespace poplar::program;

namespace {

double compileSeconds(unsigned ipus, unsigned tilesPerIpu) {
  return bestSeconds(5, [&] {
    IPUModel model;
    model.numIPUs = ipus;
    model.tilesPerIPU = tilesPerIpu;
    Device device = model.createDevice();
    Graph graph(device);
    popops::addCodelets(graph);
    poplin::addCodelets(graph);
    Sequence program;
    constexpr std::size_t size = 256;
    Tensor x = graph.addVariable(FLOAT, {size, size}, "x");
    poputil::mapTensorLinearly(graph, x);
    for (int layer = 0; layer < 16; ++layer) {
      Tensor weights = graph.addVariable(FLOAT, {size, size}, "weights");
      poputil::mapTensorLinearly(graph, weights);
      x = poplin::matMul(graph, x, weights, program, "matmul");
      x = popops::add(graph, x, weights, program, "add");
      x = popops::tanh(graph, x, program, "tanh");
    }
    graph.createHostRead("x", x);
    Engine engine(graph, program);
    engine.load(device);
  });
}

} // namespace

int main() {
  const double few = compileSeconds(1, 4);
  const double many = compileSeconds(16, 1472);
  std::printf("{\"few_tiles_ms\": %.2f, \"many_tiles_ms\": %.2f, \"ratio\": "
              "%.2f}\n",
              few * 1e3, many * 1e3, many / few);
}
