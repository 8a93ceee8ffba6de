// The blocks of a matrix where they are known when the program is built.
#pragma once

#include <popsparse/experimental/BlockSparse.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <vector>

namespace popsparse::internal {

class StaticBlocks {
public:
  // Throws poplibs_error unless blocks divide the matrix and `sparsity` has a
  // flag for each.
  StaticBlocks(const std::array<int, 2> &dim,
               const std::array<int, 2> &blockSize,
               const std::vector<unsigned char> &sparsity,
               const char *function);

  std::size_t count() const { return present_.size(); }
  std::size_t blockSize() const { return height_ * width_; }

  // Throws poplibs_error unless it is [count, blockSize].
  void requireBlocks(const poplar::Tensor &blocks, const char *function) const;

  // [rows, columns], with one value where no block is.
  poplar::Tensor toDense(poplar::Graph &graph, const poplar::Tensor &blocks,
                         double elsewhere, poplar::program::Sequence &prog,
                         const poplar::DebugContext &debugContext) const;
  // A view of a dense matrix: [count, blockSize].
  poplar::Tensor blocksOf(const poplar::Tensor &dense) const;
  // The elements of [count, blockSize] that are left out, as a view of rank 1.
  poplar::Tensor masked(const poplar::Tensor &blocks,
                        experimental::SubBlockMask mask) const;

private:
  std::size_t rows_;
  std::size_t columns_;
  std::size_t height_; // of a block
  std::size_t width_;
  std::vector<std::size_t> present_; // the numbers of the blocks, ascending
};

} // namespace popsparse::internal
