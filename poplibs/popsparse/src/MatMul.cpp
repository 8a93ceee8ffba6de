#include <popsparse/MatMul.hpp>

#include "Blocks.hpp"
#include "Dense.hpp"
#include "MetaData.hpp"
#include "Options.hpp"

#include <poplin/MatMul.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popsparse {

using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

namespace {

// A matrix of a group, out of [1, rows, columns].
Tensor matrixOf(const Tensor &tensor, bool isTransposed, const char *function) {
  requireUser<poplibs_error>(
      tensor.rank() == 3 && tensor.dim(0) == 1,
      "[popsparse::{}] a dense operand of shape {} given; it must have one "
      "group of rows and columns",
      function, tensor.shapeToString());
  return isTransposed ? tensor[0].transpose() : tensor[0];
}

template <typename SparseTensor>
Tensor matrixOf(Graph &graph, const SparseTensor &sparse, bool isTransposed,
                Sequence &prog, const DebugContext &context) {
  const Tensor dense = internal::toDense(
      graph, sparse.getOpMetaData(), sparse.getMetaInfoTensor(),
      sparse.getNzValuesTensor(), prog, context);
  return isTransposed ? dense.transpose() : dense;
}

Tensor multiply(Graph &graph, const Tensor &lhs, const Tensor &rhs,
                Sequence &prog, const DebugContext &context,
                const OptionFlags &options, poplin::PlanningCache *cache) {
  return poplin::matMul(graph, lhs, rhs, prog, context,
                        internal::matMulOptions(options), cache)
      .expand({0});
}

template <typename SparseTensor>
Tensor multiply(Graph &graph, const SparseTensor &lhs, const Tensor &rhs,
                Sequence &prog, bool transposeLHS, bool transposeRHS,
                const char *function, const DebugContext &context,
                const OptionFlags &options, poplin::PlanningCache *cache) {
  const Tensor dense = matrixOf(rhs, transposeRHS, function);
  return multiply(graph, matrixOf(graph, lhs, transposeLHS, prog, context),
                  dense, prog, context, options, cache);
}

template <typename MatMulParams>
Tensor addRhs(Graph &graph, const poplar::Type &type,
              const MatMulParams &params, const DebugContext &debugContext,
              const OptionFlags &options, poplin::PlanningCache *cache) {
  return poplin::createMatMulInputRHS(
             graph, type, {params.getM(), params.getK()},
             {params.getK(), params.getN()}, debugContext,
             internal::matMulOptions(options), cache)
      .expand({0});
}

} // namespace

namespace dynamic {

SparseTensor createSparseDenseMatMulLHS(Graph &graph, const poplar::Type &type,
                                        const MatMulParams &params,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options,
                                        PlanningCache *) {
  internal::matMulOptions(options);
  const TensorMetaData metaData = internal::metaDataOf(params);
  return {internal::addMetaInfo(graph, metaData, debugContext),
          internal::addValues(graph, type, metaData, debugContext), metaData};
}

Tensor createSparseDenseMatMulRHS(Graph &graph, const poplar::Type &type,
                                  const MatMulParams &params,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options,
                                  PlanningCache *cache) {
  return addRhs(graph, type, params, debugContext, options, cache);
}

Tensor sparseDenseMatMul(Graph &graph, const SparseTensor &lhs,
                         const Tensor &rhs, Sequence &prog, bool transposeLHS,
                         bool transposeRHS, const DebugContext &debugContext,
                         const OptionFlags &options, PlanningCache *cache) {
  return multiply(graph, lhs, rhs, prog, transposeLHS, transposeRHS,
                  "dynamic::sparseDenseMatMul",
                  {debugContext, "sparseDenseMatMul"}, options, cache);
}

} // namespace dynamic

