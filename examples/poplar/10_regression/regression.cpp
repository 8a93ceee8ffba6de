// Lesson 10: a model that learns. Logistic regression on MNIST's digits:
//   ./regression folder [epochs]
// One matrix turns a picture into ten scores; softmax makes them probabilities.
// The device reads batches from streams and improves the matrix after each.
#include "Idx.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace poplar;
using namespace poplar::program;

const std::size_t pixels = 28 * 28, classes = 10, batchSize = 100;
const float learningRate = 0.2f;

struct Digits {
  // `prefix`: "train" or "t10k", as the files are called.
  Digits(const std::string &folder, const std::string &prefix) {
    const Idx x = readIdx(folder + "/" + prefix + "-images-idx3-ubyte", 3);
    const Idx y = readIdx(folder + "/" + prefix + "-labels-idx1-ubyte", 1);
    if (x.shape[1] * x.shape[2] != pixels || x.shape[0] != y.shape[0]) {
      throw std::runtime_error("the images and labels of " + prefix +
                               " do not belong together");
    }
    for (unsigned char value : x.values) {
      images.push_back(value / 255.0f);
    }
    labels.assign(y.values.begin(), y.values.end());
  }

  unsigned batches() const {
    return static_cast<unsigned>(labels.size() / batchSize);
  }

  std::vector<float> images;
  std::vector<unsigned> labels;
};

enum Programs { train, test };

// All that the device does.
class Model {
public:
  explicit Model(Graph &graph) : graph(graph) {
    popops::addCodelets(graph);
    poplin::addCodelets(graph);
    popnn::addCodelets(graph);
    images = add(FLOAT, {batchSize, pixels}, "images");
    labels = add(UNSIGNED_INT, {batchSize}, "labels");
    weights = add(FLOAT, {pixels, classes}, "weights");
    biases = add(FLOAT, {classes}, "biases");
    deltas = add(FLOAT, {batchSize, classes}, "deltas");
    losses = add(FLOAT, {batchSize}, "losses");
    total = add(FLOAT, {1}, "total");
    correct = add(UNSIGNED_INT, {1}, "correct");
    // What variables hold before the first run; there is no need to write it.
    graph.setInitialValue(weights, 0.0f);
    graph.setInitialValue(biases, 0.0f);
    graph.createHostRead("total", total);
    graph.createHostRead("correct", correct);
  }

  // The programs of a pass over each set of digits.
  std::vector<Program> programs(unsigned trainBatches, unsigned testBatches) {
    Sequence batch{readBatch(), forward(), backward()};
    return {Sequence{reset(), Repeat(trainBatches, batch)},
            Sequence{reset(),
                     Repeat(testBatches, Sequence{readBatch(), forward()})}};
  }

private:
  Tensor add(const Type &type, const std::vector<std::size_t> &shape,
             const char *name) {
    Tensor tensor = graph.addVariable(type, shape, name);
    poputil::mapTensorLinearly(graph, tensor);
    return tensor;
  }

  Program reset() {
    Tensor zero = graph.addConstant(FLOAT, {1}, 0.0f);
    Tensor none = graph.addConstant(UNSIGNED_INT, {1}, 0u);
    graph.setTileMapping(zero, 0);
    graph.setTileMapping(none, 0);
    return Sequence{Copy(zero, total), Copy(none, correct)};
  }

  // Streams of one name are one stream: both programs read from them.
  Program readBatch() {
    if (!isConnected) {
      imageStream =
          graph.addHostToDeviceFIFO("images", FLOAT, images.numElements());
      labelStream = graph.addHostToDeviceFIFO("labels", UNSIGNED_INT,
                                              labels.numElements());
      isConnected = true;
    }
    return Sequence{Copy(imageStream, images), Copy(labelStream, labels)};
  }

  // Scores, probabilities, and what they are worth. calcLoss() also sets
  // `deltas`, the gradient of the loss by the scores, and counts in `correct`.
  Program forward() {
    Sequence sequence;
    Tensor scores = poplin::matMul(graph, images, weights, sequence, "scores");
    popops::addInPlace(graph, scores, biases, sequence, "scores + biases");
    Tensor guesses = popnn::nonLinearity(
        graph, popnn::NonLinearityType::SOFTMAX, scores, sequence, "softmax");
    sequence.add(popnn::calcLoss(graph, guesses, labels, losses, deltas,
                                 correct, popnn::CROSS_ENTROPY_LOSS, "loss"));
    popops::reduceWithOutput(graph, losses, total[0], {0},
                             {popops::Operation::ADD, true}, sequence, "total");
    return sequence;
  }

  // One step down the gradient of the mean loss.
  Program backward() {
    Sequence sequence;
    const float scale = -learningRate / batchSize;
    poplin::matMulAcc(graph, weights, scale, images.transpose(), deltas,
                      sequence, "weights += scale * images^T * deltas");
    Tensor sums = popops::reduce(graph, deltas, {0}, popops::Operation::ADD,
                                 sequence, "sum of deltas");
    popops::scaledAddTo(graph, biases, sums, scale, sequence, "biases");
    return sequence;
  }

  Graph &graph;
  Tensor images, labels, weights, biases, deltas, losses, total, correct;
  DataStream imageStream, labelStream;
  bool isConnected = false;
};

void runPass(Engine &engine, Programs program, Digits &digits,
             const char *name) {
  engine.connectStream("images", digits.images.data(),
                       digits.images.data() + digits.images.size());
  engine.connectStream("labels", digits.labels.data(),
                       digits.labels.data() + digits.labels.size());
  engine.run(program);
  float loss = 0;
  unsigned correct = 0;
  engine.readTensor("total", &loss, &loss + 1);
  engine.readTensor("correct", &correct, &correct + 1);
  const double count = digits.batches() * double(batchSize);
  std::printf("%s: loss %.4f, accuracy %.2f %%\n", name, loss / count,
              100 * correct / count);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0]
              << " folder [epochs]\nThe folder holds the four files of MNIST, "
                 "unpacked: train-images-idx3-ubyte and so on.\n";
    return 1;
  }
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 3;
  try {
    Digits training(argv[1], "train"), testing(argv[1], "t10k");
    Device device;
    DeviceManager manager = DeviceManager::createDeviceManager();
    for (Device &candidate : manager.getDevices(TargetType::IPU, 1)) {
      if (candidate.attach()) {
        device = std::move(candidate);
        break;
      }
    }
    Graph graph(device.getTarget());
    Model model(graph);
    Engine engine(graph, model.programs(training.batches(), testing.batches()));
    engine.load(device);
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      runPass(engine, train, training,
              ("epoch " + std::to_string(epoch)).c_str());
    }
    runPass(engine, test, testing, "test");
  } catch (const std::exception &error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
