// Lesson 4: the product of lesson 3, with rows cut into pieces.
//   ./matrix_vector_split [--model] [--profile] rows columns
//
// With one vertex for each row, few rows leave tiles idle, and every tile needs
// the whole vector. If each row is cut into pieces, there is work for more
// tiles and a tile needs only the part of the vector that its pieces meet; but
// the partial results must be brought together and summed in a second compute
// set. How many pieces are best is estimated before the graph is built.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

struct Options {
  bool useModel = false;
  bool profile = false;
  unsigned numRows = 0;
  unsigned numColumns = 0;
};

struct Cost {
  unsigned products, vectorExchange, sums, partialsExchange; // in cycles

  unsigned total() const {
    return products + vectorExchange + sums + partialsExchange;
  }
};

unsigned divideRoundingUp(unsigned a, unsigned b) {
  return (a + b - 1) / b;
}

// Cycles of a vertex that reads so many values: two each cycle, and a few to
// start and to store the result.
unsigned vertexCycles(unsigned numValues) {
  return 5 + divideRoundingUp(numValues, 2);
}

// Cycles of a compute set whose equal vertices are dealt out evenly. The
// workers of a tile take turns cycle by cycle, also those that have nothing
// left to do.
unsigned computeSetCycles(const Target &target, unsigned numVertices,
                          unsigned cyclesOfVertex) {
  const unsigned numWorkers = target.getNumWorkerContexts();
  const unsigned onTile = divideRoundingUp(numVertices, target.getNumTiles());
  return divideRoundingUp(onTile, numWorkers) * numWorkers * cyclesOfVertex;
}

unsigned exchangeCycles(const Target &target, unsigned numFloats) {
  return divideRoundingUp(numFloats * 4, target.getExchangeBytesPerCycle());
}

Cost estimateCost(const Target &target, const Options &options,
                  unsigned numPieces) {
  const unsigned columns = divideRoundingUp(options.numColumns, numPieces);
  Cost cost = {};
  cost.products = computeSetCycles(target, options.numRows * numPieces,
                                   vertexCycles(columns));
  cost.vectorExchange = exchangeCycles(target, columns);
  if (numPieces > 1) {
    const unsigned sumsOnTile =
        divideRoundingUp(options.numRows, target.getNumTiles());
    cost.sums =
        computeSetCycles(target, options.numRows, vertexCycles(numPieces));
    cost.partialsExchange = exchangeCycles(target, sumsOnTile * numPieces);
  }
  return cost;
}

unsigned chooseNumPieces(const Target &target, const Options &options) {
  unsigned best = 1;
  for (unsigned n = 2; n <= options.numColumns; ++n) {
    if (estimateCost(target, options, n).total() <
        estimateCost(target, options, best).total()) {
      best = n;
    }
  }
  return best;
}

// Deals `count` vertices out in blocks; neighbours share a tile.
unsigned tileOf(const Target &target, unsigned index, unsigned count) {
  return index / divideRoundingUp(count, target.getNumTiles());
}

// partials[i][p] becomes what piece p of row i contributes. Vertices of the
// same piece are neighbours, so that most tiles need one part of the vector
// only.
Program multiplyPieces(Graph &graph, const Tensor &matrix, const Tensor &vector,
                       const Tensor &partials) {
  const unsigned numRows = matrix.dim(0);
  const unsigned numColumns = matrix.dim(1);
  const unsigned numPieces = partials.dim(1);
  ComputeSet products = graph.addComputeSet("products");
  for (unsigned p = 0; p < numPieces; ++p) {
    // These bounds make pieces whose lengths differ by one at most.
    const unsigned begin = p * numColumns / numPieces;
    const unsigned end = (p + 1) * numColumns / numPieces;
    Tensor part = vector.slice(begin, end);
    for (unsigned i = 0; i < numRows; ++i) {
      Tensor piece = matrix[i].slice(begin, end);
      VertexRef vertex = graph.addVertex(
          products, "PieceTimesVector",
          {{"piece", piece}, {"vector", part}, {"partial", partials[i][p]}});
      const unsigned tile =
          tileOf(graph.getTarget(), p * numRows + i, numRows * numPieces);
      graph.setTileMapping(vertex, tile);
      graph.setTileMapping(piece, tile);
      graph.setTileMapping(partials[i][p], tile);
      graph.setPerfEstimate(vertex, vertexCycles(end - begin));
    }
  }
  return Execute(products);
}

Program sumPartials(Graph &graph, const Tensor &partials,
                    const Tensor &product) {
  const unsigned numRows = partials.dim(0);
  ComputeSet sums = graph.addComputeSet("sums");
  for (unsigned i = 0; i < numRows; ++i) {
    VertexRef vertex =
        graph.addVertex(sums, "SumPartials",
                        {{"partials", partials[i]}, {"product", product[i]}});
    const unsigned tile = tileOf(graph.getTarget(), i, numRows);
    graph.setTileMapping(vertex, tile);
    graph.setTileMapping(product[i], tile);
    graph.setPerfEstimate(vertex, vertexCycles(partials.dim(1)));
  }
  return Execute(sums);
}

