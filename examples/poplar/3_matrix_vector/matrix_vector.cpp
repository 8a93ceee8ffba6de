// Lesson 3: a matrix times a vector, one vertex for each row.
//   ./matrix_vector rows columns
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poputil/TileMapping.hpp>

#include <cstdlib>
#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

// Takes the first IPU that nobody else is using.
Device findIpu() {
  DeviceManager manager = DeviceManager::createDeviceManager();
  for (Device &device : manager.getDevices(TargetType::IPU, 1)) {
    if (device.attach()) {
      return std::move(device);
    }
  }
  std::cerr << "No IPU is free\n";
  std::exit(1);
}

// The rows are dealt out in blocks, so that a tile has its rows next to each
// other; every tile gets the whole vector by the exchange.
Program multiply(Graph &graph, const Tensor &matrix, const Tensor &vector,
                 const Tensor &product) {
  const unsigned numTiles = graph.getTarget().getNumTiles();
  const unsigned numRows = matrix.dim(0);
  const unsigned rowsPerTile = (numRows + numTiles - 1) / numTiles;
  ComputeSet products = graph.addComputeSet("products");
  for (unsigned i = 0; i < numRows; ++i) {
    VertexRef vertex = graph.addVertex(
        products, "RowTimesVector",
        {{"row", matrix[i]}, {"vector", vector}, {"product", product[i]}});
    const unsigned tile = i / rowsPerTile;
    graph.setTileMapping(vertex, tile);
    graph.setTileMapping(matrix[i], tile);
    graph.setTileMapping(product[i], tile);
    graph.setPerfEstimate(vertex, 5 + matrix.dim(1));
  }
  return Execute(products);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " rows columns\n";
    return 1;
  }
  const unsigned numRows = std::atoi(argv[1]);
  const unsigned numColumns = std::atoi(argv[2]);

  Device device = findIpu();
  Graph graph(device.getTarget());
  graph.addCodelets("product_codelets.cpp");
  Tensor matrix = graph.addVariable(FLOAT, {numRows, numColumns}, "matrix");
  Tensor vector = graph.addVariable(FLOAT, {numColumns}, "vector");
  Tensor product = graph.addVariable(FLOAT, {numRows}, "product");
  // Where no vertex gives a reason for a mapping, spread evenly.
  poputil::mapTensorLinearly(graph, vector);

  DataStream matrixIn =
      graph.addHostToDeviceFIFO("matrix", FLOAT, matrix.numElements());
  DataStream vectorIn =
      graph.addHostToDeviceFIFO("vector", FLOAT, vector.numElements());
  DataStream productOut =
      graph.addDeviceToHostFIFO("product", FLOAT, product.numElements());
  Program multiplication = multiply(graph, matrix, vector, product);
  Engine engine(graph, Sequence({Copy(matrixIn, matrix), Copy(vectorIn, vector),
                                 multiplication, Copy(product, productOut)}));
  engine.load(device);

  std::vector<float> a(numRows * numColumns), x(numColumns), y(numRows);
  for (unsigned i = 0; i < a.size(); ++i) {
    a[i] = 1.0f / (1 + i % 101);
  }
  for (unsigned i = 0; i < x.size(); ++i) {
    x[i] = 0.1f * (i % 13);
  }
  engine.connectStream("matrix", a.data());
  engine.connectStream("vector", x.data());
  engine.connectStream("product", y.data());
  engine.run();

  // The vertex adds from left to right in single precision. Doing the same here
  // gives the same bits, so an exact comparison is right.
  for (unsigned i = 0; i < numRows; ++i) {
    float expected = 0;
    for (unsigned j = 0; j < numColumns; ++j) {
      expected += a[i * numColumns + j] * x[j];
    }
    if (y[i] != expected) {
      std::cerr << "row " << i << ": " << y[i] << ", expected " << expected
                << '\n';
      return 1;
    }
  }
  std::cout << "Multiplication result OK\n";
}
