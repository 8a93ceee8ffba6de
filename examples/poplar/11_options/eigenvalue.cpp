// Lesson 11: a program as one would hand it to others. It has options, keeps
// its compiled form in a file, and says what went wrong.
//
// It finds the largest eigenvalue of a matrix: a vector that is multiplied by
// the matrix over and over, and brought back to length 1 each time, turns
// towards the eigenvector of that eigenvalue; its growth is the eigenvalue.
#include "Options.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <fstream>
#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

// An executable knows its programs by number and its host accesses by name:
// these are the interface between the process that saves and the one that
// loads.
enum Programs { setUp, step, numPrograms };

const std::size_t size = 3;

Device findDevice(const Options &options) {
  if (options.onModel) {
    IPUModel model;
    return model.createDevice();
  }
  DeviceManager manager = DeviceManager::createDeviceManager();
  for (Device &device : manager.getDevices(TargetType::IPU, 1)) {
    if (device.attach()) {
      return std::move(device);
    }
  }
  throw poplar_error("No IPU is free; --model needs none");
}

Executable compile(const Device &device) {
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  Tensor matrix = graph.addVariable(FLOAT, {size, size}, "matrix");
  Tensor vector = graph.addVariable(FLOAT, {size, 1}, "vector");
  Tensor start = graph.addConstant<float>(FLOAT, {size, 1}, {1, 2, 3});
  for (const Tensor &tensor : {matrix, vector, start}) {
    poputil::mapTensorLinearly(graph, tensor);
  }
  graph.createHostWrite("matrix", matrix);

  std::vector<Program> programs(numPrograms);
  programs[setUp] = Copy(start, vector);
  Sequence sequence;
  Tensor next = poplin::matMul(graph, matrix, vector, sequence, "multiply");
  Tensor length = popops::reduce(graph, next, {0, 1},
                                 popops::Operation::SQUARE_ADD, sequence);
  popops::sqrtInPlace(graph, length, sequence);
  popops::divWithOutput(graph, next, length, vector, sequence, "normalise");
  graph.createHostRead("length", length);
  programs[step] = sequence;
  return compileGraph(graph, programs);
}

void save(const Executable &executable, const std::string &name) {
  std::ofstream file(name, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot write " + name);
  }
  executable.serialize(file);
  std::cout << "saved to " << name << '\n';
}

Executable load(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + name);
  }
  return Executable::deserialize(file);
}

void run(Engine &engine, const Options &options) {
  const std::vector<float> matrix{2, -1, 0, -1, 2, -1, 0, -1, 2};
  engine.writeTensor("matrix", matrix.data(), matrix.data() + matrix.size());
  engine.run(setUp);
  for (unsigned i = 0; i < options.steps; ++i) {
    engine.run(step);
  }
  float eigenvalue = 0;
  engine.readTensor("length", &eigenvalue, &eigenvalue + 1);
  std::cout << "largest eigenvalue: " << eigenvalue << '\n';
  if (!options.profileName.empty()) {
    std::ofstream file(options.profileName);
    engine.printProfileSummary(file);
  }
}

int main(int argc, char **argv) {
  try {
    const Options options = Options::parse(argc, argv);
    Device device = findDevice(options);
    Executable executable =
        options.loadName.empty() ? compile(device) : load(options.loadName);
    if (!options.saveName.empty()) {
      save(executable, options.saveName);
      return 0;
    }
    Engine engine(std::move(executable));
    engine.load(device);
    run(engine, options);
  } catch (const UsageError &error) {
    std::cerr << argv[0] << ": " << error.what() << '\n' << Options::usage();
    return 2;
  } catch (const std::exception &error) {
    // Of Poplar, too: its errors are standard exceptions.
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}
