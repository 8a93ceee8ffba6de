#include <poplin/MatMul.hpp>

#include "ConvOperands.hpp"
#include "MatMulShapes.hpp"

#include <poplin/codelets.hpp>
#include <poplin/internal/ConvOptions.hpp>
#include <poplin/internal/Kinds.hpp>

#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
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
               const DebugContext &debugContext, const OptionFlags &options) {
  checkMatMulShapes(form, a.shape(), b.shape());
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
                 const DebugContext &debugContext, const OptionFlags &options) {
  checkMatMulShapes(form, a.shape(), b.shape());
  checkResult("out", out, a, b);
  const auto result = product(form, graph, a, b, prog, out.elementType(),
                              debugContext, options);
  prog.add(Copy(result, out, false, debugContext));
}

// c += k * a * b for a number or a tensor k.
template <typename Scale>
void accumulate(MatMulForm form, Graph &graph, const Tensor &c, const Scale &k,
                const Tensor &a, const Tensor &b, Sequence &prog,
                const DebugContext &debugContext, const OptionFlags &options) {
  checkMatMulShapes(form, a.shape(), b.shape());
  checkResult("C", c, a, b);
  const auto result =
      product(form, graph, a, b, prog, c.elementType(), debugContext, options);
  popops::scaledAddTo(graph, c, result, k, prog, {debugContext, "Acc"});
}

enum class Operand { Left, Right, Output };

Tensor create(MatMulForm form, Operand operand, Graph &graph, const Type &type,
              const Shape &aShape, const Shape &bShape,
              const DebugContext &debugContext, const OptionFlags &options) {
  checkMatMulShapes(form, aShape, bShape);
  internal::parseMatMulOptions(options); // rejects unknown ones
  const auto shape = operand == Operand::Left ? aShape
                     : operand == Operand::Right
                         ? bShape
                         : matMulOutputShape(aShape, bShape);
  const auto tensor = graph.addVariable(type, shape, debugContext);
  poputil::mapTensorLinearly(graph, tensor);
  return tensor;
}

Tensor preArrange(MatMulForm form, Graph &graph, const Shape &aShape,
                  const Tensor &b, Sequence &prog,
                  const DebugContext &debugContext,
                  const OptionFlags &options) {
  const auto result =
      create(form, Operand::Right, graph, b.elementType(), aShape, b.shape(),
             {debugContext, "preArranged"}, options);
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
              const OptionFlags &options, PlanningCache *) {
  return product(MatMulForm::Single, graph, A, B, prog, outputType,
                 debugContext, options);
}

Tensor matMul(Graph &graph, const Tensor &A, const Tensor &B, Sequence &prog,
              const DebugContext &debugContext, const OptionFlags &options,
              PlanningCache *) {
  return product(MatMulForm::Single, graph, A, B, prog, A.elementType(),
                 debugContext, options);
}

Tensor matMulGrouped(Graph &graph, const Tensor &A, const Tensor &B,
                     Sequence &prog, const Type &outputType,
                     const DebugContext &debugContext,
                     const OptionFlags &options, PlanningCache *) {
  return product(MatMulForm::Grouped, graph, A, B, prog, outputType,
                 debugContext, options);
}

void matMulWithOutput(Graph &graph, const Tensor &A, const Tensor &B,
                      Tensor &out, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *) {
  productInto(MatMulForm::Single, graph, A, B, out, prog, debugContext,
              options);
}

void matMulGroupedWithOutput(Graph &graph, const Tensor &A, const Tensor &B,
                             Tensor &out, Sequence &prog,
                             const DebugContext &debugContext,
                             const OptionFlags &options, PlanningCache *) {
  productInto(MatMulForm::Grouped, graph, A, B, out, prog, debugContext,
              options);
}

void matMulAcc(Graph &graph, const Tensor &C, float k, const Tensor &A,
               const Tensor &B, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *) {
  accumulate(MatMulForm::Single, graph, C, k, A, B, prog, debugContext,
             options);
}

