// Products with block-sparse matrices, whose blocks are known when the program
// is built: dense times sparse, or the chosen blocks of dense times dense. The
// options memoryCycleRatio and partitionMethod are taken and change nothing.
#pragma once

#include <popsparse/experimental/BlockSparse.hpp>

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <array>
#include <vector>

namespace popsparse {
namespace experimental {

// [m, k] times [k, n]: `dim` is {m, k, n}, and `blockSize` a block's part of
// each. There is one group.
class BSMatMulParams {
public:
  // The right operand is sparse; if it is to be transposed, `rhsSparsity` and
  // its blocks are those of [n, k].
  BSMatMulParams(const std::array<int, 3> &dim,
                 const std::array<int, 3> &blockSize,
                 const std::vector<unsigned char> &rhsSparsity,
                 bool rhsNeedTranspose, poplar::Type inDataType,
                 poplar::Type outDataType, poplar::Type partialDataType,
                 unsigned numGroups = 1);
  // The result is sparse.
  BSMatMulParams(const std::array<int, 3> &dim,
                 const std::array<int, 3> &blockSize,
                 const std::vector<unsigned char> &resSparsity,
                 poplar::Type inDataType, poplar::Type outDataType,
                 poplar::Type partialDataType,
                 SubBlockMask subBlockMask = SubBlockMask::None,
                 unsigned numGroups = 1);

  const std::array<int, 3> &dim() const { return dim_; }
  const std::array<int, 3> &blockSize() const { return blockSize_; }
  const std::vector<unsigned char> &sparsity() const { return sparsity_; }
  bool isResultSparse() const { return isResultSparse_; }
  bool rhsNeedTranspose() const { return rhsNeedTranspose_; }
  const poplar::Type &inDataType() const { return inDataType_; }
  const poplar::Type &outDataType() const { return outDataType_; }
  const poplar::Type &partialDataType() const { return partialDataType_; }
  SubBlockMask subBlockMask() const { return subBlockMask_; }

private:
  std::array<int, 3> dim_;
  std::array<int, 3> blockSize_;
  std::vector<unsigned char> sparsity_;
  bool isResultSparse_;
  bool rhsNeedTranspose_;
  poplar::Type inDataType_;
  poplar::Type outDataType_;
  poplar::Type partialDataType_;
  SubBlockMask subBlockMask_;
};

// Dense [m, k].
poplar::Tensor createBSMatMulInputLHS(poplar::Graph &graph,
                                      const BSMatMulParams &bsMatMul,
                                      const poplar::DebugContext &debugContext,
                                      const poplar::OptionFlags &options = {});

// Dense [k, n], or sparse [blocks that are there, elements of a block].
poplar::Tensor createBSMatMulInputRHS(poplar::Graph &graph,
                                      const BSMatMulParams &bsMatMul,
                                      const poplar::DebugContext &debugContext,
                                      const poplar::OptionFlags &options = {});

// Dense [m, n], or its blocks.
poplar::Tensor bsMatMul(poplar::Graph &graph, const BSMatMulParams &bsMatMul,
                        poplar::program::Sequence &prog,
                        const poplar::Tensor &lhsMatrix,
                        const poplar::Tensor &rhsMatrix,
                        const poplar::OptionFlags &options = {},
                        const poplar::DebugContext &debugContext = {});

} // namespace experimental
} // namespace popsparse
