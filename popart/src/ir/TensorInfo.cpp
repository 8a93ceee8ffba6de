// The element types' names and sizes.
#include <popart/tensorinfo.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <array>
#include <ostream>

namespace popart {
namespace {

struct TypeRow {
  DataType type;
  const char *name;
  const char *lowerCase;
  std::int64_t bytes;
};

constexpr std::array typeRows = {
    TypeRow{DataType::UINT8, "UINT8", "uint8", 1},
    TypeRow{DataType::INT8, "INT8", "int8", 1},
    TypeRow{DataType::UINT16, "UINT16", "uint16", 2},
    TypeRow{DataType::INT16, "INT16", "int16", 2},
    TypeRow{DataType::INT32, "INT32", "int32", 4},
    TypeRow{DataType::INT64, "INT64", "int64", 8},
    TypeRow{DataType::UINT32, "UINT32", "uint32", 4},
    TypeRow{DataType::UINT64, "UINT64", "uint64", 8},
    TypeRow{DataType::BOOL, "BOOL", "bool", 1},
    TypeRow{DataType::FLOAT, "FLOAT", "float32", 4},
    TypeRow{DataType::FLOAT16, "FLOAT16", "float16", 2},
    TypeRow{DataType::BFLOAT16, "BFLOAT16", "bfloat16", 2},
    TypeRow{DataType::DOUBLE, "DOUBLE", "float64", 8},
    TypeRow{DataType::COMPLEX64, "COMPLEX64", "complex64", 8},
    TypeRow{DataType::COMPLEX128, "COMPLEX128", "complex128", 16},
    TypeRow{DataType::STRING, "STRING", "string", 1},
    TypeRow{DataType::FLOAT8_143, "FLOAT8_143", "float8_143", 1},
    TypeRow{DataType::FLOAT8_152, "FLOAT8_152", "float8_152", 1},
    TypeRow{DataType::UNDEFINED, "UNDEFINED", "undefined", 0},
};

const TypeRow &rowOf(DataType type) {
  for (const TypeRow &row : typeRows) {
    if (row.type == type) {
      return row;
    }
  }
  return typeRows.back();
}

DataType typeNamed(const std::string &name) {
  for (const TypeRow &row : typeRows) {
    if (name == row.name) {
      return row.type;
    }
  }
  throw error(fmt::format("[TensorInfo] no data type is named '{}'; names are "
                          "upper case, for example FLOAT or INT32",
                          name));
}

} // namespace

TensorInfo::TensorInfo(DataType type, Shape shape)
    : type_(type), shape_(std::move(shape)) {
  for (std::int64_t dim : shape_) {
    support::requireUser<error>(
        dim >= 0, "[TensorInfo] shape {} has a negative dimension",
        support::toString(shape_));
  }
}

TensorInfo::TensorInfo(const std::string &type, Shape shape)
    : TensorInfo(typeNamed(type), std::move(shape)) {}

TensorInfo::TensorInfo(DataType type, Shape shape, Shape metaShape)
    : TensorInfo(type, std::move(shape)) {
  metaShape_ = std::move(metaShape);
}

// "(2,3)" or "[2,3]", with blanks anywhere.
Shape TensorInfo::parseShape(const std::string &text) {
  Shape shape;
  std::size_t at = 0;
  while ((at = text.find_first_of("0123456789", at)) != std::string::npos) {
    std::size_t end = text.find_first_not_of("0123456789", at);
    shape.push_back(std::stoll(text.substr(at, end - at)));
    at = end;
  }
  support::requireUser<error>(
      text.find_first_not_of("0123456789,()[] ") == std::string::npos,
      "[TensorInfo] '{}' is no shape; write (2,3)", text);
  return shape;
}

std::int64_t TensorInfo::dim(int i) const {
  support::requireUser<error>(0 <= i && i < rank(),
                              "[TensorInfo] there is no dimension {} in {}", i,
                              support::toString(shape_));
  return shape_[static_cast<std::size_t>(i)];
}

std::vector<std::size_t> TensorInfo::shape_szt() const {
  return {shape_.begin(), shape_.end()};
}

DataTypeInfo TensorInfo::getDataTypeInfo() const {
  const TypeRow &row = rowOf(type_);
  std::string name = row.name;
  bool isFixedPoint = name.find("INT") != std::string::npos || name == "BOOL";
  return {type_, static_cast<int>(row.bytes), isFixedPoint, name,
          row.lowerCase};
}

std::ostream &operator<<(std::ostream &out, const TensorInfo &info) {
  out << info.data_type() << " [";
  for (std::size_t d = 0; d < info.shape_.size(); ++d) {
    out << (d == 0 ? "" : " ") << info.shape_[d];
  }
  return out << ']';
}

std::ostream &operator<<(std::ostream &out, DataType type) {
  return out << rowOf(type).name;
}

#define ASPEN_TYPE_OF(CPP, TYPE)                                               \
  template <> DataType getDataType<CPP>() {                                    \
    return DataType::TYPE;                                                     \
  }
ASPEN_TYPE_OF(bool, BOOL)
ASPEN_TYPE_OF(std::int8_t, INT8)
ASPEN_TYPE_OF(std::int16_t, INT16)
ASPEN_TYPE_OF(std::int32_t, INT32)
ASPEN_TYPE_OF(std::int64_t, INT64)
ASPEN_TYPE_OF(std::uint8_t, UINT8)
ASPEN_TYPE_OF(std::uint16_t, UINT16)
ASPEN_TYPE_OF(std::uint32_t, UINT32)
ASPEN_TYPE_OF(std::uint64_t, UINT64)
ASPEN_TYPE_OF(float, FLOAT)
ASPEN_TYPE_OF(double, DOUBLE)
#undef ASPEN_TYPE_OF

std::int64_t TensorInfo::nelms() const {
  return support::elementCount(shape_);
}

std::int64_t TensorInfo::nbytes() const {
  return nelms() * rowOf(type_).bytes;
}

std::string TensorInfo::data_type() const {
  return rowOf(type_).name;
}

std::string TensorInfo::data_type_lcase() const {
  return rowOf(type_).lowerCase;
}

} // namespace popart
