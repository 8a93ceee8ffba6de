#include "MetaData.hpp"

#include "Blocks.hpp"

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

namespace popsparse::internal {

using poputil::poplibs_error;
using support::requireUser;

namespace {

TensorMetaData metaDataOf(std::size_t rows, std::size_t columns,
                          const dynamic::SparsityParams &sparsity,
                          std::size_t numNonZeros) {
  TensorMetaData metaData;
  metaData.rows = rows;
  metaData.columns = columns;
  metaData.blockDimensions = sparsity.blockDimensions;
  metaData.numBlocks = numNonZeros / metaData.blockSize();
  return metaData;
}

} // namespace

TensorMetaData metaDataOf(const dynamic::MatMulParams &params) {
  return metaDataOf(params.getM(), params.getK(), params.getSparsityParams(),
                    params.getNumNonZeroValues());
}

TensorMetaData metaDataOf(const dynamic::FullyConnectedParams &params) {
  return metaDataOf(params.getOutputChannels(), params.getInputChannels(),
                    params.getSparsityParams(), params.getNumNonZeroValues());
}

TensorMetaData metaDataOf(const static_::MatMulParams &params) {
  TensorMetaData metaData;
  metaData.rows = params.isSparseDense() ? params.getM() : params.getK();
  metaData.columns = params.isSparseDense() ? params.getK() : params.getN();
  return metaData;
}

void requireBlocks(const TensorMetaData &metaData, const char *function) {
  const auto &[blockRows, blockColumns] = metaData.blockDimensions;
  requireUser<poplibs_error>(
      blockRows > 0 && blockColumns > 0 && metaData.rows > 0 &&
          metaData.columns > 0 && metaData.rows % blockRows == 0 &&
          metaData.columns % blockColumns == 0,
      "[popsparse::{}] a matrix of {}x{} in blocks of {}x{} given; blocks must "
      "divide it",
      function, metaData.rows, metaData.columns, blockRows, blockColumns);
  requireUser<poplibs_error>(
      metaData.rows / blockRows <= noBlock &&
          metaData.columns / blockColumns <= noBlock,
      "[popsparse::{}] {}x{} blocks given; {} either way is the most", function,
      metaData.rows / blockRows, metaData.columns / blockColumns, noBlock);
}

} // namespace popsparse::internal