Device createDevice(bool useModel) {
  if (useModel) {
    // The estimate has no time in which tiles wait for each other. To compare
    // the two, let the model have as little of it as can be.
    IPUModel model("ipu2");
    model.minIPUSyncDelay = 0;
    model.relativeSyncDelay = IPUModel::RelativeSyncDelayType::NO_DELAY;
    return model.createDevice();
  }
  for (Device &device :
       DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1)) {
    if (device.attach()) {
      return std::move(device);
    }
  }
  std::cerr << "No IPU is free\n";
  std::exit(1);
}

Options readOptions(int argc, char **argv) {
  Options options;
  std::vector<unsigned> sizes;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--model") == 0) {
      options.useModel = true;
    } else if (std::strcmp(argv[i], "--profile") == 0) {
      options.profile = true;
    } else {
      sizes.push_back(std::atoi(argv[i]));
    }
  }
  if (sizes.size() != 2 || sizes[0] == 0 || sizes[1] == 0) {
    std::cerr << "usage: " << argv[0]
              << " [--model] [--profile] rows columns\n";
    std::exit(1);
  }
  options.numRows = sizes[0];
  options.numColumns = sizes[1];
  return options;
}

// The pieces are summed in another order than a plain loop has, so the results
// differ by rounding.
bool isProduct(const std::vector<float> &a, const std::vector<float> &x,
               const std::vector<float> &y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    double expected = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      expected += double(a[i * x.size() + j]) * x[j];
    }
    if (std::fabs(y[i] - expected) > 1e-4 * std::fabs(expected)) {
      return false;
    }
  }
  return true;
}

// The whole program, from the streams in to the stream out.
Program buildProgram(Graph &graph, const Options &options, unsigned numPieces) {
  const unsigned numRows = options.numRows;
  const unsigned numColumns = options.numColumns;
  Tensor matrix = graph.addVariable(FLOAT, {numRows, numColumns}, "matrix");
  Tensor vector = graph.addVariable(FLOAT, {numColumns}, "vector");
  Tensor partials = graph.addVariable(FLOAT, {numRows, numPieces}, "partials");
  for (unsigned j = 0; j < numColumns; ++j) {
    graph.setTileMapping(vector[j], tileOf(graph.getTarget(), j, numColumns));
  }

  DataStream matrixIn =
      graph.addHostToDeviceFIFO("matrix", FLOAT, matrix.numElements());
  DataStream vectorIn = graph.addHostToDeviceFIFO("vector", FLOAT, numColumns);
  DataStream productOut = graph.addDeviceToHostFIFO("product", FLOAT, numRows);
  Sequence steps{Copy(matrixIn, matrix), Copy(vectorIn, vector),
                 multiplyPieces(graph, matrix, vector, partials)};
  if (numPieces == 1) {
    steps.add(Copy(partials.flatten(), productOut));
    return steps;
  }
  Tensor product = graph.addVariable(FLOAT, {numRows}, "product");
  steps.add(sumPartials(graph, partials, product));
  steps.add(Copy(product, productOut));
  return steps;
}

int main(int argc, char **argv) {
  const Options options = readOptions(argc, argv);
  Device device = createDevice(options.useModel);
  Graph graph(device);
  graph.addCodelets("split_codelets.cpp");

  const unsigned numPieces = chooseNumPieces(graph.getTarget(), options);
  const Cost cost = estimateCost(graph.getTarget(), options, numPieces);
  std::cout << "pieces of a row: " << numPieces << '\n'
            << "estimated cycles: " << cost.total() << " (products "
            << cost.products << ", their exchange " << cost.vectorExchange
            << ", sums " << cost.sums << ", their exchange "
            << cost.partialsExchange << ")\n";

  // Counting cycles is asked for when compiling.
  OptionFlags engineOptions;
  if (options.profile) {
    engineOptions.set("debug.instrument", "true");
  }
  Engine engine(graph, buildProgram(graph, options, numPieces), engineOptions);
  engine.load(device);

  std::vector<float> a(options.numRows * options.numColumns);
  std::vector<float> x(options.numColumns), y(options.numRows);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = 1.0f / (1 + i % 101);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.1f * (1 + i % 13);
  }
  engine.connectStream("matrix", a.data());
  engine.connectStream("vector", x.data());
  engine.connectStream("product", y.data());
  engine.run();
  if (!isProduct(a, x, y)) {
    std::cerr << "Multiplication result wrong\n";
    return 1;
  }
  std::cout << "Multiplication result OK\n";
  if (options.profile) {
    engine.printProfileSummary(std::cout, {{"showExecutionSteps", "true"}});
  }
}
