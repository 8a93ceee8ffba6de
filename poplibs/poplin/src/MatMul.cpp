#include <poplin/MatMul.hpp>

#include <poplin/codelets.hpp>
#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/Kinds.hpp>

#include <poplar/internal/Access.hpp>
#include <popops/Cast.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

#include <ostream>

namespace poplin {

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

void checkShapes(const Shape &a, const Shape &b) {
  requireUser<poplibs_error>(
      a.size() == 2 && b.size() == 2,
      "Operand to matrix multiplication is not a matrix.");
  requireUser<poplibs_error>(
      a[1] == b[0],
      "Second dimension of first operand to matrix multiplication does not "
      "match first dimension of second operand.");
}

void checkGroupedShapes(const Shape &a, const Shape &b) {
  requireUser<poplibs_error>(
      a.size() == 3 && b.size() == 3,
      "Operand to matrix multiplication is not a grouped matrix.");
  requireUser<poplibs_error>(
      a[0] == b[0],
      "First dimension of first operand to matrix multiplication does not "
      "match first dimension of second operand.");
  requireUser<poplibs_error>(
      a[2] == b[1],
      "Third dimension of first operand to matrix multiplication does not "
      "match second dimension of second operand.");
}

// The product of checked operands in the type asked for.
Tensor product(Graph &graph, const Tensor &a, const Tensor &b, Sequence &prog,
               const Type &outputType, const DebugContext &debugContext,
               const OptionFlags &options) {
  poputil::internal::requireCodelets(graph, "poplin",
                                     "poplin::ConvPartial1x1Out");
  const kernels::Attributes attributes{{"bias", std::int64_t{0}},
                                       {"activation", std::string()}};
  const auto out =
      internal::matMul(graph, attributes, {a, b}, prog, debugContext, options)
          .front();
  return out.elementType() == outputType
             ? out
             : popops::cast(graph, out, outputType, prog, debugContext);
}

Tensor create(Graph &graph, const Type &type, const Shape &shape,
              const DebugContext &debugContext, const OptionFlags &options) {
  internal::parseMatMulOptions(options); // rejects unknown ones
  const auto tensor = graph.addVariable(type, shape, debugContext);
  poputil::mapTensorLinearly(graph, tensor);
  return tensor;
}

Shape outputShape(Shape a, const Shape &b) {
  a.back() = b.back();
  return a;
}

} // namespace

Tensor matMul(Graph &graph, const Tensor &A, const Tensor &B, Sequence &prog,
              const Type &outputType, const DebugContext &debugContext,
              const OptionFlags &options, PlanningCache *) {
  checkShapes(A.shape(), B.shape());
  return product(graph, A, B, prog, outputType, debugContext, options);
}

Tensor matMul(Graph &graph, const Tensor &A, const Tensor &B, Sequence &prog,
              const DebugContext &debugContext, const OptionFlags &options,
              PlanningCache *cache) {
  return matMul(graph, A, B, prog, A.elementType(), debugContext, options,
                cache);
}

void matMulWithOutput(Graph &graph, const Tensor &A, const Tensor &B,
                      Tensor &out, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *cache) {
  const auto result = matMul(graph, A, B, prog, out.elementType(), debugContext,
                             options, cache);
  prog.add(poplar::program::Copy(result, out, false, debugContext));
}

Tensor matMulGrouped(Graph &graph, const Tensor &A, const Tensor &B,
                     Sequence &prog, const Type &outputType,
                     const DebugContext &debugContext,
                     const OptionFlags &options, PlanningCache *) {
  checkGroupedShapes(A.shape(), B.shape());
  return product(graph, A, B, prog, outputType, debugContext, options);
}

void matMulGroupedWithOutput(Graph &graph, const Tensor &A, const Tensor &B,
                             Tensor &out, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  const auto result = matMulGrouped(graph, A, B, prog, out.elementType(),
                                    debugContext, options, cache);
  prog.add(poplar::program::Copy(result, out, false, debugContext));
}

void matMulAcc(Graph &graph, const Tensor &C, float k, const Tensor &A,
               const Tensor &B, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *cache) {
  const auto result =
      matMul(graph, A, B, prog, C.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, C, result, k, prog, {debugContext, "Acc"});
}

