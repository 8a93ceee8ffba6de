// A sparse matrix on the device: where its blocks are, and their values.
#pragma once

#include <poplar/Tensor.hpp>

#include <array>
#include <cstddef>

namespace popsparse {

// What the tensors of a sparse matrix stand for.
struct TensorMetaData {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::array<std::size_t, 2> blockDimensions = {{1, 1}};
  std::size_t numBlocks = 0; // that there is room for

  std::size_t blockSize() const {
    return blockDimensions[0] * blockDimensions[1];
  }
};

namespace dynamic {

// Which blocks there are may change while the program runs: a Partitioner makes
// the contents of both tensors from a matrix.
class SparseTensor {
public:
  SparseTensor() = default;
  SparseTensor(const poplar::Tensor &metaInfo, const poplar::Tensor &nzValues,
               const TensorMetaData &metaData = {})
      : metaInfo_(metaInfo), nzValues_(nzValues), metaData_(metaData) {}

  const poplar::Tensor &getMetaInfoTensor() const { return metaInfo_; }
  const poplar::Tensor &getNzValuesTensor() const { return nzValues_; }
  const TensorMetaData &getOpMetaData() const { return metaData_; }

private:
  poplar::Tensor metaInfo_; // UNSIGNED_SHORT: rows, then columns, of the blocks
  poplar::Tensor nzValues_;
  TensorMetaData metaData_;
};

} // namespace dynamic

namespace static_ {

// Which blocks there are is part of the program; their values are not.
class SparseTensor {
public:
  SparseTensor() = default;
  SparseTensor(const poplar::Tensor &metaInfo, const poplar::Tensor &nzValues,
               const TensorMetaData &metaData)
      : metaInfo_(metaInfo), nzValues_(nzValues), metaData_(metaData) {}

  const poplar::Tensor &getMetaInfoTensor() const { return metaInfo_; }
  const poplar::Tensor &getNzValuesTensor() const { return nzValues_; }
  const TensorMetaData &getOpMetaData() const { return metaData_; }

private:
  poplar::Tensor metaInfo_; // a constant
  poplar::Tensor nzValues_;
  TensorMetaData metaData_;
};

} // namespace static_
} // namespace popsparse
