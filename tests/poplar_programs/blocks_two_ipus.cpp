// Named blocks over a vertex on each of two IPUs, as programs for lightweight
// profiling have them; prints how often each vertex ran.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

using namespace poplar;

class DummyVertex : public SupervisorVertex {
  InOut<unsigned> iterations;

public:
  __attribute__((target("supervisor"))) bool compute() {
    volatile unsigned sink = 0;
    for (unsigned i = 0; i < iterations; ++i) {
      sink = i;
    }
    (void)sink;
    iterations += 1;
    return true;
  }
};

#else
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>

using namespace poplar;
using namespace poplar::program;

static Device attach(unsigned numIpus) {
  auto manager = DeviceManager::createDeviceManager();
  auto devices = manager.getDevices(TargetType::IPU, numIpus);
  auto it = std::find_if(devices.begin(), devices.end(),
                         [](Device &d) { return d.attach(); });
  if (it == devices.end()) {
    throw poplar_error("Error attaching to device");
  }
  return std::move(*it);
}

static Program stage(Graph &graph, unsigned ipu, const std::string &name) {
  const unsigned tile = ipu * graph.getTarget().getTilesPerIPU();
  Tensor iterations = graph.addVariable(UNSIGNED_INT, {}, name);
  graph.setInitialValue(iterations, 100);
  graph.setTileMapping(iterations, tile);
  graph.createHostRead(name, iterations);
  ComputeSet cs = graph.addComputeSet(name);
  auto v = graph.addVertex(cs, "DummyVertex", {{"iterations", iterations}});
  graph.setTileMapping(v, tile);
  return Block(Execute(cs), name);
}

int main() {
  Device device = attach(2);
  Graph graph(device.getTarget());
  graph.addCodelets(__FILE__);
  auto first = stage(graph, 0, "stage0");
  auto second = stage(graph, 1, "stage1");
  auto prog = Repeat{5, Sequence{first, second}};
  Engine engine(graph, prog,
                {{"profiler.blocks.filter", "stage.*"},
                 {"profiler.programs.filter", ".*"},
                 {"profiler.blocks.implicitFlush", "false"}});
  engine.load(device);
  engine.run(0);
  for (const char *name : {"stage0", "stage1"}) {
    unsigned iterations = 0;
    engine.readTensor(name, &iterations, &iterations + 1);
    std::cout << std::setw(8) << name << std::setw(4) << iterations << '\n';
  }
}
#endif
