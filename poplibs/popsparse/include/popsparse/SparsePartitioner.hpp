// On the host: from a sparse matrix to the contents of the tensors that hold it
// on the device, and back. T: float, double.
#pragma once

#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/PlanningCache.hpp>
#include <popsparse/SparseStorageFormats.hpp>
#include <popsparse/SparseTensor.hpp>

#include <poplar/OptionFlags.hpp>
#include <poplar/Target.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace popsparse {
namespace dynamic {

template <typename T> struct SparsityDataImpl {
  std::vector<std::size_t> metaInfo; // for UNSIGNED_SHORT
  std::vector<T> nzValues;
};

// Throws poplibs_error for a matrix that has other blocks than the parameters
// say, more of them than there is room for, or indices outside its shape.
template <typename T> class Partitioner {
public:
  Partitioner(const FullyConnectedParams &params, const poplar::Type &dataType,
              const poplar::Target &target, const poplar::OptionFlags &options,
              PlanningCache *cache = nullptr, const std::string &name = "");
  Partitioner(const MatMulParams &params, const poplar::Type &dataType,
              const poplar::Target &target, const poplar::OptionFlags &options,
              PlanningCache *cache = nullptr, const std::string &name = "");

  SparsityDataImpl<T> createSparsityDataImpl(const COOMatrix<T> &matrix) const;
  SparsityDataImpl<T> createSparsityDataImpl(const CSRMatrix<T> &matrix) const;
  SparsityDataImpl<T> createSparsityDataImpl(const CSCMatrix<T> &matrix) const;

  COOMatrix<T>
  sparsityDataImplToCOOMatrix(const SparsityDataImpl<T> &data) const;
  CSRMatrix<T>
  sparsityDataImplToCSRMatrix(const SparsityDataImpl<T> &data) const;
  CSCMatrix<T>
  sparsityDataImplToCSCMatrix(const SparsityDataImpl<T> &data) const;

private:
  TensorMetaData metaData_;
};

} // namespace dynamic

namespace static_ {

// The values alone: where they are is part of the program.
template <typename T> class Partitioner {
public:
  Partitioner(const MatMulParams &params, const poplar::Type &dataType,
              const poplar::Target &target, const poplar::OptionFlags &options,
              PlanningCache *cache = nullptr, const std::string &name = "");

  std::vector<T> createSparsityDataImpl(const COOMatrix<T> &matrix) const;
  std::vector<T> createSparsityDataImpl(const CSRMatrix<T> &matrix) const;
  std::vector<T> createSparsityDataImpl(const CSCMatrix<T> &matrix) const;

private:
  TensorMetaData metaData_; // blocks are the matrix's own
};

} // namespace static_
} // namespace popsparse
