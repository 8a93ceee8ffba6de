// The blocks of a matrix on the host: where each is, and where its values are.
#pragma once

#include <popsparse/SparseStorageFormats.hpp>
#include <popsparse/SparseTensor.hpp>

#include <cstddef>
#include <vector>

namespace popsparse::internal {

// What the device is told for room that no block takes: such a row lies
// outside every matrix, and what is outside is not written and reads as zero.
inline constexpr std::size_t noBlock = 0xffff;

struct BlockAt {
  std::size_t row = 0; // in blocks
  std::size_t column = 0;
  std::size_t values = 0; // the first of its values in nzValues
};

// Row after row. Throw poplibs_error unless the matrix has blocks as
// `metaData` says, inside its shape, each once.
template <typename T>
std::vector<BlockAt> blocksOf(const COOMatrix<T> &matrix,
                              const TensorMetaData &metaData);
template <typename T>
std::vector<BlockAt> blocksOf(const CSRMatrix<T> &matrix,
                              const TensorMetaData &metaData);
template <typename T>
std::vector<BlockAt> blocksOf(const CSCMatrix<T> &matrix,
                              const TensorMetaData &metaData);

// For a meta-info tensor with room for metaData.numBlocks: rows, then columns.
std::vector<std::size_t> metaInfoOf(const std::vector<BlockAt> &blocks,
                                    const TensorMetaData &metaData);

// The values in the order of the blocks, and zeros up to `count`.
template <typename T>
std::vector<T> valuesOf(const std::vector<BlockAt> &blocks,
                        const std::vector<T> &nzValues, std::size_t blockSize,
                        std::size_t count) {
  std::vector<T> values;
  values.reserve(count);
  for (const BlockAt &block : blocks) {
    for (std::size_t i = 0; i < blockSize; ++i) {
      values.push_back(nzValues[block.values + i]);
    }
  }
  values.resize(count);
  return values;
}

} // namespace popsparse::internal
