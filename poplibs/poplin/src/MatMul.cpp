#include <poplin/MatMul.hpp>

#include "ConvOperands.hpp"
#include "MatMulShapes.hpp"

#include <poplin/codelets.hpp>
#include <poplin/internal/ConvPhases.hpp>
#include <poplin/internal/Kinds.hpp>

#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>
#include <poputil/internal/Emit.hpp>
#include <support/Error.hpp>

namespace poplin {

using internal::checkMatMulShapes;
using internal::MatMulForm;
using internal::matMulOutputShape;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Copy;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

using Shape = std::vector<std::size_t>;

Tensor product(MatMulForm form, Graph &graph, const Tensor &a, const Tensor &b,
               Sequence &prog, const Type &outputType,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *cache) {
  checkMatMulShapes(form, a.shape(), b.shape());
  internal::usePlanningCache(graph, cache);
  poputil::internal::requireCodelets(graph, "poplin",
                                     "poplin::ConvPartial1x1Out");
  kernels::Attributes attributes{{"bias", std::int64_t{0}},
                                 {"activation", std::string()}};
  internal::setOutputType(attributes, a.elementType(), outputType);
  return internal::matMul(graph, attributes, {a, b}, prog, debugContext,
                          options)
      .front();
}

void checkResult(const char *name, const Tensor &result, const Tensor &a,
                 const Tensor &b) {
  const auto shape = matMulOutputShape(a.shape(), b.shape());
  requireUser<poplibs_error>(
      result.shape() == shape,
      "[poplin::matMul] '{}' has shape {}; the product has {}", name,
      result.shapeToString(),
      support::toString(support::Shape(shape.begin(), shape.end())));
}

void productInto(MatMulForm form, Graph &graph, const Tensor &a,
                 const Tensor &b, const Tensor &out, Sequence &prog,
                 const DebugContext &debugContext, const OptionFlags &options,
                 PlanningCache *cache) {
  checkMatMulShapes(form, a.shape(), b.shape());
  checkResult("out", out, a, b);
  const auto result = product(form, graph, a, b, prog, out.elementType(),
                              debugContext, options, cache);
  prog.add(Copy(result, out, false, debugContext));
}

// c += k * a * b for a number or a tensor k.
template <typename Scale>
void accumulate(MatMulForm form, Graph &graph, const Tensor &c, const Scale &k,
                const Tensor &a, const Tensor &b, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options,
                PlanningCache *cache) {
  checkMatMulShapes(form, a.shape(), b.shape());
  checkResult("C", c, a, b);
  const auto result = product(form, graph, a, b, prog, c.elementType(),
                              debugContext, options, cache);
  popops::scaledAddTo(graph, c, result, k, prog, {debugContext, "Acc"});
}

enum class Operand { Left, Right, Output };

struct Types {
  Type input;
  Type output;
};

Tensor create(MatMulForm form, Operand operand, Graph &graph,
              const Types &types, const Shape &aShape, const Shape &bShape,
              const DebugContext &debugContext, const OptionFlags &flags,
              PlanningCache *cache) {
  checkMatMulShapes(form, aShape, bShape);
  const auto options = internal::parseMatMulOptions(flags);
  const auto shape = operand == Operand::Left ? aShape
                     : operand == Operand::Right
                         ? bShape
                         : matMulOutputShape(aShape, bShape);
  const auto tensor =
      graph.addVariable(operand == Operand::Output ? types.output : types.input,
                        shape, debugContext);
  internal::usePlanningCache(graph, cache);
  internal::mapOperand(graph, tensor,
                       internal::matMulProblem(types.input, types.output,
                                               aShape, bShape, options),
                       options, true);
  return tensor;
}

Tensor preArrange(MatMulForm form, Graph &graph, const Shape &aShape,
                  const Tensor &b, Sequence &prog, const Type &outputType,
                  const DebugContext &debugContext, const OptionFlags &options,
                  PlanningCache *cache) {
  const auto result =
      create(form, Operand::Right, graph, {b.elementType(), outputType}, aShape,
             b.shape(), {debugContext, "preArranged"}, options, cache);
  prog.add(Copy(b, result, false, debugContext));
  return result;
}

} // namespace

