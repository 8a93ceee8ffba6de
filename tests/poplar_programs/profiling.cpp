// Two matrix products and what they cost:
//   profiling model|ipu rows inner columns
// The route by an IPU is the one that runs out of memory.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

using namespace poplar;
using namespace poplar::program;

static Device getDevice(const std::string &route) {
  if (route == "model") {
    IPUModel ipuModel;
    return ipuModel.createDevice();
  }
  auto manager = DeviceManager::createDeviceManager();
  auto devices = manager.getDevices(TargetType::IPU, 1);
  auto it = std::find_if(devices.begin(), devices.end(),
                         [](Device &device) { return device.attach(); });
  if (it == devices.end()) {
    std::cerr << "Error attaching to device\n";
    exit(1);
  }
  return std::move(*it);
}

int main(int, char **argv) {
  Device device = getDevice(argv[1]);
  const std::size_t rows = std::stoul(argv[2]);
  const std::size_t inner = std::stoul(argv[3]);
  const std::size_t columns = std::stoul(argv[4]);
  Target target = device.getTarget();
  Graph graph(target);
  popops::addCodelets(graph);
  poplin::addCodelets(graph);

  Tensor m1 = graph.addVariable(FLOAT, {rows, inner}, "m1");
  Tensor m2 = graph.addVariable(FLOAT, {inner, columns}, "m2");
  Tensor m3 = graph.addVariable(FLOAT, {columns, 20}, "m3");
  poputil::mapTensorLinearly(graph, m1);
  poputil::mapTensorLinearly(graph, m2);
  poputil::mapTensorLinearly(graph, m3);

  Sequence prog;
  Tensor m4 = poplin::matMul(graph, m1, m2, prog, "m4");
  Tensor m5 = poplin::matMul(graph, m4, m3, prog, "m5");

  Engine engine{
      graph,
      prog,
      {{"debug.retainDebugInformation", "true"}, {"debug.instrument", "true"}}};
  engine.load(device);
  engine.run(0);
  engine.printProfileSummary(std::cout, {{"showExecutionSteps", "true"}});
}
