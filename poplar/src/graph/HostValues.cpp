#include "HostValues.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>
#include <support/Half.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace poplar::internal {
namespace {

using support::DataType;

// Calls f with a value of the C++ type that the host stores.
template <typename F> void withHostType(const Type &type, F &&f) {
  switch (type.code()) {
  case Type::Code::Bool:
    return f(bool());
  case Type::Code::Char:
  case Type::Code::SignedChar:
    return f(std::int8_t());
  case Type::Code::UnsignedChar:
    return f(std::uint8_t());
  case Type::Code::Short:
    return f(std::int16_t());
  case Type::Code::UnsignedShort:
    return f(std::uint16_t());
  case Type::Code::Int:
    return f(std::int32_t());
  case Type::Code::UnsignedInt:
    return f(std::uint32_t());
  case Type::Code::Long:
  case Type::Code::LongLong:
    return f(std::int64_t());
  case Type::Code::UnsignedLong:
  case Type::Code::UnsignedLongLong:
    return f(std::uint64_t());
  case Type::Code::Float:
    return f(float());
  case Type::Code::Double:
    return f(double());
  case Type::Code::Half:
  case Type::Code::Quarter:
  case Type::Code::QuarterMetadata:
    break;
  }
  throw type_error("[poplar] no host type holds " +
                   type.toString().cloneAsString() + " values");
}

// The same for the type that the device stores.
template <typename F> void withDeviceType(DataType type, F &&f) {
  switch (type) {
  case DataType::Bool:
    return f(bool());
  case DataType::Char:
  case DataType::SignedChar:
    return f(std::int8_t());
  case DataType::UnsignedChar:
    return f(std::uint8_t());
  case DataType::Short:
    return f(std::int16_t());
  case DataType::UnsignedShort:
    return f(std::uint16_t());
  case DataType::Int:
    return f(std::int32_t());
  case DataType::UnsignedInt:
    return f(std::uint32_t());
  case DataType::LongLong:
    return f(std::int64_t());
  case DataType::UnsignedLongLong:
    return f(std::uint64_t());
  case DataType::Half:
    return f(support::Half());
  case DataType::Float:
    return f(float());
  case DataType::Quarter:
    break;
  }
  throw type_error("[poplar] QUARTER values need their metadata");
}

// A float that rounds to the same half as `value` does: of the two floats
// around a value that is none itself, the one with an odd mantissa, which lies
// on no tie between halves.
float roundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const bool isOdd = (std::bit_cast<std::uint32_t>(nearest) & 1U) != 0;
  if (isOdd || std::isnan(value) || static_cast<double>(nearest) == value) {
    return nearest;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, value > nearest ? infinity : -infinity);
}

template <typename To, typename From> To convertValue(From value) {
  if constexpr (std::is_same_v<To, support::Half>) {
    return support::Half(roundToOdd(static_cast<double>(value)));
  } else if constexpr (std::is_same_v<From, support::Half>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Neither side need be aligned.
template <typename To, typename From>
void convertEach(const void *source, void *destination, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value,
                static_cast<const std::byte *>(source) + i * sizeof(From),
                sizeof(From));
    const To converted = convertValue<To>(value);
    std::memcpy(static_cast<std::byte *>(destination) + i * sizeof(To),
                &converted, sizeof(To));
  }
}

} // namespace

std::vector<std::byte> convertValues(DataType type, const Type &hostType,
                                     const void *values, std::size_t count) {
  std::vector<std::byte> bytes(count * support::sizeOf(type));
  withHostType(hostType, [&](auto hostZero) {
    withDeviceType(type, [&](auto deviceZero) {
      convertEach<decltype(deviceZero), decltype(hostZero)>(
          values, bytes.data(), count);
    });
  });
  return bytes;
}

void restoreValues(DataType type, const void *bytes, const Type &hostType,
                   void *values, std::size_t count) {
  withHostType(hostType, [&](auto hostZero) {
    withDeviceType(type, [&](auto deviceZero) {
      convertEach<decltype(hostZero), decltype(deviceZero)>(bytes, values,
                                                            count);
    });
  });
}

} // namespace poplar::internal