namespace internal {

void checkMatMulShapes(MatMulForm form, const Shape &a, const Shape &b) {
  if (form == MatMulForm::Single) {
    requireUser<poplibs_error>(
        a.size() == 2 && b.size() == 2,
        "Operand to matrix multiplication is not a matrix.");
    requireUser<poplibs_error>(
        a[1] == b[0],
        "Second dimension of first operand to matrix multiplication does not "
        "match first dimension of second operand.");
    return;
  }
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

Shape matMulOutputShape(Shape a, const Shape &b) {
  a.back() = b.back();
  return a;
}

} // namespace internal

Tensor matMul(Graph &graph, const Tensor &A, const Tensor &B, Sequence &prog,
              const Type &outputType, const DebugContext &debugContext,
              const OptionFlags &options, PlanningCache *cache) {
  return product(MatMulForm::Single, graph, A, B, prog, outputType,
                 debugContext, options, cache);
}

Tensor matMul(Graph &graph, const Tensor &A, const Tensor &B, Sequence &prog,
              const DebugContext &debugContext, const OptionFlags &options,
              PlanningCache *cache) {
  return product(MatMulForm::Single, graph, A, B, prog, A.elementType(),
                 debugContext, options, cache);
}

Tensor matMulGrouped(Graph &graph, const Tensor &A, const Tensor &B,
                     Sequence &prog, const Type &outputType,
                     const DebugContext &debugContext,
                     const OptionFlags &options, PlanningCache *cache) {
  return product(MatMulForm::Grouped, graph, A, B, prog, outputType,
                 debugContext, options, cache);
}

void matMulWithOutput(Graph &graph, const Tensor &A, const Tensor &B,
                      Tensor &out, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *cache) {
  productInto(MatMulForm::Single, graph, A, B, out, prog, debugContext, options,
              cache);
}

void matMulGroupedWithOutput(Graph &graph, const Tensor &A, const Tensor &B,
                             Tensor &out, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *cache) {
  productInto(MatMulForm::Grouped, graph, A, B, out, prog, debugContext,
              options, cache);
}

void matMulAcc(Graph &graph, const Tensor &C, float k, const Tensor &A,
               const Tensor &B, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *cache) {
  accumulate(MatMulForm::Single, graph, C, k, A, B, prog, debugContext, options,
             cache);
}

void matMulAcc(Graph &graph, const Tensor &C, const Tensor &k, const Tensor &A,
               const Tensor &B, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *cache) {
  accumulate(MatMulForm::Single, graph, C, k, A, B, prog, debugContext, options,
             cache);
}

void matMulGroupedAcc(Graph &graph, const Tensor &C, float k, const Tensor &A,
                      const Tensor &B, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *cache) {
  accumulate(MatMulForm::Grouped, graph, C, k, A, B, prog, debugContext,
             options, cache);
}

void matMulGroupedAcc(Graph &graph, const Tensor &C, const Tensor &k,
                      const Tensor &A, const Tensor &B, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *cache) {
  accumulate(MatMulForm::Grouped, graph, C, k, A, B, prog, debugContext,
             options, cache);
}

Tensor createMatMulInputLHS(Graph &graph, const Type &inputType,
                            const Type &outputType, const Shape &aShape,
                            const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *cache) {
  return create(MatMulForm::Single, Operand::Left, graph,
                {inputType, outputType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor createMatMulInputLHS(Graph &graph, const Type &dataType,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *cache) {
  return create(MatMulForm::Single, Operand::Left, graph, {dataType, dataType},
                aShape, bShape, debugContext, options, cache);
}

Tensor createMatMulGroupedInputLHS(Graph &graph, const Type &inputType,
                                   const Type &outputType, const Shape &aShape,
                                   const Shape &bShape,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options,
                                   PlanningCache *cache) {
  return create(MatMulForm::Grouped, Operand::Left, graph,
                {inputType, outputType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor createMatMulInputRHS(Graph &graph, const Type &inputType,
                            const Type &outputType, const Shape &aShape,
                            const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *cache) {
  return create(MatMulForm::Single, Operand::Right, graph,
                {inputType, outputType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor createMatMulInputRHS(Graph &graph, const Type &dataType,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *cache) {
  return create(MatMulForm::Single, Operand::Right, graph, {dataType, dataType},
                aShape, bShape, debugContext, options, cache);
}

Tensor createMatMulGroupedInputRHS(Graph &graph, const Type &inputType,
                                   const Type &outputType, const Shape &aShape,
                                   const Shape &bShape,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options,
                                   PlanningCache *cache) {
  return create(MatMulForm::Grouped, Operand::Right, graph,
                {inputType, outputType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor createMatMulOutput(Graph &graph, const Type &inputType,
                          const Type &outputType, const Shape &aShape,
                          const Shape &bShape, const DebugContext &debugContext,
                          const OptionFlags &options, PlanningCache *cache) {
  return create(MatMulForm::Single, Operand::Output, graph,
                {inputType, outputType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor createMatMulOutput(Graph &graph, const Type &dataType,
                          const Shape &aShape, const Shape &bShape,
                          const DebugContext &debugContext,
                          const OptionFlags &options, PlanningCache *cache) {
  return create(MatMulForm::Single, Operand::Output, graph,
                {dataType, dataType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor createMatMulGroupedOutput(Graph &graph, const Type &inputType,
                                 const Type &outputType, const Shape &aShape,
                                 const Shape &bShape,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options,
                                 PlanningCache *cache) {
  return create(MatMulForm::Grouped, Operand::Output, graph,
                {inputType, outputType}, aShape, bShape, debugContext, options,
                cache);
}

Tensor preArrangeMatMulInputRHS(Graph &graph, const Shape &aShape,
                                const Tensor &B, Sequence &prog,
                                const Type &outputType,
                                const DebugContext &debugContext,
                                const OptionFlags &options,
                                PlanningCache *cache) {
  return preArrange(MatMulForm::Single, graph, aShape, B, prog, outputType,
                    debugContext, options, cache);
}

Tensor preArrangeMatMulInputRHS(Graph &graph, const Shape &aShape,
                                const Tensor &B, Sequence &prog,
                                const DebugContext &debugContext,
                                const OptionFlags &options,
                                PlanningCache *cache) {
  return preArrange(MatMulForm::Single, graph, aShape, B, prog, B.elementType(),
                    debugContext, options, cache);
}

Tensor preArrangeMatMulGroupedInputRHS(Graph &graph, const Shape &aShape,
                                       const Tensor &B, Sequence &prog,
                                       const Type &outputType,
                                       const DebugContext &debugContext,
                                       const OptionFlags &options,
                                       PlanningCache *cache) {
  return preArrange(MatMulForm::Grouped, graph, aShape, B, prog, outputType,
                    debugContext, options, cache);
}

Tensor transposeGroupedMatrix(const Tensor &A) {
  requireUser<poplibs_error>(
      A.rank() == 3, "Operand to matrix multiplication is not a grouped "
                     "matrix.");
  return A.dimShuffle({0, 2, 1});
}

void addCodelets(Graph &graph) {
  poputil::internal::addLibraryCodelets(graph, "poplin");
  // Products cast and accumulate with the vertices of popops.
  popops::addCodelets(graph);
}

} // namespace poplin
