// Lesson 9: what a program would cost on the machine, read line by line.
//   ./profile one|all
// Adds two vectors and sums up the result, with all elements on one tile or
// spread over all, and prints the profile. README.md explains it.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <iostream>
#include <string>

using namespace poplar;
using namespace poplar::program;

int main(int argc, char **argv) {
  const std::string tiles = argc > 1 ? argv[1] : "";
  if (tiles != "one" && tiles != "all") {
    std::cerr << "usage: " << argv[0] << " one|all\n";
    return 1;
  }
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device);
  popops::addCodelets(graph);

  // 32 elements for each of the 1,472 tiles.
  const std::size_t size = 32 * graph.getTarget().getNumTiles();
  Tensor a = graph.addVariable(FLOAT, {size}, "a");
  Tensor b = graph.addVariable(FLOAT, {size}, "b");
  for (const Tensor &tensor : {a, b}) {
    if (tiles == "one") {
      graph.setTileMapping(tensor, 0);
    } else {
      poputil::mapTensorLinearly(graph, tensor);
    }
  }
  // A name given here is how the step is called in the profile.
  Sequence program;
  Tensor sums = popops::add(graph, a, b, program, "add");
  Tensor total = popops::reduce(graph, sums, {0}, popops::Operation::ADD,
                                program, "total");
  graph.createHostRead("total", total);

  // On hardware, the counters that a profile comes from must be compiled in,
  // which is what this option asks for. Here it follows from the program, and
  // the option adds the memory that the counters would take.
  Engine engine(graph, program, {{"debug.instrument", "true"}});
  engine.load(device);
  engine.run();
  engine.printProfileSummary(std::cout, {{"showExecutionSteps", "true"}});
}
