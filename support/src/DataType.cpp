#include <support/DataType.hpp>

namespace support {

std::string_view toString(DataType type) {
  switch (type) {
  case DataType::Bool:
    return "bool";
  case DataType::Char:
    return "char";
  case DataType::SignedChar:
    return "signed char";
  case DataType::UnsignedChar:
    return "unsigned char";
  case DataType::Short:
    return "short";
  case DataType::UnsignedShort:
    return "unsigned short";
  case DataType::Int:
    return "int";
  case DataType::UnsignedInt:
    return "unsigned int";
  case DataType::LongLong:
    return "long long";
  case DataType::UnsignedLongLong:
    return "unsigned long long";
  case DataType::Quarter:
    return "quarter";
  case DataType::Half:
    return "half";
  case DataType::Float:
    return "float";
  }
  return "?";
}

} // namespace support
