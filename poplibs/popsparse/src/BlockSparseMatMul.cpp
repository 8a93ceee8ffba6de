#include <popsparse/experimental/BlockSparseMatMul.hpp>

#include "StaticBlocks.hpp"

#include <poplar/exceptions.hpp>
#include <poplin/MatMul.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popsparse::experimental {

using internal::StaticBlocks;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;
using Shape = std::vector<std::size_t>;

namespace {

void requireOneGroup(unsigned groups) {
  requireUser<poplibs_error>(
      groups == 1,
      "[popsparse::experimental::BSMatMulParams] {} groups given; one is "
      "allowed",
      groups);
}

// Of the operand or the result that is sparse.
StaticBlocks blocksOf(const BSMatMulParams &params, const char *function) {
  const auto [m, k, n] = params.dim();
  const auto [blockM, blockK, blockN] = params.blockSize();
  if (params.isResultSparse()) {
    return {{m, n}, {blockM, blockN}, params.sparsity(), function};
  }
  if (params.rhsNeedTranspose()) {
    return {{n, k}, {blockN, blockK}, params.sparsity(), function};
  }
  return {{k, n}, {blockK, blockN}, params.sparsity(), function};
}

Shape lhsShape(const BSMatMulParams &params) {
  return {static_cast<std::size_t>(params.dim()[0]),
          static_cast<std::size_t>(params.dim()[1])};
}

Shape rhsShape(const BSMatMulParams &params) {
  return {static_cast<std::size_t>(params.dim()[1]),
          static_cast<std::size_t>(params.dim()[2])};
}

OptionFlags matMulOptions(const BSMatMulParams &params,
                          const OptionFlags &options) {
  for (const auto &[name, value] : options) {
    requireUser<poplar::invalid_option>(name == "memoryCycleRatio" ||
                                            name == "partitionMethod",
                                        "Unrecognised option '{}'", name);
  }
  return {{"partialsType",
           params.partialDataType() == poplar::HALF ? "half" : "float"}};
}

void requireDense(const Tensor &tensor, const Shape &shape) {
  requireUser<poplibs_error>(
      tensor.shape() == shape,
      "[popsparse::experimental::bsMatMul] a dense matrix of shape {} given; "
      "{}x{} is needed",
      tensor.shapeToString(), shape[0], shape[1]);
}

} // namespace

BSMatMulParams::BSMatMulParams(const std::array<int, 3> &dim,
                               const std::array<int, 3> &blockSize,
                               const std::vector<unsigned char> &rhsSparsity,
                               bool rhsNeedTranspose, poplar::Type inDataType,
                               poplar::Type outDataType,
                               poplar::Type partialDataType, unsigned numGroups)
    : dim_(dim), blockSize_(blockSize), sparsity_(rhsSparsity),
      isResultSparse_(false), rhsNeedTranspose_(rhsNeedTranspose),
      inDataType_(inDataType), outDataType_(outDataType),
      partialDataType_(partialDataType), subBlockMask_(SubBlockMask::None) {
  requireOneGroup(numGroups);
  blocksOf(*this, "BSMatMulParams");
}

BSMatMulParams::BSMatMulParams(const std::array<int, 3> &dim,
                               const std::array<int, 3> &blockSize,
                               const std::vector<unsigned char> &resSparsity,
                               poplar::Type inDataType,
                               poplar::Type outDataType,
                               poplar::Type partialDataType,
                               SubBlockMask subBlockMask, unsigned numGroups)
    : dim_(dim), blockSize_(blockSize), sparsity_(resSparsity),
      isResultSparse_(true), rhsNeedTranspose_(false), inDataType_(inDataType),
      outDataType_(outDataType), partialDataType_(partialDataType),
      subBlockMask_(subBlockMask) {
  requireOneGroup(numGroups);
  blocksOf(*this, "BSMatMulParams");
}

Tensor createBSMatMulInputLHS(Graph &graph, const BSMatMulParams &params,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  return poplin::createMatMulInputLHS(
      graph, params.inDataType(), params.outDataType(), lhsShape(params),
      rhsShape(params), debugContext, matMulOptions(params, options));
}

Tensor createBSMatMulInputRHS(Graph &graph, const BSMatMulParams &params,
                              const DebugContext &debugContext,
                              const OptionFlags &options) {
  const OptionFlags taken = matMulOptions(params, options);
  if (params.isResultSparse()) {
    return poplin::createMatMulInputRHS(graph, params.inDataType(),
                                        params.outDataType(), lhsShape(params),
                                        rhsShape(params), debugContext, taken);
  }
  const StaticBlocks blocks = blocksOf(params, "createBSMatMulInputRHS");
  const Tensor rhs = graph.addVariable(
      params.inDataType(), {blocks.count(), blocks.blockSize()}, debugContext);
  poputil::mapTensorLinearly(graph, rhs);
  return rhs;
}

Tensor bsMatMul(Graph &graph, const BSMatMulParams &params, Sequence &prog,
                const Tensor &lhsMatrix, const Tensor &rhsMatrix,
                const OptionFlags &options, const DebugContext &debugContext) {
  constexpr const char *function = "bsMatMul";
  const DebugContext context{debugContext, function};
  const StaticBlocks blocks = blocksOf(params, function);
  requireDense(lhsMatrix, lhsShape(params));
  Tensor rhs = rhsMatrix;
  if (params.isResultSparse()) {
    requireDense(rhsMatrix, rhsShape(params));
  } else {
    blocks.requireBlocks(rhsMatrix, function);
    const Tensor dense = blocks.toDense(graph, rhsMatrix, 0, prog, context);
    rhs = params.rhsNeedTranspose() ? dense.transpose() : dense;
  }
  const Tensor product =
      poplin::matMul(graph, lhsMatrix, rhs, prog, params.outDataType(), context,
                     matMulOptions(params, options));
  if (!params.isResultSparse()) {
    return product;
  }
  const Tensor chosen = blocks.blocksOf(product);
  const Tensor out = graph.clone(chosen, {context, "out"});
  prog.add(poplar::program::Copy(chosen, out, false, context));
  const Tensor leftOut = blocks.masked(out, params.subBlockMask());
  if (leftOut.numElements() > 0) {
    popops::zero(graph, leftOut, prog, context);
  }
  return out;
}

} // namespace popsparse::experimental
