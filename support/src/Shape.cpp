#include <support/Shape.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace support {

std::int64_t elementCount(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (auto extent : shape) {
    count *= extent;
  }
  return count;
}

Strides rowMajorStrides(std::span<const std::int64_t> shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::string toString(std::span<const std::int64_t> shape) {
  return fmt::format("{{{}}}", fmt::join(shape, ","));
}

} // namespace support