namespace static_ {

namespace {

template <typename T>
SparseTensor
createSparse(Graph &graph, const poplar::Type &type, const MatMulParams &params,
             const CSRMatrix<T> &matrix, const DebugContext &debugContext,
             const OptionFlags &options, const char *function) {
  internal::matMulOptions(options);
  TensorMetaData metaData = internal::metaDataOf(params);
  metaData.blockDimensions = matrix.blockDimensions;
  internal::requireBlocks(metaData, function);
  const auto blocks = internal::blocksOf(matrix, metaData);
  requireUser<poplibs_error>(!blocks.empty(),
                             "[popsparse::{}] a matrix without values given",
                             function);
  metaData.numBlocks = blocks.size();
  std::vector<unsigned short> indices;
  for (std::size_t index : internal::metaInfoOf(blocks, metaData)) {
    indices.push_back(static_cast<unsigned short>(index));
  }
  const Tensor metaInfo = graph.addConstant(
      poplar::UNSIGNED_SHORT, {indices.size()},
      poplar::ArrayRef<unsigned short>(indices), {debugContext, "metaInfo"});
  poputil::mapTensorLinearly(graph, metaInfo);
  return {metaInfo, internal::addValues(graph, type, metaData, debugContext),
          metaData};
}

} // namespace

template <typename T>
SparseTensor createSparseDenseMatMulLHS(Graph &graph, const poplar::Type &type,
                                        const MatMulParams &params,
                                        const CSRMatrix<T> &matrix,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options,
                                        PlanningCache *) {
  constexpr const char *function = "static_::createSparseDenseMatMulLHS";
  requireUser<poplibs_error>(
      params.isSparseDense(),
      "[popsparse::{}] parameters of a dense-sparse product given", function);
  return createSparse(graph, type, params, matrix, debugContext, options,
                      function);
}

template <typename T>
SparseTensor createDenseSparseMatMulRHS(Graph &graph, const poplar::Type &type,
                                        const MatMulParams &params,
                                        const CSRMatrix<T> &matrix,
                                        const DebugContext &debugContext,
                                        const OptionFlags &options,
                                        PlanningCache *) {
  constexpr const char *function = "static_::createDenseSparseMatMulRHS";
  requireUser<poplibs_error>(
      params.isDenseSparse(),
      "[popsparse::{}] parameters of a sparse-dense product given", function);
  return createSparse(graph, type, params, matrix, debugContext, options,
                      function);
}

#define POPSPARSE_CREATE(function, T)                                          \
  template SparseTensor function(Graph &, const poplar::Type &,                \
                                 const MatMulParams &, const CSRMatrix<T> &,   \
                                 const DebugContext &, const OptionFlags &,    \
                                 PlanningCache *);
POPSPARSE_CREATE(createSparseDenseMatMulLHS, float)
POPSPARSE_CREATE(createSparseDenseMatMulLHS, double)
POPSPARSE_CREATE(createDenseSparseMatMulRHS, float)
POPSPARSE_CREATE(createDenseSparseMatMulRHS, double)
#undef POPSPARSE_CREATE

Tensor createSparseDenseMatMulRHS(Graph &graph, const poplar::Type &type,
                                  const MatMulParams &params,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options,
                                  PlanningCache *cache) {
  return addRhs(graph, type, params, debugContext, options, cache);
}

Tensor createDenseSparseMatMulLHS(Graph &graph, const poplar::Type &type,
                                  const MatMulParams &params,
                                  const DebugContext &debugContext,
                                  const OptionFlags &options,
                                  PlanningCache *cache) {
  return poplin::createMatMulInputLHS(
             graph, type, {params.getM(), params.getK()},
             {params.getK(), params.getN()}, debugContext,
             internal::matMulOptions(options), cache)
      .expand({0});
}

Tensor sparseDenseMatMul(Graph &graph, const SparseTensor &lhs,
                         const Tensor &rhs, Sequence &prog, bool transposeLHS,
                         bool transposeRHS, const DebugContext &debugContext,
                         const OptionFlags &options, PlanningCache *cache) {
  return multiply(graph, lhs, rhs, prog, transposeLHS, transposeRHS,
                  "static_::sparseDenseMatMul",
                  {debugContext, "sparseDenseMatMul"}, options, cache);
}

Tensor denseSparseMatMul(Graph &graph, const Tensor &lhs,
                         const SparseTensor &rhs, Sequence &prog,
                         bool transposeLHS, bool transposeRHS,
                         const DebugContext &debugContext,
                         const OptionFlags &options, PlanningCache *cache) {
  constexpr const char *function = "static_::denseSparseMatMul";
  const DebugContext context{debugContext, "denseSparseMatMul"};
  const Tensor dense = matrixOf(lhs, transposeLHS, function);
  return multiply(graph, dense,
                  matrixOf(graph, rhs, transposeRHS, prog, context), prog,
                  context, options, cache);
}

} // namespace static_
} // namespace popsparse
