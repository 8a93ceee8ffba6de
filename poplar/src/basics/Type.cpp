#include <poplar/Type.hpp>

#include <poplar/internal/Access.hpp>
#include <support/Error.hpp>

#include <array>
#include <string_view>

namespace poplar {
namespace {

using Code = Type::Code;
using support::DataType;

struct TypeRow {
  Code code;
  std::string_view name;
  bool isOnDevice;
  DataType dataType; // if isOnDevice
};

// In the order of Type::Code.
constexpr std::array<TypeRow, 17> typeTable = {{
    {Code::Bool, "bool", true, DataType::Bool},
    {Code::Char, "char", true, DataType::Char},
    {Code::SignedChar, "signed char", true, DataType::SignedChar},
    {Code::UnsignedChar, "unsigned char", true, DataType::UnsignedChar},
    {Code::Short, "short", true, DataType::Short},
    {Code::UnsignedShort, "unsigned short", true, DataType::UnsignedShort},
    {Code::Int, "int", true, DataType::Int},
    {Code::UnsignedInt, "unsigned int", true, DataType::UnsignedInt},
    {Code::Long, "long", false, {}},
    {Code::UnsignedLong, "unsigned long", false, {}},
    {Code::LongLong, "long long", true, DataType::LongLong},
    {Code::UnsignedLongLong, "unsigned long long", true,
     DataType::UnsignedLongLong},
    {Code::Quarter, "quarter", true, DataType::Quarter},
    {Code::QuarterMetadata, "quarter_metadata", false, {}},
    {Code::Half, "half", true, DataType::Half},
    {Code::Float, "float", true, DataType::Float},
    {Code::Double, "double", false, {}},
}};

const TypeRow &rowOf(Type type) {
  return typeTable[static_cast<std::size_t>(type.code())];
}

} // namespace

StringRef Type::toString() const {
  auto name = rowOf(*this).name;
  return StringRef(name.data(), name.size());
}

bool Type::isFloatingPoint() const {
  return *this == FLOAT || *this == HALF || *this == QUARTER ||
         code_ == Code::Double;
}

bool Type::requiresMetadata() const {
  return *this == QUARTER;
}

namespace internal {

DataType toDataType(const Type &type) {
  const TypeRow &row = rowOf(type);
  support::requireUser<type_error>(
      row.isOnDevice, "[poplar::Type] {} is not an element type of any device",
      row.name);
  return row.dataType;
}

Type toType(DataType type) {
  for (const TypeRow &row : typeTable) {
    if (row.isOnDevice && row.dataType == type) {
      return Type(row.code);
    }
  }
  throw support::InternalError("internal error: no Type for this DataType");
}

} // namespace internal
} // namespace poplar