void matMulAcc(Graph &graph, const Tensor &C, const Tensor &k, const Tensor &A,
               const Tensor &B, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *cache) {
  const auto result =
      matMul(graph, A, B, prog, C.elementType(), debugContext, options, cache);
  popops::scaledAddTo(graph, C, result, k, prog, {debugContext, "Acc"});
}

void matMulGroupedAcc(Graph &graph, const Tensor &C, float k, const Tensor &A,
                      const Tensor &B, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *cache) {
  const auto result = matMulGrouped(graph, A, B, prog, C.elementType(),
                                    debugContext, options, cache);
  popops::scaledAddTo(graph, C, result, k, prog, {debugContext, "Acc"});
}

Tensor createMatMulInputLHS(Graph &graph, const Type &inputType, const Type &,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *) {
  checkShapes(aShape, bShape);
  return create(graph, inputType, aShape, debugContext, options);
}

Tensor createMatMulInputLHS(Graph &graph, const Type &dataType,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *cache) {
  return createMatMulInputLHS(graph, dataType, dataType, aShape, bShape,
                              debugContext, options, cache);
}

Tensor createMatMulInputRHS(Graph &graph, const Type &inputType, const Type &,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *) {
  checkShapes(aShape, bShape);
  return create(graph, inputType, bShape, debugContext, options);
}

Tensor createMatMulInputRHS(Graph &graph, const Type &dataType,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *cache) {
  return createMatMulInputRHS(graph, dataType, dataType, aShape, bShape,
                              debugContext, options, cache);
}

Tensor createMatMulOutput(Graph &graph, const Type &, const Type &outputType,
                          const Shape &aShape, const Shape &bShape,
                          const DebugContext &debugContext,
                          const OptionFlags &options, PlanningCache *) {
  checkShapes(aShape, bShape);
  return create(graph, outputType, outputShape(aShape, bShape), debugContext,
                options);
}

Tensor createMatMulGroupedInputLHS(Graph &graph, const Type &inputType,
                                   const Type &, const Shape &aShape,
                                   const Shape &bShape,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options,
                                   PlanningCache *) {
  checkGroupedShapes(aShape, bShape);
  return create(graph, inputType, aShape, debugContext, options);
}

Tensor createMatMulGroupedInputRHS(Graph &graph, const Type &inputType,
                                   const Type &, const Shape &aShape,
                                   const Shape &bShape,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options,
                                   PlanningCache *) {
  checkGroupedShapes(aShape, bShape);
  return create(graph, inputType, bShape, debugContext, options);
}

Tensor transposeGroupedMatrix(const Tensor &A) {
  requireUser<poplibs_error>(
      A.rank() == 3, "Operand to matrix multiplication is not a grouped "
                     "matrix.");
  return A.dimShuffle({0, 2, 1});
}

void matMulReportPlan(std::ostream &out, const Graph &graph,
                      const Type &inputType, const Type &outputType,
                      const Shape &aShape, const Shape &bShape,
                      const OptionFlags &flags, PlanningCache *) {
  checkShapes(aShape, bShape);
  const auto options = internal::parseMatMulOptions(flags);
  internal::ConvProblem problem;
  problem.inputType = poplar::internal::toDataType(inputType);
  problem.outputType = poplar::internal::toDataType(outputType);
  problem.partialsType = internal::partialsType(options, problem.outputType);
  problem.inField = problem.outField = {1, aShape[0]};
  problem.inChans = aShape[1];
  problem.outChans = bShape[1];
  const auto plan = internal::planMatMul(
      problem, internal::planLimits(
                   graph, {0, graph.getTarget().getTilesPerIPU()}, options));
  const auto &cost = plan.cost;
  out << "  Splits: rows=" << plan.split.columns
      << " outChans=" << plan.split.outChans
      << " inChans=" << plan.split.inChans
      << " serialOutChans=" << plan.split.serialOutChans
      << (plan.swapsOperands ? " (operands swapped)" : "") << '\n'
      << "  Tiles: " << plan.split.tiles() << '\n'
      << "  Cycles: " << plan.totalCycles() << " (exchange "
      << cost.exchangeInput + cost.exchangeWeights + cost.exchangePartials
      << ", compute " << cost.compute << ", reduce " << cost.reduce << ")\n"
      << "  Temporary bytes per tile: " << cost.tempBytes << '\n';
}

void addCodelets(Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "poplin");
  // Products cast and accumulate with the vertices of popops.
  popops::addCodelets(graph);
}

} // namespace poplin
