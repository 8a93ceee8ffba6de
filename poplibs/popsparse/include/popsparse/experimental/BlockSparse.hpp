// Softmax of block-sparse matrices, whose blocks are known when the program is
// built: `sparsity` says for each block of [rows, columns] = `dim`, row after
// row, whether it is there. A matrix is [blocks that are there, elements of a
// block]. What is not there counts as minus infinity.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <array>
#include <vector>

namespace popsparse {
namespace experimental {

// Elements that are left out of the blocks that the diagonal crosses: those on
// one side of it.
enum class SubBlockMask { None, ZeroUpperTriangle, ZeroLowerTriangle };

// Over each row; what is left out becomes zero.
poplar::Tensor bsSoftmax(poplar::Graph &graph, poplar::Tensor sparseTensor,
                         const std::array<int, 2> &dim,
                         const std::array<int, 2> &blockSize,
                         const std::vector<unsigned char> &sparsity,
                         SubBlockMask subBlockMaskType,
                         poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext = {});
void bsSoftmaxInPlace(poplar::Graph &graph, poplar::Tensor sparseTensor,
                      const std::array<int, 2> &dim,
                      const std::array<int, 2> &blockSize,
                      const std::vector<unsigned char> &sparsity,
                      SubBlockMask subBlockMaskType,
                      poplar::program::Sequence &prog,
                      const poplar::DebugContext &debugContext = {});

// Of the result of a softmax and its gradient.
poplar::Tensor bsSoftmaxGrad(poplar::Graph &graph, poplar::Tensor sparseOut,
                             poplar::Tensor sparseOutGrad,
                             const std::array<int, 2> &dim,
                             const std::array<int, 2> &blockSize,
                             const std::vector<unsigned char> &sparsity,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {});

} // namespace experimental
} // namespace popsparse
