#include <popsparse/experimental/BlockSparse.hpp>

#include "StaticBlocks.hpp"

#include <popnn/NonLinearity.hpp>
#include <popops/Fill.hpp>
#include <popops/Zero.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popsparse::experimental {

using internal::StaticBlocks;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;

namespace {

// So small that its exponential is zero beside any other, and yet a number:
// rows without blocks stay free of NaN.
double lowestOf(const poplar::Type &type) {
  return type == poplar::HALF ? -65504.0 : -1e38;
}

void softmaxTo(Graph &graph, const StaticBlocks &blocks, const Tensor &in,
               const Tensor &out, SubBlockMask mask, Sequence &prog,
               const DebugContext &context) {
  const double lowest = lowestOf(in.elementType());
  const Tensor dense = blocks.toDense(graph, in, lowest, prog, context);
  const Tensor leftOut = blocks.masked(blocks.blocksOf(dense), mask);
  if (leftOut.numElements() > 0) {
    popops::fill(graph, leftOut, prog, lowest, context);
  }
  const Tensor shares = popnn::softmaxStable(graph, dense, prog, context);
  prog.add(Copy(blocks.blocksOf(shares), out, false, context));
  const Tensor toZero = blocks.masked(out, mask);
  if (toZero.numElements() > 0) {
    popops::zero(graph, toZero, prog, context);
  }
}

} // namespace

Tensor bsSoftmax(Graph &graph, Tensor sparseTensor,
                 const std::array<int, 2> &dim,
                 const std::array<int, 2> &blockSize,
                 const std::vector<unsigned char> &sparsity,
                 SubBlockMask subBlockMaskType, Sequence &prog,
                 const DebugContext &debugContext) {
  constexpr const char *function = "bsSoftmax";
  const StaticBlocks blocks(dim, blockSize, sparsity, function);
  blocks.requireBlocks(sparseTensor, function);
  const DebugContext context{debugContext, function};
  const Tensor out = graph.clone(sparseTensor, {context, "out"});
  softmaxTo(graph, blocks, sparseTensor, out, subBlockMaskType, prog, context);
  return out;
}

void bsSoftmaxInPlace(Graph &graph, Tensor sparseTensor,
                      const std::array<int, 2> &dim,
                      const std::array<int, 2> &blockSize,
                      const std::vector<unsigned char> &sparsity,
                      SubBlockMask subBlockMaskType, Sequence &prog,
                      const DebugContext &debugContext) {
  constexpr const char *function = "bsSoftmaxInPlace";
  const StaticBlocks blocks(dim, blockSize, sparsity, function);
  blocks.requireBlocks(sparseTensor, function);
  softmaxTo(graph, blocks, sparseTensor, sparseTensor, subBlockMaskType, prog,
            {debugContext, function});
}

Tensor bsSoftmaxGrad(Graph &graph, Tensor sparseOut, Tensor sparseOutGrad,
                     const std::array<int, 2> &dim,
                     const std::array<int, 2> &blockSize,
                     const std::vector<unsigned char> &sparsity, Sequence &prog,
                     const DebugContext &debugContext) {
  constexpr const char *function = "bsSoftmaxGrad";
  const StaticBlocks blocks(dim, blockSize, sparsity, function);
  blocks.requireBlocks(sparseOut, function);
  blocks.requireBlocks(sparseOutGrad, function);
  const DebugContext context{debugContext, function};
  // What is not there has no share, and its gradient is zero whatever came.
  const Tensor dense = popnn::nonLinearityInputGradient(
      graph, popnn::NonLinearityType::SOFTMAX,
      blocks.toDense(graph, sparseOut, 0, prog, context),
      blocks.toDense(graph, sparseOutGrad, 0, prog, context), prog, context);
  const Tensor out = graph.clone(sparseOut, {context, "out"});
  prog.add(Copy(blocks.blocksOf(dense), out, false, context));
  return out;
}

} // namespace popsparse::experimental
