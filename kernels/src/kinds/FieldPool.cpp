#include "FieldPool.hpp"

#include "Rules.hpp"

#include <algorithm>
#include <limits>

namespace kernels {

namespace {

constexpr auto anyNumber = std::numeric_limits<std::int64_t>::min();

PoolOp poolOp(std::string_view kind, const Attributes &attributes) {
  const auto &name =
      requireChoice(kind, attributes, "poolingType", {"MAX", "AVG", "SUM"});
  return name == "MAX"   ? PoolOp::Max
         : name == "AVG" ? PoolOp::Average
                         : PoolOp::Sum;
}

} // namespace

FieldPool::Dimension::Range
FieldPool::Dimension::outputsInside(std::int64_t k) const {
  const std::int64_t first = padLower - k; // 0 <= o * stride - first < in
  const std::int64_t last = in - 1 + first;
  const std::int64_t begin = first > 0 ? (first + stride - 1) / stride : 0;
  const std::int64_t end = last < 0 ? 0 : std::min(last / stride + 1, out);
  return {std::min(begin, end), end};
}

std::int64_t FieldPool::Dimension::elementsInside(std::int64_t o) const {
  const std::int64_t first = inputOf(o, 0);
  return std::max<std::int64_t>(
      std::min(first + kernel, in) - std::max<std::int64_t>(first, 0), 0);
}

std::int64_t FieldPool::planeInputs() const {
  std::int64_t elements = 1;
  for (const auto &dim : dims) {
    elements *= dim.in;
  }
  return elements;
}

std::int64_t FieldPool::planeOutputs() const {
  std::int64_t elements = 1;
  for (const auto &dim : dims) {
    elements *= dim.out;
  }
  return elements;
}

Shape FieldPool::outputShape() const {
  Shape shape{batch, channels};
  for (const auto &dim : dims) {
    shape.push_back(dim.out);
  }
  return shape;
}

Shape FieldPool::kernelShape() const {
  Shape shape;
  for (const auto &dim : dims) {
    shape.push_back(dim.kernel);
  }
  return shape;
}

FieldPool fieldPool(std::string_view kind, const Attributes &attributes,
                    const Shape &x) {
  require(x.size() >= 3,
          "[{}] x has shape {}; it must be [batch, channels, field...]", kind,
          support::toString(x));
  const std::size_t rank = x.size() - 2;
  const auto &kernel = requireInts(kind, attributes, "kernel", rank, 1);
  const auto &strides = requireInts(kind, attributes, "strides", rank, 1);
  const auto &lower =
      requireInts(kind, attributes, "padLower", rank, anyNumber);
  const auto &upper =
      requireInts(kind, attributes, "padUpper", rank, anyNumber);
  FieldPool pool{poolOp(kind, attributes), x[0], x[1], {}};
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t padded = x[d + 2] + lower[d] + upper[d];
    require(kernel[d] <= padded,
            "[{}] kernel has {} in field dimension {}; the padded or truncated "
            "input has {}",
            kind, kernel[d], d, padded);
    pool.dims.push_back({x[d + 2], (padded - kernel[d]) / strides[d] + 1,
                         kernel[d], strides[d], lower[d]});
  }
  return pool;
}

} // namespace kernels
