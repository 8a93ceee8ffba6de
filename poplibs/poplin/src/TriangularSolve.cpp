// Triangular systems and Cholesky factors.
#include <poplin/TriangularSolve.hpp>

#include "TriangularPlan.hpp"

#include <poplin/Cholesky.hpp>

#include <popops/internal/ElementwisePlan.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <numeric>

namespace poplin {

using internal::parseTriangularOptions;
using internal::TriangularProblem;
using kernels::Attributes;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

using Shape = std::vector<std::size_t>;
using Products = std::vector<std::pair<MatMulParams, OptionFlags>>;

void checkSquares(const char *function, const Shape &shape) {
  const auto rank = shape.size();
  requireUser<poplibs_error>(
      rank >= 2 && shape[rank - 1] == shape[rank - 2],
      "[poplin::{}] the matrix has shape {}; its last two dimensions must be "
      "equal",
      function, support::toString(support::Shape(shape.begin(), shape.end())));
}

TriangularProblem problemOf(const Shape &a) {
  TriangularProblem problem;
  problem.groups = std::accumulate(a.begin(), a.end() - 2, std::size_t{1},
                                   std::multiplies<>());
  problem.side = a.back();
  return problem;
}

TriangularProblem problemOf(const Shape &a, const Shape &b, bool leftSide) {
  auto problem = problemOf(a);
  problem.columns = b[b.size() - (leftSide ? 1 : 2)];
  return problem;
}

Tensor create(const char *function, Graph &graph, const Type &type,
              const Shape &aShape, const Shape &shape,
              const DebugContext &debugContext, const OptionFlags &options) {
  checkSquares(function, aShape);
  parseTriangularOptions(options); // rejects unknown ones
  const auto tensor = graph.addVariable(type, shape, debugContext);
  poputil::mapTensorLinearly(graph, tensor);
  return tensor;
}

Attributes::Value flag(bool value) {
  return std::int64_t{value};
}

} // namespace

Tensor createTriangularSolveInputLHS(Graph &graph, const Type &inputType,
                                     const Type &, const Shape &aShape,
                                     const Shape &, bool,
                                     const DebugContext &debugContext,
                                     const OptionFlags &options,
                                     PlanningCache *) {
  return create("createTriangularSolveInputLHS", graph, inputType, aShape,
                aShape, debugContext, options);
}

Tensor createTriangularSolveInputLHS(Graph &graph, const Type &dataType,
                                     const Shape &aShape, const Shape &bShape,
                                     bool leftSide,
                                     const DebugContext &debugContext,
                                     const OptionFlags &options,
                                     PlanningCache *cache) {
  return createTriangularSolveInputLHS(graph, dataType, dataType, aShape,
                                       bShape, leftSide, debugContext, options,
                                       cache);
}

Tensor createTriangularSolveInputRHS(Graph &graph, const Type &inputType,
                                     const Type &, const Shape &aShape,
                                     const Shape &bShape, bool,
                                     const DebugContext &debugContext,
                                     const OptionFlags &options,
                                     PlanningCache *) {
  return create("createTriangularSolveInputRHS", graph, inputType, aShape,
                bShape, debugContext, options);
}

Tensor createTriangularSolveInputRHS(Graph &graph, const Type &dataType,
                                     const Shape &aShape, const Shape &bShape,
                                     bool leftSide,
                                     const DebugContext &debugContext,
                                     const OptionFlags &options,
                                     PlanningCache *cache) {
  return createTriangularSolveInputRHS(graph, dataType, dataType, aShape,
                                       bShape, leftSide, debugContext, options,
                                       cache);
}

