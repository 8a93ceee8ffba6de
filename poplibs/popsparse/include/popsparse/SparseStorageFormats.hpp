// Sparse matrices on the host, in three orders. Where blocks are stored instead
// of elements, a block's values lie together, row by row; its indices are those
// of its first element, and starts count values.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace popsparse {

struct Block {
  std::array<std::size_t, 2> blockDimensions; // rows, columns

  explicit Block(const std::array<std::size_t, 2> &dimensions = {{1, 1}})
      : blockDimensions(dimensions) {}

  std::size_t getNumRowsInBlock() const { return blockDimensions[0]; }
  std::size_t getNumColumnsInBlock() const { return blockDimensions[1]; }
  std::size_t getBlockSize() const {
    return blockDimensions[0] * blockDimensions[1];
  }
};

// A row and a column for every block, in any order.
template <typename T> struct COOMatrix : Block {
  std::vector<T> nzValues;
  std::vector<std::size_t> columnIndices;
  std::vector<std::size_t> rowIndices;

  COOMatrix() = default;
  explicit COOMatrix(const std::array<std::size_t, 2> &blockDimensions)
      : Block(blockDimensions) {}
  COOMatrix(const std::vector<T> &nzValues,
            const std::vector<std::size_t> &columnIndices,
            const std::vector<std::size_t> &rowIndices,
            const std::array<std::size_t, 2> &blockDimensions = {{1, 1}})
      : Block(blockDimensions), nzValues(nzValues),
        columnIndices(columnIndices), rowIndices(rowIndices) {}
};

// Row after row: a column for every block; where the values of each row of
// blocks start, and at last how many there are.
template <typename T> struct CSRMatrix : Block {
  std::vector<T> nzValues;
  std::vector<std::size_t> columnIndices;
  std::vector<std::size_t> rowIndices;

  CSRMatrix() = default;
  explicit CSRMatrix(const std::array<std::size_t, 2> &blockDimensions)
      : Block(blockDimensions) {}
  CSRMatrix(const std::vector<T> &nzValues,
            const std::vector<std::size_t> &columnIndices,
            const std::vector<std::size_t> &rowIndices,
            const std::array<std::size_t, 2> &blockDimensions = {{1, 1}})
      : Block(blockDimensions), nzValues(nzValues),
        columnIndices(columnIndices), rowIndices(rowIndices) {}
};

// Column after column: where the values of each column of blocks start, and at
// last how many there are; a row for every block.
template <typename T> struct CSCMatrix : Block {
  std::vector<T> nzValues;
  std::vector<std::size_t> columnIndices;
  std::vector<std::size_t> rowIndices;

  CSCMatrix() = default;
  explicit CSCMatrix(const std::array<std::size_t, 2> &blockDimensions)
      : Block(blockDimensions) {}
  CSCMatrix(const std::vector<T> &nzValues,
            const std::vector<std::size_t> &columnIndices,
            const std::vector<std::size_t> &rowIndices,
            const std::array<std::size_t, 2> &blockDimensions = {{1, 1}})
      : Block(blockDimensions), nzValues(nzValues),
        columnIndices(columnIndices), rowIndices(rowIndices) {}
};

} // namespace popsparse
