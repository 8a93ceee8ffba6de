// Plans and builds 200 layers of a network with their backward pass, for one
// IPU and for sixteen: 66 times convolution, group norm and ReLU, a dense layer
// and a softmax with its loss. Every second convolution has a width of its own,
// so that plans are not just looked up.
#include "Benchmark.hpp"

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popnn/GroupNorm.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/Norms.hpp>
#include <popnn/codelets.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <tuple>
#include <utility>
#include <vector>

using namespace poplar;
using namespace poplar::program;

namespace {

constexpr unsigned blocks = 66; // of three layers
constexpr std::size_t batch = 4;
constexpr std::size_t classes = 10;
constexpr float rate = -0.01f;

// What the backward pass of a block needs.
struct Block {
  poplin::ConvParams params;
  Tensor input, weights, convolved;
  Tensor gamma, beta, mean, invStdDev;
  Tensor output;
};

class Network {
public:
  explicit Network(Graph &graph) : graph_(graph) {}

  Sequence build() {
    Tensor x = graph_.addVariable(FLOAT, {batch, 16, 32, 32}, "images");
    poputil::mapTensorLinearly(graph_, x);
    for (unsigned i = 0; i < blocks; ++i) {
      x = forward(x, 16 + 4 * ((i + 1) / 2), i % 22 == 21 ? 2 : 1);
    }
    Tensor gradient = finish(x);
    for (unsigned i = blocks; i-- > 0;) {
      gradient = backward(all_[i], gradient, i > 0);
    }
    return program_;
  }

private:
  // Halves the image where the stride is 2.
  Tensor forward(const Tensor &x, std::size_t channels, unsigned stride) {
    Block block;
    block.input = x;
    poplin::OutputTransform output(2);
    output.stride = {stride, stride};
    poplin::InputTransform input(2);
    input.paddingLower = {1, 1};
    input.paddingUpper = {1, 1};
    block.params = poplin::ConvParams(FLOAT, FLOAT, batch, {x.dim(2), x.dim(3)},
                                      {3, 3}, x.dim(1), channels, 1, input,
                                      poplin::InputTransform(2), output);
    block.weights = poplin::createWeights(graph_, block.params, "weights");
    block.convolved = poplin::convolution(
        graph_, x, block.weights, block.params, false, program_, "convolution");
    std::tie(block.gamma, block.beta) =
        popnn::createNormParams(graph_, block.convolved, "norm");
    std::tie(block.mean, block.invStdDev) = popnn::gn::groupNormStatistics(
        graph_, block.convolved, 1e-5f, program_, 4, false);
    Tensor normalised = popnn::gn::groupNormalise(
                            graph_, block.convolved, block.gamma, block.beta,
                            block.mean, block.invStdDev, program_, "norm")
                            .first;
    block.output = popnn::relu(graph_, normalised, program_, "relu");
    all_.push_back(block);
    return block.output;
  }

  // The dense layer and the loss; returns the gradient of the images.
  Tensor finish(const Tensor &images) {
    Tensor x = images.reshape({batch, images.numElements() / batch});
    Tensor weights = poplin::createMatMulInputRHS(
        graph_, FLOAT, x.shape(), {x.dim(1), classes}, "dense weights");
    Tensor labels = graph_.addVariable(UNSIGNED_INT, {batch}, "labels");
    Tensor loss = graph_.addVariable(FLOAT, {batch}, "loss");
    Tensor deltas = graph_.addVariable(FLOAT, {batch, classes}, "deltas");
    for (const Tensor &tensor : {labels, loss, deltas}) {
      poputil::mapTensorLinearly(graph_, tensor);
    }
    Tensor scores = poplin::matMul(graph_, x, weights, program_, "dense");
    scores = popnn::softmax(graph_, scores, program_, "softmax");
    program_.add(popnn::calcLoss(graph_, scores, labels, loss, deltas,
                                 popnn::CROSS_ENTROPY_LOSS, "loss"));
    Tensor gradient = poplin::matMul(graph_, deltas, weights.transpose(),
                                     program_, "dense gradient");
    poplin::matMulAcc(graph_, weights, rate, x.transpose(), deltas, program_,
                      "dense update");
    graph_.createHostRead("loss", loss);
    return gradient.reshape(images.shape());
  }

  Tensor backward(Block &block, Tensor gradient, bool needsInput) {
    gradient = popnn::nonLinearityInputGradient(
        graph_, popnn::NonLinearityType::RELU, block.output, gradient, program_,
        "relu gradient");
    Tensor convolved = popnn::gn::groupNormGradients(
        graph_, block.convolved, gradient, block.mean, block.invStdDev,
        block.gamma, program_, FLOAT, "norm gradient");
    std::pair<Tensor, Tensor> deltas = popnn::gn::groupNormParamGradients(
        graph_, block.convolved, gradient, block.mean, block.invStdDev,
        program_, FLOAT, "norm parameters' gradient");
    popops::scaledAddTo(graph_, block.gamma, deltas.first, rate, program_);
    popops::scaledAddTo(graph_, block.beta, deltas.second, rate, program_);
    Tensor input;
    if (needsInput) {
      input = poplin::convolution(graph_, convolved, block.weights,
                                  poplin::getGradientParams(block.params), true,
                                  program_, "data gradient");
    }
    poplin::convolutionWeightUpdate(graph_, convolved, block.weights,
                                    block.input, block.params, rate, program_,
                                    "weight update");
    return input;
  }

  Graph &graph_;
  Sequence program_;
  std::vector<Block> all_;
};

struct Figures {
  double build = 1e9;
  double compile = 1e9;
};

Figures measure(unsigned ipus) {
  Figures figures;
  for (int round = 0; round < 3; ++round) {
    IPUModel model;
    model.numIPUs = ipus;
    model.tilesPerIPU = 1472;
    Device device = model.createDevice();
    Stopwatch building;
    Graph graph(device);
    popops::addCodelets(graph);
    poplin::addCodelets(graph);
    popnn::addCodelets(graph);
    Sequence program = Network(graph).build();
    figures.build = std::min(figures.build, building.seconds());
    Stopwatch compiling;
    Engine engine(graph, program);
    figures.compile = std::min(figures.compile, compiling.seconds());
  }
  return figures;
}

} // namespace

int main() {
  const Figures one = measure(1);
  const Figures many = measure(16);
  std::printf("{\"build_s\": %.3f, \"compile_s\": %.3f, "
              "\"ipus16_build_s\": %.3f, \"ipus16_compile_s\": %.3f, "
              "\"ratio\": %.2f}\n",
              one.build, one.compile, many.build, many.compile,
              many.build / one.build);
}
