// A matrix times a vector in two compute sets, split by an estimate of cycles:
//   matrix_vector_split rows columns [model|ipu] [report]
// Calls the C library unqualified and without its headers, as programs do.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

using namespace poplar;
using namespace poplar::program;

static int ceilDiv(int a, int b) {
  return (a + b - 1) / b;
}

static int vertexCost(int n) {
  return 5 + ceilDiv(n, 2);
}

static int calcColsAxisSplit(const Graph &graph, int numRows, int numCols) {
  const int numTiles = graph.getTarget().getNumTiles();
  const int numWorkers = graph.getTarget().getNumWorkerContexts();
  const int bytesPerCycle = graph.getTarget().getExchangeBytesPerCycle();
  int best = 1;
  int bestCost = std::numeric_limits<int>::max();
  int worstCost = 0;
  char bestText[200] = "";
  for (int split = 1; split < numCols; ++split) {
    const int cols = ceilDiv(numCols, split);
    const int products = ceilDiv(numRows * split, numTiles);
    const int sums = ceilDiv(numRows, numTiles);
    const int compute =
        ceilDiv(products, numWorkers) * numWorkers * vertexCost(cols);
    const int exchange = ceilDiv(cols * 4, bytesPerCycle);
    int reduceExchange = 0;
    int reduceCompute = 0;
    if (split > 1) {
      reduceExchange = ceilDiv(sums * split * 4, bytesPerCycle);
      reduceCompute =
          ceilDiv(sums, numWorkers) * numWorkers * vertexCost(split);
    }
    const int total = compute + exchange + reduceExchange + reduceCompute;
    worstCost = std::max(worstCost, total);
    if (total < bestCost) {
      best = split;
      bestCost = total;
      snprintf(bestText, sizeof(bestText),
               "colsAxisSplit=%d, total cost=%d (compute cost=%d, exchange "
               "cost=%d, reduce exchange cost=%d, reduce compute cost=%d)",
               split, total, compute, exchange, reduceExchange, reduceCompute);
    }
  }
  printf("%s\n", bestText);
  printf("Worst cost seen: %d\n", worstCost);
  return best;
}

static Program buildMultiplyProgram(Graph &graph, const Tensor &matrix,
                                    const Tensor &in, const Tensor &out,
                                    unsigned split) {
  const unsigned numTiles = graph.getTarget().getNumTiles();
  const unsigned numRows = matrix.dim(0);
  const unsigned numCols = matrix.dim(1);
  Tensor partials = graph.addVariable(FLOAT, {numRows, split}, "partials");
  ComputeSet mulCS = graph.addComputeSet("mulCS");
  ComputeSet reduceCS = graph.addComputeSet("reduceCS");
  const unsigned perTile = ceilDiv(numRows * split, numTiles);
  for (unsigned s = 0; s < split; ++s) {
    const unsigned begin = s * numCols / split;
    const unsigned end = (s + 1) * numCols / split;
    for (unsigned row = 0; row < numRows; ++row) {
      const unsigned tile = (s * numRows + row) / perTile;
      Tensor a = matrix[row].slice(begin, end);
      auto v = graph.addVertex(
          mulCS, "DotProductVertex",
          {{"a", a}, {"b", in.slice(begin, end)}, {"out", partials[row][s]}});
      graph.setTileMapping(v, tile);
      graph.setTileMapping(a, tile);
      graph.setTileMapping(partials[row][s], tile);
      graph.setPerfEstimate(v, vertexCost(end - begin));
    }
  }
  const unsigned sumsPerTile = ceilDiv(numRows, numTiles);
  for (unsigned row = 0; row < numRows; ++row) {
    auto v = graph.addVertex(reduceCS, "ReduceVertex",
                             {{"in", partials[row]}, {"out", out[row]}});
    graph.setTileMapping(v, row / sumsPerTile);
    graph.setTileMapping(out[row], row / sumsPerTile);
    graph.setPerfEstimate(v, vertexCost(split));
  }
  return Sequence({Execute(mulCS), Execute(reduceCS)});
}

int main(int argc, char **argv) {
  char route[8] = "model";
  if (argc > 3 && strlen(argv[3]) < sizeof(route)) {
    strncpy(route, argv[3], sizeof(route) - 1);
  }
  const unsigned numRows = atoi(argv[1]);
  const unsigned numCols = atoi(argv[2]);
  Device device;
  if (strcmp(route, "model") == 0) {
    IPUModel ipuModel("ipu2");
    ipuModel.minIPUSyncDelay = 0;
    ipuModel.relativeSyncDelay = IPUModel::RelativeSyncDelayType::NO_DELAY;
    device = ipuModel.createDevice();
  } else {
    for (auto &d :
         DeviceManager::createDeviceManager().getDevices(TargetType::IPU, 1)) {
      if (d.attach()) {
        device = std::move(d);
        break;
      }
    }
  }

  Graph graph(device);
  graph.addCodelets("dot_codelets.cpp");
  Tensor matrix = graph.addVariable(FLOAT, {numRows, numCols}, "matrix");
  Tensor in = graph.addVariable(FLOAT, {numCols}, "in");
  Tensor out = graph.addVariable(FLOAT, {numRows}, "out");
  const unsigned perTile = ceilDiv(numCols, graph.getTarget().getNumTiles());
  for (unsigned i = 0; i < numCols; ++i) {
    graph.setTileMapping(in[i], i / perTile);
  }
  const unsigned split = calcColsAxisSplit(graph, numRows, numCols);
  Program multiply = buildMultiplyProgram(graph, matrix, in, out, split);
  auto matrixStream =
      graph.addHostToDeviceFIFO("matrix", FLOAT, matrix.numElements());
  auto inStream = graph.addHostToDeviceFIFO("in", FLOAT, in.numElements());
  auto outStream = graph.addDeviceToHostFIFO("out", FLOAT, out.numElements());
  const bool report = argc > 4 && strcmp(argv[4], "report") == 0;
  OptionFlags options =
      report ? OptionFlags{{"autoReport.all", "true"}} : OptionFlags{};
  Engine engine(graph,
                Sequence{Copy(matrixStream, matrix), Copy(inStream, in),
                         multiply, Copy(out, outStream)},
                options);
  engine.load(device);

  // Small whole numbers: every order of summation gives the same sums.
  std::vector<float> hMatrix(numRows * numCols), hIn(numCols), hOut(numRows);
  for (unsigned i = 0; i < hMatrix.size(); ++i) {
    hMatrix[i] = i % 7;
  }
  for (unsigned i = 0; i < numCols; ++i) {
    hIn[i] = i % 5;
  }
  engine.connectStream("matrix", hMatrix.data());
  engine.connectStream("in", hIn.data());
  engine.connectStream("out", hOut.data());
  engine.run();
  for (unsigned row = 0; row < numRows; ++row) {
    float sum = 0;
    for (unsigned col = 0; col < numCols; ++col) {
      sum += hMatrix[row * numCols + col] * hIn[col];
    }
    if (sum != hOut[row]) {
      printf("Multiplication result not OK\n");
      return 1;
    }
  }
  printf("Multiplication result OK\n");
  if (report) {
    engine.printProfileSummary(std::cout, {{"showExecutionSteps", "true"}});
  }
  return 0;
}
