#include "GuardedBuffer.hpp"

#include <support/Half.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace kernels::testing {

namespace {

// Bytes around every operand that nobody may change.
constexpr std::size_t guard = 128;
constexpr auto guardByte = std::byte{0xa5};
// Lowest and highest offset of an operand's elements.
struct Extent {
  std::int64_t low = 0, high = 0;
};
Extent extentOf(const OperandSpec &spec) {
  if (spec.layout != Layout::Plain) {
    return {0, storageElements(spec.layout, spec.shape) - 1};
  }
  Extent extent;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    const auto reach = (spec.shape[d] - 1) * spec.strides[d];
    extent.low += std::min<std::int64_t>(0, reach);
    extent.high += std::max<std::int64_t>(0, reach);
  }
  return extent;
}

template <typename T> void put(std::byte *to, double value) {
  const auto typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof typed);
}
template <typename T> double get(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

} // namespace

std::int64_t offsetOf(const OperandSpec &spec, std::int64_t index) {
  Shape at(spec.shape.size());
  for (std::size_t d = spec.shape.size(); d-- > 0;) {
    at[d] = index % spec.shape[d];
    index /= spec.shape[d];
  }
  const auto places = placesOf(spec);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto [block, outer, inner] = places[d];
    offset += at[d] / block * outer + at[d] % block * inner;
  }
  return offset;
}

void storeElement(DataType type, std::byte *to, double value) {
  switch (type) {
  case DataType::Float:
    return put<float>(to, value);
  case DataType::Half:
    return put<std::uint16_t>(
        to, support::floatToHalfBits(static_cast<float>(value)));
  case DataType::Int:
    return put<std::int32_t>(to, value);
  case DataType::UnsignedInt:
    return put<std::uint32_t>(to, value);
  case DataType::Bool:
  case DataType::UnsignedChar:
  case DataType::Quarter: // its bits
    return put<std::uint8_t>(to, value);
  case DataType::Char:
  case DataType::SignedChar:
    return put<std::int8_t>(to, value);
  case DataType::Short:
    return put<std::int16_t>(to, value);
  case DataType::UnsignedShort:
    return put<std::uint16_t>(to, value);
  case DataType::LongLong:
    return put<std::int64_t>(to, value);
  case DataType::UnsignedLongLong:
    return put<std::uint64_t>(to, value);
  default:
    FAIL() << "no test data of type " << support::toString(type);
  }
}

double loadElement(DataType type, const std::byte *from) {
  switch (type) {
  case DataType::Float:
    return get<float>(from);
  case DataType::Half:
    return support::halfBitsToFloat(
        static_cast<std::uint16_t>(get<std::uint16_t>(from)));
  case DataType::Int:
    return get<std::int32_t>(from);
  case DataType::UnsignedInt:
    return get<std::uint32_t>(from);
  case DataType::Bool:
  case DataType::UnsignedChar:
  case DataType::Quarter:
    return get<std::uint8_t>(from);
  case DataType::Char:
  case DataType::SignedChar:
    return get<std::int8_t>(from);
  case DataType::Short:
    return get<std::int16_t>(from);
  case DataType::UnsignedShort:
    return get<std::uint16_t>(from);
  case DataType::LongLong:
    return get<std::int64_t>(from);
  case DataType::UnsignedLongLong:
    return get<std::uint64_t>(from);
  default:
    ADD_FAILURE() << "no test data of type " << support::toString(type);
    return 0;
  }
}

GuardedBuffer::GuardedBuffer(const OperandSpec &spec) {
  const auto [low, high] = extentOf(spec);
  const auto size = static_cast<std::int64_t>(sizeOf(spec.type));
  first_ = -low * size;
  bytes_ = static_cast<std::size_t>((high - low + 1) * size);
  memory_.assign(bytes_ + 2 * guard + 64, guardByte);
  std::fill_n(lowest(), bytes_, poison);
}

GuardedBuffer::GuardedBuffer(const GuardedBuffer &other)
    : first_(other.first_), bytes_(other.bytes_),
      memory_(other.memory_.size(), guardByte) {
  std::copy_n(other.lowest(), bytes_, lowest());
}

std::byte *GuardedBuffer::lowest() {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  return memory_.data() + guard + (64 - (address + guard) % 64) % 64;
}

bool GuardedBuffer::isGuardIntact() const {
  const auto isUntouched = [](std::byte b) { return b == guardByte; };
  const std::byte *begin = memory_.data();
  return std::all_of(begin, lowest(), isUntouched) &&
         std::all_of(lowest() + bytes_, begin + memory_.size(), isUntouched);
}

} // namespace kernels::testing
