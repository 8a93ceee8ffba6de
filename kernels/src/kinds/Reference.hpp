// How reference implementations see their operands: strided arrays whose
// elements are read and written as double, whatever their type.
#pragma once

#include <kernels/Kind.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>

namespace kernels {

class View {
public:
  View(const OperandSpec &spec, std::byte *data) : spec_(&spec), data_(data) {}

  const Shape &shape() const { return spec_->shape; }
  std::int64_t extent(std::size_t dimension) const {
    return spec_->shape[dimension];
  }
  DataType type() const { return spec_->type; }

  // The address of an element.
  std::byte *at(std::span<const std::int64_t> index) const;

  double load(std::span<const std::int64_t> index) const;
  // Rounds to the element's type.
  void store(std::span<const std::int64_t> index, double value) const;

  template <std::convertible_to<std::int64_t>... Index>
  double operator()(Index... index) const {
    const std::array<std::int64_t, sizeof...(Index)> at{index...};
    return load(at);
  }
  template <std::convertible_to<std::int64_t>... Index>
  void set(double value, Index... index) const {
    const std::array<std::int64_t, sizeof...(Index)> at{index...};
    store(at, value);
  }
  // The one element of a scalar, whose shape may be {} or {1}.
  double scalar() const;
  void setScalar(double value) const;

private:
  const OperandSpec *spec_;
  std::byte *data_;
};

View inputView(const ReferenceCall &call, std::size_t input);
View outputView(const ReferenceCall &call, std::size_t output);

// All elements of a view of 32-bit words of one dimension or none.
void readWords(const View &view, std::uint32_t *words);
void writeWords(const View &view, const std::uint32_t *words);

// Calls `visit` with every index of the shape, row-major.
template <typename Visit>
void forEachIndex(const Shape &shape, const Visit &visit) {
  const std::int64_t count = support::elementCount(shape);
  Shape index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(std::span<const std::int64_t>(index));
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) {
        break;
      }
      index[d] = 0;
    }
  }
}

} // namespace kernels
