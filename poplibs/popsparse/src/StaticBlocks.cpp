#include "StaticBlocks.hpp"

#include <popops/Fill.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popsparse::internal {

using experimental::SubBlockMask;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;
using support::requireUser;

StaticBlocks::StaticBlocks(const std::array<int, 2> &dim,
                           const std::array<int, 2> &blockSize,
                           const std::vector<unsigned char> &sparsity,
                           const char *function) {
  requireUser<poplibs_error>(
      dim[0] > 0 && dim[1] > 0 && blockSize[0] > 0 && blockSize[1] > 0 &&
          dim[0] % blockSize[0] == 0 && dim[1] % blockSize[1] == 0,
      "[popsparse::experimental::{}] a matrix of {}x{} in blocks of {}x{} "
      "given; blocks must divide it",
      function, dim[0], dim[1], blockSize[0], blockSize[1]);
  rows_ = static_cast<std::size_t>(dim[0]);
  columns_ = static_cast<std::size_t>(dim[1]);
  height_ = static_cast<std::size_t>(blockSize[0]);
  width_ = static_cast<std::size_t>(blockSize[1]);
  for (std::size_t i = 0; i < sparsity.size(); ++i) {
    if (sparsity[i] != 0) {
      present_.push_back(i);
    }
  }
  const std::size_t all = rows_ / height_ * (columns_ / width_);
  requireUser<poplibs_error>(
      sparsity.size() == all && !present_.empty(),
      "[popsparse::experimental::{}] a sparsity of {} blocks, {} of them "
      "there, given; the matrix has {}, and one must be there",
      function, sparsity.size(), present_.size(), all);
}

void StaticBlocks::requireBlocks(const Tensor &blocks,
                                 const char *function) const {
  requireUser<poplibs_error>(
      blocks.shape() == std::vector<std::size_t>{count(), blockSize()},
      "[popsparse::experimental::{}] a sparse matrix of shape {} given; {} "
      "blocks of {} elements are needed",
      function, blocks.shapeToString(), count(), blockSize());
}

Tensor StaticBlocks::toDense(Graph &graph, const Tensor &blocks,
                             double elsewhere, Sequence &prog,
                             const DebugContext &debugContext) const {
  const Tensor dense = graph.addVariable(
      blocks.elementType(), {rows_, columns_}, {debugContext, "dense"});
  poputil::mapTensorLinearly(graph, dense);
  popops::fill(graph, dense, prog, elsewhere, debugContext);
  prog.add(poplar::program::Copy(blocks, blocksOf(dense), false, debugContext));
  return dense;
}

Tensor StaticBlocks::blocksOf(const Tensor &dense) const {
  const Tensor all =
      dense.reshape({rows_ / height_, height_, columns_ / width_, width_})
          .dimShuffle({0, 2, 1, 3})
          .reshape({rows_ * columns_ / blockSize(), blockSize()});
  std::vector<Interval> runs;
  for (std::size_t block : present_) {
    if (!runs.empty() && runs.back().end() == block) {
      runs.back() = Interval(runs.back().begin(), block + 1);
    } else {
      runs.emplace_back(block, block + 1);
    }
  }
  return poplar::concat(all.slices(runs));
}

Tensor StaticBlocks::masked(const Tensor &blocks, SubBlockMask mask) const {
  std::vector<Interval> runs;
  const std::size_t across = columns_ / width_;
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const std::size_t firstRow = present_[i] / across * height_;
    const std::size_t firstColumn = present_[i] % across * width_;
    const bool isCrossed =
        firstRow < firstColumn + width_ && firstColumn < firstRow + height_;
    for (std::size_t row = 0; isCrossed && row < height_; ++row) {
      // Columns [0, diagonal) of the block are below the matrix's diagonal.
      const std::size_t at = firstRow + row;
      const std::size_t diagonal =
          at < firstColumn ? 0 : std::min(at - firstColumn, width_);
      const bool isOn = at >= firstColumn && diagonal < width_;
      const std::size_t start = i * blockSize() + row * width_;
      if (mask == SubBlockMask::ZeroLowerTriangle && diagonal > 0) {
        runs.emplace_back(start, start + diagonal);
      }
      const std::size_t above = diagonal + (isOn ? 1 : 0);
      if (mask == SubBlockMask::ZeroUpperTriangle && above < width_) {
        runs.emplace_back(start + above, start + width_);
      }
    }
  }
  const Tensor flat = blocks.flatten();
  return runs.empty() ? flat.slice(0, 0) : poplar::concat(flat.slices(runs));
}

} // namespace popsparse::internal
