// The element types of the whole stack, their sizes and spellings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace support {

enum class DataType : std::uint8_t {
  Bool,
  Char,
  SignedChar,
  UnsignedChar,
  Short,
  UnsignedShort,
  Int,
  UnsignedInt,
  LongLong,
  UnsignedLongLong,
  Quarter,
  Half,
  Float,
};

// Bytes of one element, on the device and on the host alike.
constexpr std::size_t sizeOf(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::Char:
  case DataType::SignedChar:
  case DataType::UnsignedChar:
  case DataType::Quarter:
    return 1;
  case DataType::Short:
  case DataType::UnsignedShort:
  case DataType::Half:
    return 2;
  case DataType::Int:
  case DataType::UnsignedInt:
  case DataType::Float:
    return 4;
  case DataType::LongLong:
  case DataType::UnsignedLongLong:
    return 8;
  }
  return 0;
}

constexpr bool isFloatingPoint(DataType type) {
  return type == DataType::Float || type == DataType::Half ||
         type == DataType::Quarter;
}

// The C++ spelling that vertex names use, for example "unsigned int".
std::string_view toString(DataType type);

} // namespace support
