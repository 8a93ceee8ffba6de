#include <popnn/Loss.hpp>

#include <popnn/internal/Kinds.hpp>

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/TopK.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <numeric>

namespace popnn {

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
      {best, expected.reinterpret(poplar::UNSIGNED_INT)}, prog,
      {debugContext, "Hits"});
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
  requireUser<poplibs_error>(
      loss.elementType() == outputs.elementType() &&
          deltas.elementType() == outputs.elementType(),
      "calcLoss: type mismatch between model outputs of {}, losses of {} and "
      "deltas of {}",
      std::string(outputs.elementType().toString()),
      std::string(loss.elementType().toString()),
      std::string(deltas.elementType().toString()));
  Sequence prog(debugContext);
  std::vector<Tensor> operands{outputs, expected};
  if (deltasScale.valid()) {
    operands.push_back(deltasScale);
    operands.push_back(modelOutputScaling);
  }
  operands.push_back(loss);
  operands.push_back(deltas);
  internal::labelLoss(
      graph,
      {{"loss", std::string(type == CROSS_ENTROPY_LOSS ? "CROSS_ENTROPY"
                                                       : "SUM_SQUARED")},
       {"epsilon",
        outputs.elementType() == poplar::HALF ? epsilonHalf : epsilonFloat},
       {"hasScales", std::int64_t{deltasScale.valid()}}},
      operands, prog, {debugContext, "Loss"}, {});
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

Tensor topK(Graph &graph, const Tensor &input, Tensor &indices, unsigned K,
            bool sort, Sequence &prog, const DebugContext &debugContext) {
  requireUser<poplibs_error>(
      input.rank() == 2,
      "[popnn::topK] the input has rank {}; it must be a matrix", input.rank());
  requireUser<poplibs_error>(
      K >= 1 && K <= input.dim(1),
      "[popnn::topK] K is {}; it must be from 1 to the {} elements of a row", K,
      input.dim(1));
  const popops::TopKParams params(
      K, true, sort ? popops::SortOrder::DESCENDING : popops::SortOrder::NONE);
  const auto [values, positions] = popops::topKWithPermutation(
      graph, prog, input, params, {debugContext, "topK"});
  indices = positions;
  return values;
}

} // namespace popnn