void matMulAcc(Graph &graph, const Tensor &C, const Tensor &k, const Tensor &A,
               const Tensor &B, Sequence &prog,
               const DebugContext &debugContext, const OptionFlags &options,
               PlanningCache *) {
  accumulate(MatMulForm::Single, graph, C, k, A, B, prog, debugContext,
             options);
}

void matMulGroupedAcc(Graph &graph, const Tensor &C, float k, const Tensor &A,
                      const Tensor &B, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *) {
  accumulate(MatMulForm::Grouped, graph, C, k, A, B, prog, debugContext,
             options);
}

void matMulGroupedAcc(Graph &graph, const Tensor &C, const Tensor &k,
                      const Tensor &A, const Tensor &B, Sequence &prog,
                      const DebugContext &debugContext,
                      const OptionFlags &options, PlanningCache *) {
  accumulate(MatMulForm::Grouped, graph, C, k, A, B, prog, debugContext,
             options);
}

Tensor createMatMulInputLHS(Graph &graph, const Type &inputType, const Type &,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Single, Operand::Left, graph, inputType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulInputLHS(Graph &graph, const Type &dataType,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Single, Operand::Left, graph, dataType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulGroupedInputLHS(Graph &graph, const Type &inputType,
                                   const Type &, const Shape &aShape,
                                   const Shape &bShape,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options,
                                   PlanningCache *) {
  return create(MatMulForm::Grouped, Operand::Left, graph, inputType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulInputRHS(Graph &graph, const Type &inputType, const Type &,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Single, Operand::Right, graph, inputType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulInputRHS(Graph &graph, const Type &dataType,
                            const Shape &aShape, const Shape &bShape,
                            const DebugContext &debugContext,
                            const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Single, Operand::Right, graph, dataType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulGroupedInputRHS(Graph &graph, const Type &inputType,
                                   const Type &, const Shape &aShape,
                                   const Shape &bShape,
                                   const DebugContext &debugContext,
                                   const OptionFlags &options,
                                   PlanningCache *) {
  return create(MatMulForm::Grouped, Operand::Right, graph, inputType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulOutput(Graph &graph, const Type &, const Type &outputType,
                          const Shape &aShape, const Shape &bShape,
                          const DebugContext &debugContext,
                          const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Single, Operand::Output, graph, outputType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulOutput(Graph &graph, const Type &dataType,
                          const Shape &aShape, const Shape &bShape,
                          const DebugContext &debugContext,
                          const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Single, Operand::Output, graph, dataType, aShape,
                bShape, debugContext, options);
}

Tensor createMatMulGroupedOutput(Graph &graph, const Type &,
                                 const Type &outputType, const Shape &aShape,
                                 const Shape &bShape,
                                 const DebugContext &debugContext,
                                 const OptionFlags &options, PlanningCache *) {
  return create(MatMulForm::Grouped, Operand::Output, graph, outputType, aShape,
                bShape, debugContext, options);
}

Tensor preArrangeMatMulInputRHS(Graph &graph, const Shape &aShape,
                                const Tensor &B, Sequence &prog, const Type &,
                                const DebugContext &debugContext,
                                const OptionFlags &options, PlanningCache *) {
  return preArrange(MatMulForm::Single, graph, aShape, B, prog, debugContext,
                    options);
}

Tensor preArrangeMatMulInputRHS(Graph &graph, const Shape &aShape,
                                const Tensor &B, Sequence &prog,
                                const DebugContext &debugContext,
                                const OptionFlags &options, PlanningCache *) {
  return preArrange(MatMulForm::Single, graph, aShape, B, prog, debugContext,
                    options);
}

Tensor preArrangeMatMulGroupedInputRHS(Graph &graph, const Shape &aShape,
                                       const Tensor &B, Sequence &prog,
                                       const Type &,
                                       const DebugContext &debugContext,
                                       const OptionFlags &options,
                                       PlanningCache *) {
  return preArrange(MatMulForm::Grouped, graph, aShape, B, prog, debugContext,
                    options);
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
