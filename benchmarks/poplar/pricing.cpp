// Prices a program of 10,000 steps on large systems: what printProfileSummary()
// takes, in time and in memory beyond what the program itself holds.
#include "Benchmark.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <malloc.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace poplar;
using namespace poplar::program;

namespace {

constexpr unsigned layers = 1000; // of ten steps each
constexpr std::size_t rows = 184; // of eight elements: one for each tile
constexpr std::size_t columns = 8;

// Bytes of a line of /proc/self/status.
double statusBytes(const std::string &key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      return 1024 * std::stod(line.substr(key.size() + 1));
    }
  }
  return 0;
}

// Forgets the peak so far, so that the next one is that of what follows.
void resetPeak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

// What every layer on one IPU uses.
struct Stage {
  Graph graph; // of the IPU
  Tensor x;
  Tensor transposed;
  Tensor weights;
  ComputeSet scale; // a user vertex on every tile
};

Stage makeStage(Graph &whole, unsigned ipu) {
  Stage stage;
  const unsigned tiles = whole.getTarget().getTilesPerIPU();
  stage.graph = whole.createVirtualGraph(ipu * tiles, (ipu + 1) * tiles);
  Graph &graph = stage.graph;
  stage.x = graph.addVariable(FLOAT, {rows, columns}, "x");
  stage.transposed = graph.addVariable(FLOAT, {columns, rows}, "transposed");
  stage.weights = graph.addVariable(FLOAT, {columns, columns}, "weights");
  for (const Tensor &t : {stage.x, stage.transposed, stage.weights}) {
    poputil::mapTensorLinearly(graph, t, 1, 1);
  }
  whole.setInitialValue(stage.weights, 0.125f);
  whole.setInitialValue(stage.x, 1.0f);
  stage.scale = graph.addComputeSet("scale");
  const Tensor flat = stage.x.flatten();
  for (unsigned tile = 0; tile < tiles; ++tile) {
    VertexRef vertex = graph.addVertex(
        stage.scale, "Scale", {{"values", flat.slice(tile, tile + 1)}});
    graph.setTileMapping(vertex, tile);
  }
  return stage;
}

// Ten steps: streams, library operations on one IPU and on all, a user's
// compute set, a rearrangement and the way to the next IPU. The rows used
// differ, so that tiles hold different shares.
void addLayer(Graph &whole, Stage &stage, Stage &next, const Tensor &shared,
              std::size_t rowsUsed, const DataStream &in, const DataStream &out,
              Sequence &program) {
  const Tensor x = stage.x.slice(0, rowsUsed);
  program.add(Copy(in, stage.x));
  program.add(Execute(stage.scale));
  Tensor y = poplin::matMul(stage.graph, x, stage.weights, program);
  Tensor z = popops::add(stage.graph, y, x, program);
  program.add(Copy(z.transpose(), stage.transposed.slice(0, rowsUsed, 1)));
  program.add(Copy(z, next.x.slice(0, rowsUsed)));
  Tensor sum =
      popops::reduce(stage.graph, z, {0, 1}, popops::Operation::ADD, program);
  Tensor square = popops::mul(whole, shared, shared, program);
  popops::addInPlace(whole, shared, square, program);
  program.add(Copy(sum, out));
}

struct Cost {
  double seconds;
  double megabytes;
};

Cost price(unsigned ipus) {
  IPUModel model;
  model.numIPUs = ipus;
  Device device = model.createDevice();
  Graph graph(device);
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  graph.addCodelets("codelets.cpp");
  std::vector<Stage> stages;
  for (unsigned ipu = 0; ipu < ipus; ++ipu) {
    stages.push_back(makeStage(graph, ipu));
  }
  const std::size_t tiles = graph.getTarget().getNumTiles();
  Tensor shared = graph.addVariable(FLOAT, {tiles}, "shared");
  poputil::mapTensorLinearly(graph, shared, 1, 1);
  graph.setInitialValue(shared, 0.0f);
  DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, rows * columns);
  DataStream out = graph.addDeviceToHostFIFO("out", FLOAT, 1);
  Sequence program;
  for (unsigned layer = 0; layer < layers; ++layer) {
    const unsigned ipu = layer * ipus / layers;
    addLayer(graph, stages[ipu], stages[(ipu + 1) % ipus], shared,
             rows - layer % 8, in, out, program);
  }
  Engine engine(graph, Repeat(2, program));
  std::vector<float> input(rows * columns, 1.0f);
  float result = 0;
  engine.connectStream("in", input.data());
  engine.connectStream("out", &result);
  engine.load(device);
  engine.run();

  malloc_trim(0); // or what compiling has freed is not seen to grow again
  resetPeak();
  const double before = statusBytes("VmRSS:");
  std::ostringstream text;
  const Stopwatch watch;
  engine.printProfileSummary(text, {});
  const Cost cost{watch.seconds(), (statusBytes("VmHWM:") - before) / 1e6};
  if (text.str().find("Total cycles:") == std::string::npos) {
    std::fprintf(stderr, "no profile\n");
    std::exit(1);
  }
  return cost;
}

} // namespace

int main() {
  const Cost pod = price(16);
  const Cost large = price(256);
  std::printf("{\"ipus16_s\": %.3f, \"ipus16_MB\": %.0f, \"ipus256_s\": %.3f, "
              "\"ipus256_MB\": %.0f}\n",
              pod.seconds, pod.megabytes, large.seconds, large.megabytes);
}
