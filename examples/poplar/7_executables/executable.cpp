// Lesson 7: compile once, run later, in another process.
//   ./executable save file
//   ./executable run file number...
#ifdef __POPC__
#include <poplar/Vertex.hpp>

using namespace poplar;

class Square : public Vertex {
public:
  Input<float> number;
  Output<float> square;

  bool compute() {
    *square = *number * *number;
    return true;
  }
};

#else
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

using namespace poplar;
using namespace poplar::program;

// The position of a program in the list is its number for Engine::run. The two
// processes have these and the names of host accesses in common, nothing else.
enum Programs { squareOnce, squareTwice, numPrograms };

Device findIpu() {
  for (Device &device :
       DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1)) {
    if (device.attach()) {
      return std::move(device);
    }
  }
  throw poplar_error("No IPU is free");
}

void save(const char *file) {
  // Compiling needs no device that is free, only the description of one.
  DeviceManager manager = DeviceManager::createDeviceManager();
  Graph graph(manager.getDevices(TargetType::IPU, 1).at(0).getTarget());
  graph.addCodelets(__FILE__);
  Tensor number = graph.addVariable(FLOAT, {}, "number");
  Tensor square = graph.addVariable(FLOAT, {}, "square");
  ComputeSet computeSet = graph.addComputeSet("square");
  VertexRef vertex = graph.addVertex(computeSet, "Square",
                                     {{"number", number}, {"square", square}});
  graph.setTileMapping(number, 0);
  graph.setTileMapping(square, 0);
  graph.setTileMapping(vertex, 0);
  graph.createHostWrite("number", number);
  graph.createHostRead("square", square);

  std::vector<Program> programs(numPrograms);
  programs[squareOnce] = Execute(computeSet);
  programs[squareTwice] =
      Sequence{Execute(computeSet), Copy(square, number), Execute(computeSet)};

  Executable executable = compileGraph(graph, programs);
  std::ofstream stream(file, std::ios::binary);
  executable.serialize(stream);
  std::cout << "saved\n";
}

// There is no graph here, and the source of the vertex is not needed.
void run(const char *file, int count, char **numbers) {
  std::ifstream stream(file, std::ios::binary);
  Engine engine(Executable::deserialize(stream));
  Device device = findIpu();
  engine.load(device);
  for (int i = 0; i < count; ++i) {
    const float number = std::atof(numbers[i]);
    std::cout << number;
    for (unsigned program : {squareOnce, squareTwice}) {
      float result = 0;
      engine.writeTensor("number", &number, &number + 1);
      engine.run(program);
      engine.readTensor("square", &result, &result + 1);
      std::cout << ' ' << result;
    }
    std::cout << '\n';
  }
}

int main(int argc, char **argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  try {
    if (verb == "save") {
      save(argv[2]);
    } else if (verb == "run") {
      run(argv[2], argc - 3, argv + 3);
    } else {
      std::cerr << "usage: " << argv[0] << " save file | run file number...\n";
      return 1;
    }
  } catch (const poplar_error &error) {
    // A file that is missing, damaged or of another version ends up here.
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
#endif
