// The element types of tensors, as values.
#pragma once

#include <poplar/StringRef.hpp>

#include <cstddef>
#include <functional>
#include <ostream>
#include <type_traits>

namespace poplar {

class Type {
public:
  // What a Type stands for; programs use the objects below instead.
  enum class Code : unsigned char {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Quarter,
    QuarterMetadata,
    Half,
    Float,
    Double,
  };

  constexpr Type() : code_(Code::Float) {}
  constexpr explicit Type(Code code) : code_(code) {}

  constexpr Code code() const { return code_; }
  // The C++ spelling, as in the names of vertices: "unsigned int", "half".
  StringRef toString() const;
  bool isFloatingPoint() const;
  bool requiresMetadata() const;
  std::size_t hash() const { return static_cast<std::size_t>(code_); }

  friend constexpr bool operator==(Type a, Type b) {
    return a.code_ == b.code_;
  }
  friend constexpr bool operator!=(Type a, Type b) {
    return a.code_ != b.code_;
  }
  friend constexpr bool operator<(Type a, Type b) { return a.code_ < b.code_; }
  friend std::ostream &operator<<(std::ostream &stream, Type type) {
    return stream << type.toString();
  }

private:
  Code code_;
};

constexpr Type BOOL(Type::Code::Bool);
constexpr Type CHAR(Type::Code::Char);
constexpr Type SIGNED_CHAR(Type::Code::SignedChar);
constexpr Type UNSIGNED_CHAR(Type::Code::UnsignedChar);
constexpr Type SHORT(Type::Code::Short);
constexpr Type SIGNED_SHORT(Type::Code::Short);
constexpr Type UNSIGNED_SHORT(Type::Code::UnsignedShort);
constexpr Type INT(Type::Code::Int);
constexpr Type SIGNED_INT(Type::Code::Int);
constexpr Type SIGNED(Type::Code::Int);
constexpr Type UNSIGNED_INT(Type::Code::UnsignedInt);
constexpr Type UNSIGNED(Type::Code::UnsignedInt);
constexpr Type LONG(Type::Code::Long);
constexpr Type UNSIGNED_LONG(Type::Code::UnsignedLong);
constexpr Type LONGLONG(Type::Code::LongLong);
constexpr Type UNSIGNED_LONGLONG(Type::Code::UnsignedLongLong);
constexpr Type QUARTER(Type::Code::Quarter);
constexpr Type QUARTER_METADATA(Type::Code::QuarterMetadata);
constexpr Type HALF(Type::Code::Half);
constexpr Type FLOAT(Type::Code::Float);

// The device type that a host type travels as.
template <typename T> struct equivalent_device_type;
template <> struct equivalent_device_type<bool> { Type value = BOOL; };
template <> struct equivalent_device_type<char> { Type value = CHAR; };
template <> struct equivalent_device_type<signed char> {
  Type value = SIGNED_CHAR;
};
template <> struct equivalent_device_type<unsigned char> {
  Type value = UNSIGNED_CHAR;
};
template <> struct equivalent_device_type<short> { Type value = SHORT; };
template <> struct equivalent_device_type<unsigned short> {
  Type value = UNSIGNED_SHORT;
};
template <> struct equivalent_device_type<int> { Type value = INT; };
template <> struct equivalent_device_type<unsigned> {
  Type value = UNSIGNED_INT;
};
template <> struct equivalent_device_type<long> { Type value = LONG; };
template <> struct equivalent_device_type<unsigned long> {
  Type value = UNSIGNED_LONG;
};
template <> struct equivalent_device_type<long long> { Type value = LONGLONG; };
template <> struct equivalent_device_type<unsigned long long> {
  Type value = UNSIGNED_LONGLONG;
};
template <> struct equivalent_device_type<float> { Type value = FLOAT; };
template <> struct equivalent_device_type<double> {
  Type value = Type(Type::Code::Double);
};

} // namespace poplar

namespace std {
template <> struct hash<poplar::Type> {
  std::size_t operator()(const poplar::Type &type) const { return type.hash(); }
};
} // namespace std
