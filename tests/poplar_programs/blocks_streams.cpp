// Streams by callbacks that are connected before loading, around a supervisor
// vertex; prints what went in and came out.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

using namespace poplar;

class Accumulate : public SupervisorVertex {
  Input<int> in;
  InOut<int> total;

public:
  __attribute__((target("supervisor"))) bool compute() {
    total += in;
    return true;
  }
};

#else
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>

using namespace poplar;
using namespace poplar::program;

class Counter : public LegacyStreamCallback {
public:
  void fetch(void *p) override {
    const int values[] = {++count};
    std::copy(values, values + 1, static_cast<int *>(p));
  }

private:
  int count = 0;
};

int main() {
  auto devices =
      DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1);
  auto it = std::find_if(devices.begin(), devices.end(),
                         [](Device &d) { return d.attach(); });
  if (it == devices.end()) {
    return 1;
  }
  Graph graph(it->getTarget());
  graph.addCodelets(__FILE__);
  Tensor in = graph.addVariable(INT, {1}, "in");
  Tensor total = graph.addVariable(INT, {1}, "total");
  graph.setInitialValue(total, 1);
  graph.setTileMapping(in, 0);
  graph.setTileMapping(total, 1);
  auto inStream = graph.addHostToDeviceFIFO("in", INT, 1);
  auto outStream = graph.addDeviceToHostFIFO("out", INT, 1);
  ComputeSet cs = graph.addComputeSet("accumulate");
  auto v =
      graph.addVertex(cs, "Accumulate", {{"in", in[0]}, {"total", total[0]}});
  graph.setTileMapping(v, 1);

  auto body = Sequence{Copy(inStream, in), Block(Execute(cs), "accumulate")};
  auto prog = Sequence{Repeat{4, body}, Copy(total, outStream)};
  Engine engine(graph, prog,
                {{"profiler.blocks.filter", ".*"},
                 {"debug.instrumentExternalExchange", "true"}});
  int out = 0;
  auto callback = std::make_unique<Counter>();
  engine.connectStreamToCallback("in", 0, std::move(callback));
  engine.connectStream("out", ArrayRef<int>(&out, 1));
  engine.load(*it);
  for (int run = 0; run < 2; ++run) {
    engine.run(0);
    std::cout << out << std::endl;
  }
}
#endif
