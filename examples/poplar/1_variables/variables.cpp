// Lesson 1: variables, the tiles they live on, and programs that move them.
// Nothing is computed yet; data gets into the machine, about it and out of it.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

int main() {
  // A device is a machine to run on, here the model of one IPU. The graph is
  // made for its target, which says what the machine has.
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  std::cout << "tiles: " << graph.getTarget().getNumTiles() << '\n';

  // There is no common memory: each element is in the memory of some tile, and
  // the graph does not compile before all have one. These four are apart.
  Tensor row = graph.addVariable(FLOAT, {4}, "row");
  for (unsigned i = 0; i < row.dim(0); ++i) {
    graph.setTileMapping(row[i], i);
  }
  // A constant takes memory too, so it needs a tile as well.
  Tensor powers = graph.addConstant<float>(FLOAT, {4}, {1, 2, 4, 8}, "powers");
  graph.setTileMapping(powers, 0);
  Tensor grid = graph.addVariable(FLOAT, {3, 4}, "grid");
  graph.setTileMapping(grid, 4);

  // So far there is data, but nothing happens. A sequence says what does, in
  // which order; the copy moves each power to the tile of its element.
  Sequence steps;
  steps.add(Copy(powers, row));
  steps.add(PrintTensor("row", row)); // to stderr

  // A slice shares the elements that it shows: copying into it changes grid.
  // Both sides have one dimension here, so that column 0 fits three of row.
  Tensor column = grid.slice({0, 0}, {3, 1}).flatten();
  steps.add(Copy(row.slice(0, 3), column));
  steps.add(Copy(row.slice(2, 4), grid[1].slice(2, 4)));

  // The host reads and writes a variable by name while no program runs ...
  graph.createHostWrite("write-grid", grid);
  graph.createHostRead("read-grid", grid);

  // ... and a program that runs gets and sends data by streams. Each copy moves
  // as many elements as the stream was made for.
  Tensor batch = graph.addVariable(INT, {3}, "batch");
  graph.setTileMapping(batch, 5);
  DataStream arrivals = graph.addHostToDeviceFIFO("arrivals", INT, 3);
  DataStream departures = graph.addDeviceToHostFIFO("departures", INT, 2);
  for (int i = 0; i < 2; ++i) {
    steps.add(Copy(arrivals, batch));
    steps.add(PrintTensor("batch", batch));
    steps.add(Copy(batch.slice(1, 3), departures));
  }

  // The engine compiles the graph and its program, and runs it on the device.
  Engine engine(graph, steps);
  engine.load(device);

  std::vector<float> gridValues(grid.numElements(), -1);
  engine.writeTensor("write-grid", gridValues.data(),
                     gridValues.data() + gridValues.size());
  // A buffer longer than one copy is used piece by piece, then again from its
  // start: here each of the two copies finds its own three numbers.
  std::vector<int> in{10, 11, 12, 20, 21, 22};
  std::vector<int> out(4);
  engine.connectStream("arrivals", in.data(), in.data() + in.size());
  engine.connectStream("departures", out.data(), out.data() + out.size());

  engine.run(0);

  engine.readTensor("read-grid", gridValues.data(),
                    gridValues.data() + gridValues.size());
  std::cout << "grid:\n";
  for (unsigned i = 0; i < grid.dim(0); ++i) {
    for (unsigned j = 0; j < grid.dim(1); ++j) {
      std::cout << ' ' << gridValues[i * grid.dim(1) + j];
    }
    std::cout << '\n';
  }
  std::cout << "departures:";
  for (int value : out) {
    std::cout << ' ' << value;
  }
  std::cout << '\n';
}
