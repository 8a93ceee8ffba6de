#include <popnn/Loss.hpp>

#include <kernels/cost/NeuralNet.hpp>
#include <poplar/internal/Access.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/internal/ElementwisePlan.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <array>
#include <limits>
#include <numeric>

namespace popnn {

using kernels::Expression;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Program;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

// What keeps the logarithm finite (EPS_LOG_N_FLOAT and EPS_LOG_N_HALF).
constexpr double epsilonFloat = 1.17549435e-38;
constexpr double epsilonHalf = 5.9605e-8;
// A label that says to leave its sample out.
constexpr std::uint32_t maskedLabel = std::numeric_limits<std::uint32_t>::max();

struct Call {
  Tensor outputs;
  Tensor labels;  // UNSIGNED_INT, [batch, 1]
  Tensor classes; // 0, 1, ... as [classes]
  Tensor deltasScale;
  Tensor outputScaling;
  LossType type;
};

Tensor asLabels(const Tensor &expected) {
  const auto labels = expected.elementType() == poplar::INT
                          ? expected.reinterpret(poplar::UNSIGNED_INT)
                          : expected;
  return labels.expand({1});
}

Tensor classIndices(Graph &graph, std::size_t classes,
                    const DebugContext &debugContext) {
  std::vector<unsigned> values(classes);
  std::iota(values.begin(), values.end(), 0u);
  const auto indices =
      graph.addConstant(poplar::UNSIGNED_INT, {classes}, values.data(),
                        {debugContext, "classes"});
  poputil::mapTensorLinearly(graph, indices);
  return indices;
}

void checkLabels(const Tensor &outputs, const Tensor &expected) {
  requireUser<poplibs_error>(
      outputs.rank() == 2,
      "calcLoss: model outputs have rank {}, a mismatch with [batch, classes]",
      outputs.rank());
  requireUser<poplibs_error>(
      expected.rank() == 1 && expected.dim(0) == outputs.dim(0),
      "calcLoss: batch size mismatch between model outputs of shape {} and "
      "labels of shape {}",
      outputs.shapeToString(), expected.shapeToString());
  requireUser<poplibs_error>(
      expected.elementType() == poplar::INT ||
          expected.elementType() == poplar::UNSIGNED_INT,
      "calcLoss: label type mismatch: {} was given, INT and UNSIGNED_INT are "
      "allowed",
      std::string(expected.elementType().toString()));
}

// The vertices of a loss, priced per element of the outputs.
popops::internal::VertexForShare lossVertex(LossType type,
                                            support::DataType dataType) {
  return [=](const kernels::cost::TileSpec &tile, std::uint64_t n) {
    const auto mine = perWorker(tile, n);
    const bool isCrossEntropy = type == CROSS_ENTROPY_LOSS;
    return poputil::internal::workerVertices(
        poputil::internal::vertexName(isCrossEntropy
                                          ? "popnn::LossCrossEntropyTransform"
                                          : "popnn::LossSumSquaredTransform",
                                      {dataType}),
        tile.workers,
        isCrossEntropy ? kernels::cost::lossCrossEntropy(dataType, mine)
                       : kernels::cost::lossSumSquared(dataType, mine),
        4, 2 * mine);
  };
}

void emitLossPass(Graph &graph, const Call &call, const std::string &text,
                  const Tensor &output, Sequence &prog,
                  const DebugContext &debugContext) {
  // p: outputs; l: labels; c: classes; d, s: the scales.
  constexpr std::array<std::string_view, 5> names{"p", "l", "c", "d", "s"};
  std::vector<Tensor> inputs{call.outputs, call.labels, call.classes};
  if (call.deltasScale.valid()) {
    inputs.push_back(call.deltasScale.reshape({}));
    inputs.push_back(call.outputScaling.reshape({}));
  }
  auto operation = popops::internal::planExpression(
      graph, Expression::parse(text, names), inputs, output,
      lossVertex(call.type, poplar::internal::tensorView(output).type));
  poputil::internal::emit(graph, prog, std::move(operation), debugContext);
}

std::string isMasked() {
  return fmt::format("l=={}", maskedLabel);
}

// The gradient, and the loss of each element before it is summed over classes.
void emitLoss(Graph &graph, const Call &call, const Tensor &loss,
              const Tensor &deltas, Sequence &prog,
              const DebugContext &debugContext) {
  const bool isScaled = call.deltasScale.valid();
  const std::string oneHot = isScaled ? "select(s,0,l==c)" : "select(1,0,l==c)";
  auto gradient = "p-" + oneHot;
  if (isScaled) {
    gradient = "(" + gradient + ")*d/s";
  }
  emitLossPass(graph, call,
               fmt::format("select(0,{},{})", gradient, isMasked()), deltas,
               prog, {debugContext, "Deltas"});
  const bool isHalf = call.outputs.elementType() == poplar::HALF;
  const auto probability = isScaled ? "p/s" : "p";
  const auto perClass =
      call.type == CROSS_ENTROPY_LOSS
          ? fmt::format("select(-log({}+{}),0,l==c)", probability,
                        isHalf ? epsilonHalf : epsilonFloat)
          : fmt::format("select(0,0.5*({0}-{1})*({0}-{1}),{2})", probability,
                        "select(1,0,l==c)", isMasked());
  const auto losses = popops::internal::addOutput(
      graph, {call.outputs}, poputil::internal::tensorType(call.outputs),
      {debugContext, "losses"});
  emitLossPass(graph, call, perClass, losses, prog,
               {debugContext, "LossPartial"});
  popops::reduceWithOutput(graph, losses, loss, {1}, popops::Operation::ADD,
                           prog, {debugContext, "LossReduce"});
}

std::pair<Tensor, Tensor> extremeAndIndex(Graph &graph, const Tensor &input,
                                          popops::Operation operation,
                                          Sequence &prog,
                                          const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      input.rank() == 2,
      "[popnn::argMax] the input has rank {}; it must be a matrix",
      input.rank());
  using namespace popops::expr;
  const auto extreme = popops::reduce(graph, input, {1}, operation, prog,
                                      {debugContext, "Extreme"});
  // The smallest index among the equals, by MIN over those that match.
  const auto classes = classIndices(graph, input.dim(1), debugContext);
  const auto candidates = popops::map(
      graph,
      Select(_3, Const(static_cast<unsigned>(input.dim(1))), Equal(_1, _2)),
      {input, extreme.expand({1}), classes}, prog,
      {debugContext, "Candidates"});
  const auto index =
      popops::reduce(graph, candidates, {1}, popops::Operation::MIN, prog,
                     {debugContext, "Index"});
  return {extreme, index};
}

