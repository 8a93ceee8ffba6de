#include <popsparse/SparsePartitioner.hpp>

#include "Blocks.hpp"
#include "MetaData.hpp"
#include "Options.hpp"

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popsparse {

using internal::BlockAt;
using poplar::OptionFlags;
using poputil::poplibs_error;
using support::requireUser;

namespace dynamic {

namespace {

template <typename T, typename Matrix>
SparsityDataImpl<T> dataOf(const Matrix &matrix,
                           const TensorMetaData &metaData) {
  const auto blocks = internal::blocksOf(matrix, metaData);
  SparsityDataImpl<T> data;
  data.metaInfo = internal::metaInfoOf(blocks, metaData);
  data.nzValues =
      internal::valuesOf(blocks, matrix.nzValues, metaData.blockSize(),
                         metaData.numBlocks * metaData.blockSize());
  return data;
}

// The blocks that the data has, row after row as they were put there.
template <typename T>
std::vector<BlockAt> blocksOf(const SparsityDataImpl<T> &data,
                              const TensorMetaData &metaData) {
  requireUser<poplibs_error>(
      data.metaInfo.size() == 2 * metaData.numBlocks &&
          data.nzValues.size() == metaData.numBlocks * metaData.blockSize(),
      "[popsparse::dynamic::Partitioner] {} indices and {} values given; {} "
      "and {} are needed",
      data.metaInfo.size(), data.nzValues.size(), 2 * metaData.numBlocks,
      metaData.numBlocks * metaData.blockSize());
  std::vector<BlockAt> blocks;
  for (std::size_t i = 0;
       i < metaData.numBlocks && data.metaInfo[i] != internal::noBlock; ++i) {
    const std::size_t row = data.metaInfo[i];
    const std::size_t column = data.metaInfo[metaData.numBlocks + i];
    requireUser<poplibs_error>(
        row < metaData.rows / metaData.blockDimensions[0] &&
            column < metaData.columns / metaData.blockDimensions[1],
        "[popsparse::dynamic::Partitioner] block {} is at {},{}, outside the "
        "matrix",
        i, row, column);
    blocks.push_back({row, column, i * metaData.blockSize()});
  }
  return blocks;
}

// Where the values of each of `lines` lines start, and how many there are.
std::vector<std::size_t> startsOf(const std::vector<BlockAt> &blocks,
                                  std::size_t lines, std::size_t blockSize,
                                  std::size_t BlockAt::*line) {
  std::vector<std::size_t> starts(lines + 1);
  for (const BlockAt &block : blocks) {
    starts[block.*line + 1] += blockSize;
  }
  for (std::size_t i = 0; i < lines; ++i) {
    starts[i + 1] += starts[i];
  }
  return starts;
}

} // namespace

template <typename T>
Partitioner<T>::Partitioner(const FullyConnectedParams &params,
                            const poplar::Type &, const poplar::Target &,
                            const OptionFlags &options, PlanningCache *,
                            const std::string &)
    : metaData_(internal::metaDataOf(params)) {
  internal::matMulOptions(options);
}

template <typename T>
Partitioner<T>::Partitioner(const MatMulParams &params, const poplar::Type &,
                            const poplar::Target &, const OptionFlags &options,
                            PlanningCache *, const std::string &)
    : metaData_(internal::metaDataOf(params)) {
  internal::matMulOptions(options);
}

template <typename T>
SparsityDataImpl<T>
Partitioner<T>::createSparsityDataImpl(const COOMatrix<T> &matrix) const {
  return dataOf<T>(matrix, metaData_);
}

template <typename T>
SparsityDataImpl<T>
Partitioner<T>::createSparsityDataImpl(const CSRMatrix<T> &matrix) const {
  return dataOf<T>(matrix, metaData_);
}

template <typename T>
SparsityDataImpl<T>
Partitioner<T>::createSparsityDataImpl(const CSCMatrix<T> &matrix) const {
  return dataOf<T>(matrix, metaData_);
}

template <typename T>
COOMatrix<T> Partitioner<T>::sparsityDataImplToCOOMatrix(
    const SparsityDataImpl<T> &data) const {
  const auto blocks = blocksOf(data, metaData_);
  COOMatrix<T> matrix(metaData_.blockDimensions);
  const std::size_t size = metaData_.blockSize();
  matrix.nzValues =
      internal::valuesOf(blocks, data.nzValues, size, blocks.size() * size);
  for (const BlockAt &block : blocks) {
    matrix.rowIndices.push_back(block.row * matrix.getNumRowsInBlock());
    matrix.columnIndices.push_back(block.column *
                                   matrix.getNumColumnsInBlock());
  }
  return matrix;
}

template <typename T>
CSRMatrix<T> Partitioner<T>::sparsityDataImplToCSRMatrix(
    const SparsityDataImpl<T> &data) const {
  const auto blocks = blocksOf(data, metaData_);
  CSRMatrix<T> matrix(metaData_.blockDimensions);
  const std::size_t size = metaData_.blockSize();
  matrix.nzValues =
      internal::valuesOf(blocks, data.nzValues, size, blocks.size() * size);
  matrix.rowIndices = startsOf(
      blocks, metaData_.rows / matrix.getNumRowsInBlock(), size, &BlockAt::row);
  for (const BlockAt &block : blocks) {
    matrix.columnIndices.push_back(block.column *
                                   matrix.getNumColumnsInBlock());
  }
  return matrix;
}

template <typename T>
CSCMatrix<T> Partitioner<T>::sparsityDataImplToCSCMatrix(
    const SparsityDataImpl<T> &data) const {
  auto blocks = blocksOf(data, metaData_);
  std::stable_sort(
      blocks.begin(), blocks.end(),
      [](const BlockAt &a, const BlockAt &b) { return a.column < b.column; });
  CSCMatrix<T> matrix(metaData_.blockDimensions);
  const std::size_t size = metaData_.blockSize();
  matrix.nzValues =
      internal::valuesOf(blocks, data.nzValues, size, blocks.size() * size);
  matrix.columnIndices =
      startsOf(blocks, metaData_.columns / matrix.getNumColumnsInBlock(), size,
               &BlockAt::column);
  for (const BlockAt &block : blocks) {
    matrix.rowIndices.push_back(block.row * matrix.getNumRowsInBlock());
  }
  return matrix;
}

template class Partitioner<float>;
template class Partitioner<double>;

} // namespace dynamic

namespace static_ {

namespace {

template <typename T, typename Matrix>
std::vector<T> valuesOf(const Matrix &matrix, TensorMetaData metaData) {
  metaData.blockDimensions = matrix.blockDimensions;
  internal::requireBlocks(metaData, "static_::Partitioner");
  return internal::valuesOf(internal::blocksOf(matrix, metaData),
                            matrix.nzValues, matrix.getBlockSize(),
                            matrix.nzValues.size());
}

} // namespace

template <typename T>
Partitioner<T>::Partitioner(const MatMulParams &params, const poplar::Type &,
                            const poplar::Target &, const OptionFlags &options,
                            PlanningCache *, const std::string &)
    : metaData_(internal::metaDataOf(params)) {
  internal::matMulOptions(options);
}

template <typename T>
std::vector<T>
Partitioner<T>::createSparsityDataImpl(const COOMatrix<T> &matrix) const {
  return valuesOf<T>(matrix, metaData_);
}

template <typename T>
std::vector<T>
Partitioner<T>::createSparsityDataImpl(const CSRMatrix<T> &matrix) const {
  return valuesOf<T>(matrix, metaData_);
}

template <typename T>
std::vector<T>
Partitioner<T>::createSparsityDataImpl(const CSCMatrix<T> &matrix) const {
  return valuesOf<T>(matrix, metaData_);
}

template class Partitioner<float>;
template class Partitioner<double>;

} // namespace static_
} // namespace popsparse
