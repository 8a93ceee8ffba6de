#include "Recurrent.hpp"

#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace popnn {

using poputil::poplibs_error;
using support::requireUser;

namespace rnn {

RnnParams::RnnParams(poplar::Type dataType, std::size_t batchSize,
                     std::size_t maxTimeSteps,
                     std::vector<std::size_t> layerSizes)
    : dataType(dataType), batchSize(batchSize), maxTimeSteps(maxTimeSteps),
      timeSteps(maxTimeSteps), layerSizes(std::move(layerSizes)) {}

RnnParams::RnnParams(poplar::Type dataType, std::size_t batchSize,
                     std::size_t maxTimeSteps, const poplar::Tensor &timeSteps,
                     std::vector<std::size_t> layerSizes)
    : dataType(dataType), batchSize(batchSize), maxTimeSteps(maxTimeSteps),
      timeSteps(maxTimeSteps), varTimeSteps(timeSteps),
      layerSizes(std::move(layerSizes)) {}

} // namespace rnn

namespace internal {

std::string gateFunctionName(const char *layer, NonLinearityType type) {
  switch (type) {
  case NonLinearityType::SIGMOID:
    return "SIGMOID";
  case NonLinearityType::HARD_SIGMOID:
    return "HARD_SIGMOID";
  case NonLinearityType::RELU:
    return "RELU";
  case NonLinearityType::TANH:
    return "TANH";
  default:
    throw poplibs_error(
        fmt::format("[popnn::{}] a cell's non-linearity must be one of "
                    "SIGMOID, HARD_SIGMOID, RELU and TANH",
                    layer));
  }
}

kernels::Attributes::Ints gatePositions(const char *layer,
                                        const std::vector<unsigned> &order,
                                        std::size_t units) {
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = sorted.size() == units;
  for (std::size_t i = 0; i < units && isPermutation; ++i) {
    isPermutation = sorted[i] == i;
  }
  requireUser<poplibs_error>(
      isPermutation,
      "[popnn::{}] the cell order {{{}}} must name each of the {} units once",
      layer, fmt::join(order, ", "), units);
  kernels::Attributes::Ints positions(units);
  for (std::size_t i = 0; i < units; ++i) {
    positions[order[i]] = static_cast<std::int64_t>(i);
  }
  return positions;
}

void checkSizes(const char *layer, const rnn::RnnParams &params) {
  requireUser<poplibs_error>(params.layerSizes.size() == 2,
                             "[popnn::{}] {} layer sizes were given; two are "
                             "needed, of the input and of the output",
                             layer, params.layerSizes.size());
}

void requireShape(const char *layer, const char *name,
                  const poplar::Tensor &tensor,
                  const std::vector<std::size_t> &shape) {
  requireUser<poplibs_error>(
      tensor.shape() == shape,
      "[popnn::{}] the {} has shape {}; the parameters say {{{}}}", layer, name,
      tensor.shapeToString(), fmt::join(shape, ","));
}

std::vector<std::size_t> stateShape(const rnn::RnnParams &params) {
  return {params.batchSize, params.getOutputSize()};
}

std::vector<std::size_t> sequenceShape(const rnn::RnnParams &params,
                                       std::size_t size) {
  return {params.maxTimeSteps, params.batchSize, size};
}

void requireOperands(const char *layer, const rnn::RnnParams &params,
                     std::size_t units, const poplar::Tensor &in,
                     const poplar::Tensor &inputWeights,
                     const poplar::Tensor &outputWeights) {
  const auto inputs = params.getInputSize(), outputs = params.getOutputSize();
  requireShape(layer, "input", in, sequenceShape(params, inputs));
  requireShape(layer, "input weights", inputWeights, {units, inputs, outputs});
  requireShape(layer, "output weights", outputWeights,
               {units, outputs, outputs});
}

std::uint64_t productFlops(const rnn::RnnParams &params, std::size_t units,
                           bool withInput) {
  const std::uint64_t in = withInput ? params.getInputSize() : 0;
  return 2 * stateElements(params) * units * (in + params.getOutputSize());
}

std::uint64_t stateElements(const rnn::RnnParams &params) {
  return std::uint64_t{params.maxTimeSteps} * params.batchSize *
         params.getOutputSize();
}

std::pair<poplar::Tensor, poplar::Tensor>
addWeights(poplar::Graph &graph, const rnn::RnnParams &params,
           std::size_t units, const poplar::DebugContext &debugContext) {
  const auto out = params.getOutputSize();
  return {addOperand(graph, params.dataType,
                     {units, params.getInputSize(), out},
                     {debugContext, "inputWeights"}),
          addOperand(graph, params.dataType, {units, out, out},
                     {debugContext, "outputWeights"})};
}

std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>>
layerProducts(const rnn::RnnParams &params, std::size_t units,
              const poplar::OptionFlags &options) {
  poplar::OptionFlags own;
  bool preCalculates = false;
  bool isInference = false;
  for (const auto &[name, value] : options) {
    if (name == "partialsType" || name == "availableMemoryProportion") {
      own.set(name, value);
    }
    preCalculates =
        preCalculates || (name == "preCalcWeights" && value == "true");
    isInference = isInference || (name == "inferenceOnly" && value == "true");
  }
  const auto in = params.getInputSize(), out = params.getOutputSize(),
             rows = params.maxTimeSteps * params.batchSize, gates = units * out;
  std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>> products;
  const auto add = [&](std::size_t m, std::size_t k, std::size_t n) {
    products.push_back(
        {{params.dataType, params.dataType, {m, k}, {k, n}}, own});
  };
  if (preCalculates) {
    add(rows, in, gates);
    add(params.batchSize, out, gates);
  } else {
    add(params.batchSize, in + out, gates);
  }
  if (!isInference) {
    add(params.batchSize, gates, out); // back through a step
    add(rows, gates, in);
    add(in, rows, gates); // the weights' gradients
    add(out, rows, gates);
  }
  return products;
}

poplar::Tensor addOperand(poplar::Graph &graph, const poplar::Type &type,
                          const std::vector<std::size_t> &shape,
                          const poplar::DebugContext &debugContext) {
  const auto tensor = graph.addVariable(type, shape, debugContext);
  poputil::mapTensorLinearly(graph, tensor);
  return tensor;
}

} // namespace internal
} // namespace popnn
