// Logistic regression on MNIST, trained by the device from streams:
//   regression folder epochs model|ipu [report]
// The folder holds the unpacked IDX files. Prints the loss of each of the first
// 20 batches, then the accuracy on the test images in percent.
#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <cstdio>
#include <fstream>

using namespace poplar;
using namespace poplar::program;

static const std::size_t imageSize = 784;
static const std::size_t numClasses = 10;
static const std::size_t batchSize = 50;
static const float eta = 0.1f;

static std::vector<unsigned char> readFile(const std::string &name,
                                           std::size_t headerSize) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    std::cerr << "Cannot read " << name << "\n";
    exit(1);
  }
  file.ignore(headerSize);
  return std::vector<unsigned char>(std::istreambuf_iterator<char>(file),
                                    std::istreambuf_iterator<char>());
}

struct Digits {
  Digits(const std::string &prefix) {
    for (unsigned char pixel : readFile(prefix + "-images-idx3-ubyte", 16)) {
      images.push_back(pixel / 255.0f);
    }
    for (unsigned char label : readFile(prefix + "-labels-idx1-ubyte", 8)) {
      labels.push_back(label);
    }
  }

  std::vector<float> images;
  std::vector<unsigned> labels;
};

static Device getDevice(const std::string &route) {
  if (route == "model") {
    IPUModel ipuModel;
    ipuModel.numIPUs = 1;
    ipuModel.tilesPerIPU = 4;
    return ipuModel.createDevice();
  }
  auto manager = DeviceManager::createDeviceManager();
  for (auto &device : manager.getDevices(TargetType::IPU, 1)) {
    if (device.attach()) {
      return std::move(device);
    }
  }
  std::cerr << "Error attaching to device\n";
  exit(1);
}

int main(int argc, char **argv) {
  const std::string folder = argv[1];
  Digits training(folder + "/train");
  Digits testing(folder + "/t10k");
  const unsigned epochs = std::stoul(argv[2]);
  Device device = getDevice(argv[3]);
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  popnn::addCodelets(graph);

  Tensor x = graph.addVariable(FLOAT, {batchSize, imageSize}, "x");
  Tensor y = graph.addVariable(UNSIGNED_INT, {batchSize}, "y");
  Tensor w = graph.addVariable(FLOAT, {imageSize, numClasses}, "w");
  Tensor b = graph.addVariable(FLOAT, {numClasses}, "b");
  Tensor loss = graph.addVariable(FLOAT, {batchSize}, "loss");
  Tensor deltas = graph.addVariable(FLOAT, {batchSize, numClasses}, "deltas");
  Tensor numCorrect = graph.addVariable(UNSIGNED_INT, {1}, "num correct");
  for (Tensor tensor : {x, y, w, b, loss, deltas, numCorrect}) {
    poputil::mapTensorLinearly(graph, tensor);
  }
  Tensor zero = graph.addConstant(UNSIGNED_INT, {1}, 0);
  Tensor ones = graph.addConstant(FLOAT, {1, batchSize}, 1.0f);
  graph.setTileMapping(zero, 0);
  graph.setTileMapping(ones, 0);
  graph.createHostWrite("w", w);
  graph.createHostWrite("b", b);
  graph.createHostRead("num correct", numCorrect);
  DataStream images = graph.addHostToDeviceFIFO("x", FLOAT, x.numElements());
  DataStream labels = graph.addHostToDeviceFIFO("y", UNSIGNED_INT, batchSize);
  DataStream losses = graph.addDeviceToHostFIFO("loss", FLOAT, batchSize);

  Sequence forward{Copy(images, x), Copy(labels, y)};
  Tensor z = poplin::matMul(graph, x, w, forward, "x * w");
  z = popops::add(graph, z, b, forward, "x * w + b");
  z = popnn::nonLinearity(graph, popnn::NonLinearityType::SOFTMAX, z, forward,
                          "softmax(x * w + b)");
  forward.add(popnn::calcLoss(graph, z, y, loss, deltas, numCorrect,
                              popnn::CROSS_ENTROPY_LOSS, "d/dz loss"));

  Sequence update;
  const float step = eta / batchSize;
  Tensor wDeltas =
      poplin::matMul(graph, x.transpose(), deltas, update, "d/dw loss");
  Tensor bDeltas = poplin::matMul(graph, ones, deltas, update, "d/db loss");
  popops::scaledAddTo(graph, w, wDeltas, -step, update, "w += -eta * d/dw");
  popops::scaledAddTo(graph, b, bDeltas.flatten(), -step, update,
                      "b += -eta * d/db");

  const unsigned trainingBatches = training.labels.size() / batchSize;
  const unsigned testBatches = testing.labels.size() / batchSize;
  Sequence train({Copy(zero, numCorrect),
                  Repeat(trainingBatches,
                         Sequence({forward, update, Copy(loss, losses)}))});
  Sequence test({Copy(zero, numCorrect), Repeat(testBatches, forward)});

  Engine engine(graph, {train, test});
  engine.load(device);
  const std::vector<float> none(w.numElements(), 0.0f);
  engine.writeTensor("w", none.data(), none.data() + w.numElements());
  engine.writeTensor("b", none.data(), none.data() + b.numElements());
  std::vector<float> lossOfImages(training.labels.size());
  engine.connectStream("loss", lossOfImages.data(),
                       lossOfImages.data() + lossOfImages.size());
  const auto connect = [&](Digits &digits) {
    engine.connectStream("x", digits.images.data(),
                         digits.images.data() + digits.images.size());
    engine.connectStream("y", digits.labels.data(),
                         digits.labels.data() + digits.labels.size());
  };

  connect(training);
  for (unsigned epoch = 0; epoch < epochs; ++epoch) {
    engine.run(0);
    for (unsigned batch = 0; epoch == 0 && batch < 20; ++batch) {
      double sum = 0;
      for (unsigned i = 0; i < batchSize; ++i) {
        sum += lossOfImages[batch * batchSize + i];
      }
      printf("%.8f\n", sum / batchSize);
    }
  }
  connect(testing);
  engine.run(1);
  unsigned correct = 0;
  engine.readTensor("num correct", &correct, &correct + 1);
  printf("%.2f\n", 100.0 * correct / testing.labels.size());
  if (argc > 4) {
    engine.printProfileSummary(std::cout);
  }
}
