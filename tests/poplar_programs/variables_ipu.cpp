// Variables, copies, host access and a stream, on an IPU that is searched for.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>

using namespace poplar;
using namespace poplar::program;

int main() {
  auto manager = DeviceManager::createDeviceManager();
  auto devices = manager.getDevices(TargetType::IPU, 1);
  auto it = std::find_if(devices.begin(), devices.end(),
                         [](Device &device) { return device.attach(); });
  if (it == devices.end()) {
    std::cerr << "Error attaching to device\n";
    return 1;
  }
  auto device = std::move(*it);
  std::cout << "Attached to IPU " << device.getId() << std::endl;

  auto target = device.getTarget();
  Graph graph(target);
  Tensor v1 = graph.addVariable(FLOAT, {4}, "v1");
  Tensor v3 = graph.addVariable(FLOAT, {4, 4}, "v3");
  Tensor v4 = graph.addVariable(INT, {10}, "v4");
  Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
  for (unsigned i = 0; i < 4; ++i) {
    graph.setTileMapping(v1[i], i);
  }
  graph.setTileMapping(v3, 0);
  graph.setTileMapping(v4, 0);
  graph.setTileMapping(c1, 0);
  graph.createHostWrite("v3-write", v3);
  graph.createHostRead("v3-read", v3);
  DataStream stream = graph.addHostToDeviceFIFO("v4-input", INT, 10);

  Sequence prog;
  prog.add(Copy(c1, v1));
  prog.add(PrintTensor("v1-debug", v1));
  prog.add(Copy(v1.slice(0, 3), v3.slice({1, 1}, {2, 4})));
  prog.add(Copy(stream, v4));
  prog.add(PrintTensor("v4-0", v4));
  prog.add(Copy(stream, v4));
  prog.add(PrintTensor("v4-1", v4));

  Engine engine(graph, prog);
  engine.load(device);
  auto h3 = std::vector<float>(16, 0);
  engine.writeTensor("v3-write", h3.data(), h3.data() + h3.size());
  auto input = std::vector<int>(10 * 3);
  int n = 0;
  for (auto &x : input) {
    x = n++;
  }
  engine.connectStream("v4-input", &input[0], &input[input.size()]);
  engine.run(0);
  engine.readTensor("v3-read", h3.data(), h3.data() + h3.size());
  std::cout << "h3 data:\n";
  for (unsigned i = 0; i < 16; ++i) {
    std::cout << " " << h3[i] << (i % 4 == 3 ? "\n" : "");
  }
}
