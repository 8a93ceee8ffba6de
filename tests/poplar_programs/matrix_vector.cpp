// A matrix times a vector, a vertex for each row: matrix_vector rows columns.
// On the IPU model, or with -DON_IPU on an IPU that is searched for.
#include <poplar/Engine.hpp>
#ifdef ON_IPU
#include <poplar/DeviceManager.hpp>
#else
#include <poplar/IPUModel.hpp>
#endif
#include <poputil/TileMapping.hpp>

using namespace poplar;
using namespace poplar::program;

#ifdef ON_IPU
static Device getDevice() {
  auto manager = DeviceManager::createDeviceManager();
  auto devices = manager.getDevices(TargetType::IPU, 1);
  auto it = std::find_if(devices.begin(), devices.end(),
                         [](Device &device) { return device.attach(); });
  if (it == devices.end()) {
    std::cerr << "Error attaching to device\n";
    std::exit(1);
  }
  return std::move(*it);
}
#else
static Device getDevice() {
  IPUModel ipuModel;
  return ipuModel.createDevice();
}
#endif

static Program buildMultiplyProgram(Graph &graph, Tensor matrix, Tensor in,
                                    Tensor out) {
  ComputeSet mulCS = graph.addComputeSet("mulCS");
  auto numTiles = graph.getTarget().getNumTiles();
  auto numRows = matrix.dim(0);
  for (unsigned i = 0; i < numRows; ++i) {
    auto v = graph.addVertex(mulCS, "DotProductVertex",
                             {{"a", matrix[i]}, {"b", in}, {"out", out[i]}});
    graph.setTileMapping(v, i % numTiles);
    graph.setPerfEstimate(v, 20);
  }
  return Execute(mulCS);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    return 2;
  }
  unsigned numRows = std::atoi(argv[1]);
  unsigned numCols = std::atoi(argv[2]);

  Device device = getDevice();
  Graph graph(device.getTarget());
  graph.addCodelets("dot_codelets.cpp");
  Tensor matrix = graph.addVariable(FLOAT, {numRows, numCols}, "matrix");
  Tensor inputVector = graph.addVariable(FLOAT, {numCols}, "inputVector");
  Tensor outputVector = graph.addVariable(FLOAT, {numRows}, "outputVector");
  poputil::mapTensorLinearly(graph, matrix);
  poputil::mapTensorLinearly(graph, inputVector);
  poputil::mapTensorLinearly(graph, outputVector);

  auto inStreamV = graph.addHostToDeviceFIFO("inputVector", FLOAT, numCols);
  auto inStreamM =
      graph.addHostToDeviceFIFO("inputMatrix", FLOAT, numCols * numRows);
  auto outStream = graph.addDeviceToHostFIFO("out", FLOAT, numRows);
  auto mulProg = buildMultiplyProgram(graph, matrix, inputVector, outputVector);
  auto prog = Sequence({Copy(inStreamV, inputVector), Copy(inStreamM, matrix),
                        mulProg, Copy(outputVector, outStream)});
  Engine engine(graph, prog);
  engine.load(device);

  // Values whose products round, so that the order of the sum shows.
  std::vector<float> hMatrix(numRows * numCols), hInput(numCols);
  std::vector<float> hOutput(numRows);
  for (unsigned i = 0; i < hMatrix.size(); ++i) {
    hMatrix[i] = 1.0f / (3 + i % 17) - 0.1f;
  }
  for (unsigned i = 0; i < numCols; ++i) {
    hInput[i] = 1.0f / (1 + i);
  }
  engine.connectStream("inputVector", hInput.data());
  engine.connectStream("inputMatrix", hMatrix.data());
  engine.connectStream("out", hOutput.data());
  engine.run();

  for (unsigned row = 0; row < numRows; ++row) {
    float sum = 0;
    for (unsigned col = 0; col < numCols; ++col) {
      sum += hMatrix[row * numCols + col] * hInput[col];
    }
    if (hOutput[row] != sum) {
      std::cout << "Multiplication result not OK\n";
      return 1;
    }
  }
  std::cout << "Multiplication result OK\n";
  return 0;
}
