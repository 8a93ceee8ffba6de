// The element types' names and sizes.
#include <popart/tensorinfo.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>

#include <array>

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
