#include "Blocks.hpp"

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <tuple>

namespace popsparse::internal {

using poputil::poplibs_error;
using support::requireUser;

namespace {

void requireSameBlocks(const Block &matrix, const TensorMetaData &metaData) {
  requireUser<poplibs_error>(
      matrix.blockDimensions == metaData.blockDimensions,
      "[popsparse::Partitioner] a matrix in blocks of {}x{} given; {}x{} was "
      "said before",
      matrix.blockDimensions[0], matrix.blockDimensions[1],
      metaData.blockDimensions[0], metaData.blockDimensions[1]);
}

void requireCounts(std::size_t rowIndices, std::size_t columnIndices,
                   std::size_t values, bool isRight) {
  requireUser<poplibs_error>(
      isRight,
      "[popsparse::Partitioner] {} row indices, {} column indices and {} "
      "values do not fit together",
      rowIndices, columnIndices, values);
}

// Takes indices of elements.
class BlockList {
public:
  BlockList(const TensorMetaData &metaData) : metaData_(metaData) {}

  void add(std::size_t row, std::size_t column) {
    const auto &[height, width] = metaData_.blockDimensions;
    requireUser<poplibs_error>(
        row < metaData_.rows && column < metaData_.columns &&
            row % height == 0 && column % width == 0,
        "[popsparse::Partitioner] a block at {},{} given; the matrix is {}x{} "
        "and has blocks of {}x{}",
        row, column, metaData_.rows, metaData_.columns, height, width);
    blocks_.push_back(
        {row / height, column / width, blocks_.size() * metaData_.blockSize()});
  }

  std::vector<BlockAt> sorted() {
    const auto place = [](const BlockAt &block) {
      return std::tie(block.row, block.column);
    };
    std::sort(blocks_.begin(), blocks_.end(),
              [&](const BlockAt &a, const BlockAt &b) {
                return place(a) < place(b);
              });
    const auto twice =
        std::adjacent_find(blocks_.begin(), blocks_.end(),
                           [&](const BlockAt &a, const BlockAt &b) {
                             return place(a) == place(b);
                           });
    requireUser<poplibs_error>(
        twice == blocks_.end(),
        "[popsparse::Partitioner] the matrix has a block twice");
    return std::move(blocks_);
  }

private:
  const TensorMetaData &metaData_;
  std::vector<BlockAt> blocks_;
};

// The blocks of compressed rows (or columns): add(line, index) for each, where
// `starts` says which are in a line.
template <typename Add>
void forEachCompressed(const std::vector<std::size_t> &starts,
                       const std::vector<std::size_t> &indices,
                       std::size_t blockSize, Add &&add) {
  for (std::size_t line = 0; line + 1 < starts.size(); ++line) {
    requireUser<poplibs_error>(
        starts[line] <= starts[line + 1] && starts[line] % blockSize == 0,
        "[popsparse::Partitioner] line {} of blocks has values {} to {}; "
        "starts ascend by whole blocks",
        line, starts[line], starts[line + 1]);
    for (std::size_t i = starts[line] / blockSize;
         i < starts[line + 1] / blockSize; ++i) {
      add(line, indices[i]);
    }
  }
}

} // namespace

template <typename T>
std::vector<BlockAt> blocksOf(const COOMatrix<T> &matrix,
                              const TensorMetaData &metaData) {
  requireSameBlocks(matrix, metaData);
  const std::size_t count = matrix.rowIndices.size();
  requireCounts(count, matrix.columnIndices.size(), matrix.nzValues.size(),
                matrix.columnIndices.size() == count &&
                    matrix.nzValues.size() == count * matrix.getBlockSize());
  BlockList list(metaData);
  for (std::size_t i = 0; i < count; ++i) {
    list.add(matrix.rowIndices[i], matrix.columnIndices[i]);
  }
  return list.sorted();
}

template <typename T>
std::vector<BlockAt> blocksOf(const CSRMatrix<T> &matrix,
                              const TensorMetaData &metaData) {
  requireSameBlocks(matrix, metaData);
  const std::size_t height = matrix.getNumRowsInBlock();
  const std::size_t size = matrix.getBlockSize();
  const auto &starts = matrix.rowIndices;
  requireCounts(
      starts.size(), matrix.columnIndices.size(), matrix.nzValues.size(),
      starts.size() == metaData.rows / height + 1 && starts.front() == 0 &&
          starts.back() == matrix.nzValues.size() &&
          matrix.nzValues.size() == matrix.columnIndices.size() * size);
  BlockList list(metaData);
  forEachCompressed(starts, matrix.columnIndices, size,
                    [&](std::size_t line, std::size_t column) {
                      list.add(line * height, column);
                    });
  return list.sorted();
}

template <typename T>
std::vector<BlockAt> blocksOf(const CSCMatrix<T> &matrix,
                              const TensorMetaData &metaData) {
  requireSameBlocks(matrix, metaData);
  const std::size_t width = matrix.getNumColumnsInBlock();
  const std::size_t size = matrix.getBlockSize();
  const auto &starts = matrix.columnIndices;
  requireCounts(matrix.rowIndices.size(), starts.size(), matrix.nzValues.size(),
                starts.size() == metaData.columns / width + 1 &&
                    starts.front() == 0 &&
                    starts.back() == matrix.nzValues.size() &&
                    matrix.nzValues.size() == matrix.rowIndices.size() * size);
  BlockList list(metaData);
  forEachCompressed(
      starts, matrix.rowIndices, size,
      [&](std::size_t line, std::size_t row) { list.add(row, line * width); });
  return list.sorted();
}

std::vector<std::size_t> metaInfoOf(const std::vector<BlockAt> &blocks,
                                    const TensorMetaData &metaData) {
  requireUser<poplibs_error>(
      blocks.size() <= metaData.numBlocks,
      "[popsparse::Partitioner] a matrix of {} blocks given; there is room for "
      "{}",
      blocks.size(), metaData.numBlocks);
  std::vector<std::size_t> metaInfo(2 * metaData.numBlocks, noBlock);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    metaInfo[i] = blocks[i].row;
    metaInfo[metaData.numBlocks + i] = blocks[i].column;
  }
  return metaInfo;
}

#define POPSPARSE_BLOCKS_OF(Matrix)                                            \
  template std::vector<BlockAt> blocksOf(const Matrix<float> &,                \
                                         const TensorMetaData &);              \
  template std::vector<BlockAt> blocksOf(const Matrix<double> &,               \
                                         const TensorMetaData &);
POPSPARSE_BLOCKS_OF(COOMatrix)
POPSPARSE_BLOCKS_OF(CSRMatrix)
POPSPARSE_BLOCKS_OF(CSCMatrix)
#undef POPSPARSE_BLOCKS_OF

} // namespace popsparse::internal