void emitAccuracy(Graph &graph, const Tensor &outputs, const Tensor &expected,
                  const Tensor &numCorrect, Sequence &prog,
                  const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      numCorrect.numElements() == 1,
      "calcAccuracy: numCorrect has {} elements, a mismatch with a scalar",
      numCorrect.numElements());
  const auto best = argMax(graph, outputs, prog, debugContext);
  using namespace popops::expr;
  const auto hits = popops::map(
      graph, popops::expr::Cast(Equal(_1, _2), numCorrect.elementType()),
      {best, asLabels(expected).squeeze({1})}, prog, {debugContext, "Hits"});
  popops::reduceWithOutput(graph, hits, numCorrect.reshape({}), {0},
                           {popops::Operation::ADD, true}, prog,
                           {debugContext, "Accuracy"});
}

Program lossProgram(Graph &graph, const Tensor &outputs, const Tensor &expected,
                    const Tensor &loss, const Tensor &deltas,
                    const Tensor &deltasScale, const Tensor &modelOutputScaling,
                    const Tensor &numCorrect, LossType type,
                    const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "popnn",
                                     "popnn::LossCrossEntropyTransform");
  checkLabels(outputs, expected);
  requireUser<poplibs_error>(
      loss.rank() == 1 && loss.dim(0) == outputs.dim(0),
      "calcLoss: batch size mismatch between model outputs of shape {} and "
      "losses of shape {}",
      outputs.shapeToString(), loss.shapeToString());
  requireUser<poplibs_error>(
      deltas.shape() == outputs.shape(),
      "calcLoss: shape mismatch between model outputs of shape {} and deltas "
      "of shape {}",
      outputs.shapeToString(), deltas.shapeToString());
  Sequence prog(debugContext);
  const Call call{outputs,
                  asLabels(expected),
                  classIndices(graph, outputs.dim(1), debugContext),
                  deltasScale,
                  modelOutputScaling,
                  type};
  emitLoss(graph, call, loss, deltas, prog, debugContext);
  if (numCorrect.valid()) {
    emitAccuracy(graph, outputs, expected, numCorrect, prog, debugContext);
  }
  return prog;
}

} // namespace

