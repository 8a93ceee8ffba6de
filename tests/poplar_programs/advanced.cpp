// Programs in a list, a saved executable, codelets made by popc:
//   advanced [--ipu] [--save file | --load file] [--profile file]
// Adds and scales two vectors on the device and compares with the host's sums.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>

#include <cstring>
#include <fstream>
#include <iostream>

using namespace poplar;

enum ProgramIds {
  WRITE_INPUTS,
  CALCULATE_VECTOR,
  REDUCTION,
  READ_RESULTS,
  NUM
};

static const std::size_t size = 1000;

struct Options {
  Options(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
      if (!std::strcmp(argv[i], "--ipu")) {
        onIpu = true;
      } else if (i + 1 < argc && !std::strcmp(argv[i], "--save")) {
        saveName = argv[++i];
      } else if (i + 1 < argc && !std::strcmp(argv[i], "--load")) {
        loadName = argv[++i];
      } else if (i + 1 < argc && !std::strcmp(argv[i], "--profile")) {
        profileName = argv[++i];
      } else {
        throw std::runtime_error(std::string("Unknown option: ") + argv[i]);
      }
    }
  }

  bool onIpu = false;
  std::string saveName, loadName, profileName;
};

static Device getDevice(const Options &options) {
  if (!options.onIpu) {
    return IPUModel().createDevice();
  }
  auto manager = DeviceManager::createDeviceManager();
  for (auto &device : manager.getDevices(TargetType::IPU, 1)) {
    if (device.attach()) {
      return std::move(device);
    }
  }
  throw std::runtime_error("No hardware device available.");
}

static std::vector<program::Program> buildGraphAndPrograms(Graph &g) {
  Tensor v1 = g.addVariable(FLOAT, {size}, "a");
  Tensor v2 = g.addVariable(FLOAT, {size}, "b");
  Tensor v3 = g.addVariable(FLOAT, {size}, "c");
  Tensor v4 = g.addVariable(FLOAT, {size}, "d");
  g.setTileMapping(v1, 0);
  g.setTileMapping(v2, 1);
  g.setTileMapping(v3, 2);
  g.setTileMapping(v4, 3);

  ComputeSet cs = g.addComputeSet("vecAdd");
  VertexRef vertex = g.addVertex(cs, "VectorAdd");
  g.connect(vertex["x"], v1);
  g.connect(vertex["y"], v2);
  g.connect(vertex["z"], v3);
  g.setPerfEstimate(vertex, 20 + size);
  g.setTileMapping(vertex, 2);

  std::vector<ComputeSet> reductionSets;
  Tensor pairs = concat(v3.reshape({size, 1}), v2.reshape({size, 1}), {1});
  const auto reduceParams = popops::ReduceParams(popops::Operation::ADD);
  popops::reduceWithOutput(g, pairs, v4, {1}, reduceParams, reductionSets,
                           "reduction");
  program::Sequence reduction;
  for (auto &set : reductionSets) {
    reduction.add(program::Execute(set));
  }

  DataStream in1 = g.addHostToDeviceFIFO("x", FLOAT, size);
  DataStream in2 = g.addHostToDeviceFIFO("y", FLOAT, size);
  DataStream out = g.addDeviceToHostFIFO("z", FLOAT, size);
  std::vector<program::Program> progs(ProgramIds::NUM);
  progs[WRITE_INPUTS] =
      program::Sequence({program::Copy(in1, v1), program::Copy(in2, v2)});
  progs[CALCULATE_VECTOR] = program::Execute(cs);
  progs[REDUCTION] = reduction;
  progs[READ_RESULTS] = program::Copy(v4, out);
  return progs;
}

static Executable getExecutable(const Options &options, const Device &device) {
  if (!options.loadName.empty()) {
    std::ifstream file(options.loadName, std::ios::binary);
    return Executable::deserialize(file);
  }
  Graph graph(device.getTarget());
  graph.addCodelets("vector_add.gp");
  popops::addCodelets(graph);
  auto progs = buildGraphAndPrograms(graph);
  return compileGraph(graph, progs);
}

static void runAndCheck(Engine &engine) {
  std::vector<float> x(size), y(size), z(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = i;
    y[i] = size - i / 4.0f;
  }
  engine.connectStream("x", x.data(), x.data() + size);
  engine.connectStream("y", y.data(), y.data() + size);
  engine.connectStream("z", z.data(), z.data() + size);
  for (int i = 0; i < ProgramIds::NUM; ++i) {
    engine.run(i);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (z[i] != x[i] + y[i] + y[i]) {
      throw std::runtime_error("Results do not match.");
    }
  }
  std::cout << "Results match.\n";
}

int main(int argc, char **argv) {
  try {
    const Options options(argc, argv);
    Device device = getDevice(options);
    Executable exe = getExecutable(options, device);
    if (!options.saveName.empty()) {
      std::ofstream file(options.saveName, std::ios::binary);
      exe.serialize(file);
      return 0;
    }
    Engine engine(std::move(exe));
    engine.load(device);
    runAndCheck(engine);
    if (!options.profileName.empty()) {
      std::ofstream file(options.profileName);
      engine.printProfileSummary(file, {{"showExecutionSteps", "true"}});
    }
  } catch (const poplar_error &e) {
    std::cerr << "Poplar exception: " << e.what() << "\n";
    return 2;
  } catch (const std::exception &e) {
    std::cerr << "Exception: " << e.what() << "\n";
    return 1;
  }
}
