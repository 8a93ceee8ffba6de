// The largest and lowest values of element types, as C++ types that hold them.
#include <poplar/Target.hpp>

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <cstdint>
#include <limits>

namespace poplar {
namespace {

// Holds every limit exactly: those of 64-bit integers need 64 bits.
using Exact = long double;
static_assert(std::numeric_limits<Exact>::digits >= 64);

struct Limits {
  Exact lowest;
  Exact largest;
};

template <typename T> Limits limitsOfHost() {
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}

Limits limitsOf(const Type &type) {
  switch (type.code()) {
  case Type::Code::Bool:
    return limitsOfHost<bool>();
  case Type::Code::Char: // signed on the device
  case Type::Code::SignedChar:
    return limitsOfHost<std::int8_t>();
  case Type::Code::UnsignedChar:
    return limitsOfHost<std::uint8_t>();
  case Type::Code::Short:
    return limitsOfHost<std::int16_t>();
  case Type::Code::UnsignedShort:
    return limitsOfHost<std::uint16_t>();
  case Type::Code::Int:
    return limitsOfHost<std::int32_t>();
  case Type::Code::UnsignedInt:
    return limitsOfHost<std::uint32_t>();
  case Type::Code::LongLong:
    return limitsOfHost<std::int64_t>();
  case Type::Code::UnsignedLongLong:
    return limitsOfHost<std::uint64_t>();
  case Type::Code::Half:
    return {-65504, 65504};
  case Type::Code::Float:
    return limitsOfHost<float>();
  default: // no device has them, or metadata says what they reach
    throw poplar_error("[poplar::Target] the type " +
                       type.toString().cloneAsString() +
                       " has no limits of its own");
  }
}

template <typename T> T exactly(Exact limit, const Type &type) {
  const bool isInRange = limit >= std::numeric_limits<T>::lowest() &&
                         limit <= std::numeric_limits<T>::max();
  support::requireUser<poplar_error>(
      isInRange && static_cast<Exact>(static_cast<T>(limit)) == limit,
      "[poplar::Target] the limit {} of {} is no value of the C++ type asked "
      "for",
      limit, type.toString().cloneAsString());
  return static_cast<T>(limit);
}

} // namespace

template <typename T> T Target::getTypeLimitsMaxAs(const Type &type) const {
  return exactly<T>(limitsOf(type).largest, type);
}

template <typename T> T Target::getTypeLimitsLowestAs(const Type &type) const {
  return exactly<T>(limitsOf(type).lowest, type);
}

#define POPLAR_INSTANTIATE(T)                                                  \
  template T Target::getTypeLimitsMaxAs<T>(const Type &) const;                \
  template T Target::getTypeLimitsLowestAs<T>(const Type &) const;
POPLAR_INSTANTIATE(bool)
POPLAR_INSTANTIATE(char)
POPLAR_INSTANTIATE(signed char)
POPLAR_INSTANTIATE(unsigned char)
POPLAR_INSTANTIATE(short)
POPLAR_INSTANTIATE(unsigned short)
POPLAR_INSTANTIATE(int)
POPLAR_INSTANTIATE(unsigned)
POPLAR_INSTANTIATE(long)
POPLAR_INSTANTIATE(unsigned long)
POPLAR_INSTANTIATE(long long)
POPLAR_INSTANTIATE(unsigned long long)
POPLAR_INSTANTIATE(float)
POPLAR_INSTANTIATE(double)
#undef POPLAR_INSTANTIATE

} // namespace poplar
