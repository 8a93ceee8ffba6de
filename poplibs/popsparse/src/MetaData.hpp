// What parameters say about the sparse matrix.
#pragma once

#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/SparseTensor.hpp>

namespace popsparse::internal {

TensorMetaData metaDataOf(const dynamic::MatMulParams &params);
TensorMetaData metaDataOf(const dynamic::FullyConnectedParams &params);
// Its shape alone: the matrix says which blocks it has.
TensorMetaData metaDataOf(const static_::MatMulParams &params);

// Throws poplibs_error unless blocks divide the matrix and the numbers of rows
// and columns of blocks fit into UNSIGNED_SHORT.
void requireBlocks(const TensorMetaData &metaData, const char *function);

} // namespace popsparse::internal