Program calcLoss(Graph &graph, const Tensor &modelOutputs,
                 const Tensor &expected, const Tensor &loss,
                 const Tensor &deltas, LossType lossType,
                 const DebugContext &debugContext) {
  return lossProgram(graph, modelOutputs, expected, loss, deltas, {}, {}, {},
                     lossType, debugContext);
}

Program calcLoss(Graph &graph, const Tensor &modelOutputs,
                 const Tensor &expected, const Tensor &loss,
                 const Tensor &deltas, const Tensor &deltasScale,
                 const Tensor &modelOutputScaling, LossType lossType,
                 const DebugContext &debugContext) {
  return lossProgram(graph, modelOutputs, expected, loss, deltas, deltasScale,
                     modelOutputScaling, {}, lossType, debugContext);
}

Program calcLoss(Graph &graph, const Tensor &modelOutputs,
                 const Tensor &expected, const Tensor &loss,
                 const Tensor &deltas, const Tensor &numCorrect,
                 LossType lossType, const DebugContext &debugContext) {
  return lossProgram(graph, modelOutputs, expected, loss, deltas, {}, {},
                     numCorrect, lossType, debugContext);
}

Program calcLoss(Graph &graph, const Tensor &modelOutputs,
                 const Tensor &expected, const Tensor &loss,
                 const Tensor &deltas, const Tensor &deltasScale,
                 const Tensor &modelOutputScaling, const Tensor &numCorrect,
                 LossType lossType, const DebugContext &debugContext) {
  return lossProgram(graph, modelOutputs, expected, loss, deltas, deltasScale,
                     modelOutputScaling, numCorrect, lossType, debugContext);
}

Program calcAccuracy(Graph &graph, const Tensor &modelOutputs,
                     const Tensor &expected, const Tensor &numCorrect,
                     const DebugContext &debugContext) {
  checkLabels(modelOutputs, expected);
  Sequence prog(debugContext);
  emitAccuracy(graph, modelOutputs, expected, numCorrect, prog, debugContext);
  return prog;
}

Tensor argMax(Graph &graph, const Tensor &input, Sequence &prog,
              const DebugContext &debugContext) {
  return maxAndArgMax(graph, input, prog, debugContext).second;
}

Tensor argMin(Graph &graph, const Tensor &input, Sequence &prog,
              const DebugContext &debugContext) {
  return minAndArgMin(graph, input, prog, debugContext).second;
}

std::pair<Tensor, Tensor> maxAndArgMax(Graph &graph, const Tensor &input,
                                       Sequence &prog,
                                       const DebugContext &debugContext) {
  return extremeAndIndex(graph, input, popops::Operation::MAX, prog,
                         {debugContext, "argMax"});
}

std::pair<Tensor, Tensor> minAndArgMin(Graph &graph, const Tensor &input,
                                       Sequence &prog,
                                       const DebugContext &debugContext) {
  return extremeAndIndex(graph, input, popops::Operation::MIN, prog,
                         {debugContext, "argMin"});
}

} // namespace popnn