Tensor triangularMask(Graph &graph, const Tensor &a, bool lower,
                      bool unitDiagonal, Sequence &prog,
                      const DebugContext &debugContext) {
  poputil::internal::requireCodelets(graph, "poplin", "poplin::TriangularMask");
  const Attributes attributes{{"lower", flag(lower)},
                              {"unitDiagonal", flag(unitDiagonal)}};
  const auto outputs = poputil::internal::addOutputs(
      graph, "triangularMask", attributes, {a},
      poputil::internal::tilesOf(graph, a), debugContext);
  // One pass over the elements, priced as a multiplication by the mask.
  const auto product = kernels::Expression::apply(
      kernels::ElementwiseOp::MULTIPLY,
      {kernels::Expression::input(0), kernels::Expression::input(1)});
  auto pass = popops::internal::planPass(
      graph, "TriangularMask", {a, a}, outputs.front(),
      popops::internal::chooseVertex(product, {a, a}, outputs.front()));
  poputil::internal::emit(graph, prog,
                          {"triangularMask", attributes, {a}, outputs, {pass}},
                          debugContext);
  return outputs.front();
}

Tensor triangularSolve(Graph &graph, const Tensor &a, const Tensor &b,
                       bool leftSide, bool lower, bool unitDiagonal,
                       Sequence &prog, const DebugContext &debugContext,
                       const OptionFlags &options, PlanningCache *) {
  poputil::internal::requireCodelets(graph, "poplin",
                                     "poplin::TriangularSolve");
  const Attributes attributes{{"left", flag(leftSide)},
                              {"lower", flag(lower)},
                              {"unitDiagonal", flag(unitDiagonal)}};
  const auto parsed = parseTriangularOptions(options);
  const auto tiles = poputil::internal::tilesOf(graph, a);
  const auto outputs = poputil::internal::addOutputs(
      graph, "triangularSolve", attributes, {a, b}, tiles, debugContext);
  if (b.numElements() > 0) {
    auto phases = internal::triangularPhases(
        graph, "TriangularSolve", "poplin::TriangularSolve",
        problemOf(a.shape(), b.shape(), leftSide), parsed, tiles, a, b);
    poputil::internal::emit(
        graph, prog,
        {"triangularSolve", attributes, {a, b}, outputs, std::move(phases)},
        debugContext);
  }
  return outputs.front();
}

Products getTriangularSolveMatMulPrePlanParameters(
    const Type &inputType, const Type &, const Shape &aShape,
    const Shape &bShape, bool leftSide, bool, const OptionFlags &options) {
  checkSquares("getTriangularSolveMatMulPrePlanParameters", aShape);
  return internal::triangularProducts(problemOf(aShape, bShape, leftSide),
                                      inputType,
                                      parseTriangularOptions(options));
}

Products getCholeskyMatMulPrePlanParameters(const Type &type,
                                            const Shape &shape, bool,
                                            OptionFlags options) {
  checkSquares("getCholeskyMatMulPrePlanParameters", shape);
  return internal::triangularProducts(problemOf(shape), type,
                                      parseTriangularOptions(options));
}

Tensor createCholeskyInput(Graph &graph, const Type &type, const Shape &shape,
                           bool, const DebugContext &debugContext,
                           const OptionFlags &options, PlanningCache *) {
  return create("createCholeskyInput", graph, type, shape, shape, debugContext,
                options);
}

Tensor cholesky(Graph &graph, const Tensor &a, bool lower, Sequence &prog,
                const DebugContext &debugContext, OptionFlags options,
                PlanningCache *) {
  poputil::internal::requireCodelets(graph, "poplin", "poplin::Cholesky");
  const Attributes attributes{{"lower", flag(lower)}};
  const auto parsed = parseTriangularOptions(options);
  const auto tiles = poputil::internal::tilesOf(graph, a);
  const auto outputs = poputil::internal::addOutputs(
      graph, "cholesky", attributes, {a}, tiles, debugContext);
  if (a.numElements() > 0) {
    auto phases =
        internal::triangularPhases(graph, "Cholesky", "poplin::Cholesky",
                                   problemOf(a.shape()), parsed, tiles, a, a);
    poputil::internal::emit(
        graph, prog, {"cholesky", attributes, {a}, outputs, std::move(phases)},
        debugContext);
  }
  return outputs.front();
}

void choleskyInPlace(Graph &graph, const Tensor &a, bool lower, Sequence &prog,
                     const DebugContext &debugContext, OptionFlags options,
                     PlanningCache *cache) {
  const auto factor =
      cholesky(graph, a, lower, prog, debugContext, std::move(options), cache);
  prog.add(poplar::program::Copy(factor, a, false, debugContext));
}

} // namespace poplin
