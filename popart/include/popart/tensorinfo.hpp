// The element type and shape of a tensor.
#pragma once

#include <popart/names.hpp>

#include <string>

namespace popart {

enum class DataType {
  UINT8 = 0,
  INT8,
  UINT16,
  INT16,
  INT32,
  INT64,
  UINT32,
  UINT64,
  BOOL,
  FLOAT,
  FLOAT16,
  BFLOAT16,
  DOUBLE,
  COMPLEX64,
  COMPLEX128,
  STRING,
  FLOAT8_143,
  FLOAT8_152,
  UNDEFINED,
};

class TensorInfo {
public:
  TensorInfo() = default;
  TensorInfo(DataType type, Shape shape);
  // By name, for example TensorInfo("FLOAT", {2, 2}).
  TensorInfo(const std::string &type, Shape shape);

  DataType dataType() const { return type_; }
  const Shape &shape() const { return shape_; }
  Rank rank() const { return static_cast<Rank>(shape_.size()); }
  std::int64_t dim(int i) const { return shape_.at(static_cast<size_t>(i)); }
  std::int64_t nelms() const;
  std::int64_t nbytes() const;
  std::string data_type() const;       // "FLOAT"
  std::string data_type_lcase() const; // "float32"

  friend bool operator==(const TensorInfo &a, const TensorInfo &b) {
    return a.type_ == b.type_ && a.shape_ == b.shape_;
  }
  friend bool operator!=(const TensorInfo &a, const TensorInfo &b) {
    return !(a == b);
  }

private:
  DataType type_ = DataType::UNDEFINED;
  Shape shape_;
};

} // namespace popart
