// Variables, copies, host access, a stream and printing, on the IPU model.
// Includes no header of the standard library: Poplar's must bring them.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

using namespace poplar;

int main() {
  IPUModel ipuModel;
  Device device = ipuModel.createDevice();
  Target target = device.getTarget();
  Graph graph(target);

  Tensor v1 = graph.addVariable(FLOAT, {4}, "v1");
  Tensor v2 = graph.addVariable(FLOAT, {4}, "v2");
  Tensor v3 = graph.addVariable(FLOAT, {4, 4}, "v3");
  Tensor v4 = graph.addVariable(INT, {10}, "v4");
  Tensor c1 = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
  for (unsigned i = 0; i < 4; ++i) {
    graph.setTileMapping(v1[i], i);
  }
  graph.setTileMapping(v2, 7);
  graph.setTileMapping(v3, 0);
  graph.setTileMapping(v4, 0);
  graph.setTileMapping(c1, 0);

  program::Sequence prog;
  prog.add(program::Copy(c1, v1));
  prog.add(program::PrintTensor("v1-debug", v1));
  prog.add(program::Copy(v1, v2));
  prog.add(program::PrintTensor("v2-debug", v2));

  graph.createHostWrite("v3-write", v3);
  graph.createHostRead("v3-read", v3);
  Tensor part = v3.slice({1, 1}, {2, 4});
  prog.add(program::Copy(v1.slice(0, 3), part));

  DataStream stream = graph.addHostToDeviceFIFO("v4-input", INT, 10);
  prog.add(program::Copy(stream, v4));
  prog.add(program::PrintTensor("v4-0", v4));
  prog.add(program::Copy(stream, v4));
  prog.add(program::PrintTensor("v4-1", v4));

  Engine engine(graph, prog);
  engine.load(device);

  std::vector<float> h3(4 * 4, 0);
  engine.writeTensor("v3-write", h3.data(), h3.data() + h3.size());
  std::vector<int> input(10 * 3);
  for (unsigned i = 0; i < input.size(); ++i) {
    input[i] = i;
  }
  engine.connectStream("v4-input", &input[0], &input[input.size()]);

  engine.run(0);

  engine.readTensor("v3-read", h3.data(), h3.data() + h3.size());
  std::cout << "h3 data:\n";
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      std::cout << " " << h3[i * 4 + j];
    }
    std::cout << "\n";
  }
  // The third run of ten numbers is next: the place is kept between runs.
  engine.run(0);
  return 0;
}
