// The element type and shape of a tensor.
#pragma once

#include <popart/names.hpp>

#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

// What is known of an element type.
class DataTypeInfo {
public:
  DataTypeInfo(DataType type, int bytes, bool isFixedPoint, std::string name,
               std::string lowerCaseName)
      : type_(type), bytes_(bytes), isFixedPoint_(isFixedPoint),
        name_(std::move(name)), lowerCaseName_(std::move(lowerCaseName)) {}

  DataType type() const { return type_; }
  const int &nbytes() const { return bytes_; }
  const std::string &name() const { return name_; }
  const std::string &lcasename() const { return lowerCaseName_; }
  bool isFixedPoint() const { return isFixedPoint_; }

private:
  DataType type_;
  int bytes_;
  bool isFixedPoint_; // integers and BOOL
  std::string name_;
  std::string lowerCaseName_;
};

class TensorInfo {
public:
  TensorInfo() = default;
  TensorInfo(DataType type, Shape shape);
  // The shape as a replica has it, and that of the whole that it is a part of.
  TensorInfo(DataType type, Shape shape, Shape metaShape);
  // By name, for example TensorInfo("FLOAT", {2, 2}).
  TensorInfo(const std::string &type, Shape shape);
  // The shape as text, too: "(2,2)". A template, or {2, 2} would be a string.
  template <typename Text,
            typename = typename std::enable_if<
                std::is_convertible<const Text &, std::string>::value>::type>
  TensorInfo(const std::string &type, const Text &shape)
      : TensorInfo(type, parseShape(shape)) {}

  void set(DataType type) { type_ = type; }
  void set(DataType type, const Shape &shape) {
    *this = TensorInfo(type, shape);
  }
  void set(DataType type, const Shape &shape, const Shape &metaShape) {
    *this = TensorInfo(type, shape, metaShape);
  }
  bool isSet() const { return type_ != DataType::UNDEFINED; }

  DataType dataType() const { return type_; }
  const Shape &shape() const { return shape_; }
  const Shape &metaShape() const { return metaShape_; }
  std::vector<std::size_t> shape_szt() const;
  Rank rank() const { return static_cast<Rank>(shape_.size()); }
  // Throws popart::error beyond the last.
  std::int64_t dim(int i) const;
  DataTypeInfo getDataTypeInfo() const;
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

  // "FLOAT [2 3]"
  friend std::ostream &operator<<(std::ostream &out, const TensorInfo &info);

private:
  static Shape parseShape(const std::string &text);

  DataType type_ = DataType::UNDEFINED;
  Shape shape_;
  Shape metaShape_;
};

std::ostream &operator<<(std::ostream &out, DataType type);

// The element type that a C++ type stands for.
template <typename T> DataType getDataType();
template <> DataType getDataType<bool>();
template <> DataType getDataType<std::int8_t>();
template <> DataType getDataType<std::int16_t>();
template <> DataType getDataType<std::int32_t>();
template <> DataType getDataType<std::int64_t>();
template <> DataType getDataType<std::uint8_t>();
template <> DataType getDataType<std::uint16_t>();
template <> DataType getDataType<std::uint32_t>();
template <> DataType getDataType<std::uint64_t>();
template <> DataType getDataType<float>();
template <> DataType getDataType<double>();

// NumPy's broadcasting; throws popart::error, which starts with the name.
Shape npOut(const Shape &a, const Shape &b, const std::string &name = "");
TensorInfo npOut(const TensorInfo &a, const TensorInfo &b,
                 const std::string &name = "", bool checkDataType = true);
bool npBroadcastable(const Shape &a, const Shape &b);
// The dimensions of the result along which `in` was repeated.
std::vector<std::int64_t> npReductionAxis(const Shape &in, const Shape &out);
// Dimensions of size 1 go (all, or those named), or come: the axes of
// unsqueeze are those of the result, in order.
Shape squeeze(const Shape &shape);
Shape squeeze(const Shape &shape, const std::vector<std::int64_t> &axes);
Shape unsqueeze(const Shape &shape, const std::vector<std::int64_t> &axes);

} // namespace popart
