#include "Reference.hpp"

#include <support/Error.hpp>
#include <support/Half.hpp>

#include <cstring>

namespace kernels {

namespace {

template <typename T> double loadAs(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

template <typename T> void storeAs(std::byte *to, double value) {
  T typed;
  if constexpr (std::is_integral_v<T>) {
    typed = static_cast<T>(static_cast<std::int64_t>(value));
  } else {
    typed = static_cast<T>(value);
  }
  std::memcpy(to, &typed, sizeof typed);
}

} // namespace

std::byte *View::at(std::span<const std::int64_t> index) const {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    offset += index[d] * spec_->strides[d];
  }
  return data_ + offset * static_cast<std::int64_t>(sizeOf(spec_->type));
}

double View::load(std::span<const std::int64_t> index) const {
  const std::byte *from = at(index);
  switch (spec_->type) {
  case DataType::Float:
    return loadAs<float>(from);
  case DataType::Half: {
    support::Half value;
    std::memcpy(&value, from, sizeof value);
    return static_cast<float>(value);
  }
  case DataType::Int:
    return loadAs<std::int32_t>(from);
  case DataType::UnsignedInt:
    return loadAs<std::uint32_t>(from);
  case DataType::UnsignedChar:
    return loadAs<std::uint8_t>(from);
  default:
    break;
  }
  throw support::InternalError("internal error: no reference reads type " +
                               std::string(support::toString(spec_->type)));
}

void View::store(std::span<const std::int64_t> index, double value) const {
  std::byte *to = at(index);
  switch (spec_->type) {
  case DataType::Float:
    return storeAs<float>(to, value);
  case DataType::Half: {
    const support::Half half(static_cast<float>(value));
    std::memcpy(to, &half, sizeof half);
    return;
  }
  case DataType::Int:
    return storeAs<std::int32_t>(to, value);
  case DataType::UnsignedInt:
    return storeAs<std::uint32_t>(to, value);
  case DataType::UnsignedChar:
    return storeAs<std::uint8_t>(to, value);
  default:
    break;
  }
  throw support::InternalError("internal error: no reference writes type " +
                               std::string(support::toString(spec_->type)));
}

double View::scalar() const {
  const Shape zeros(spec_->shape.size(), 0);
  return load(zeros);
}

void View::setScalar(double value) const {
  const Shape zeros(spec_->shape.size(), 0);
  store(zeros, value);
}

View inputView(const ReferenceCall &call, std::size_t input) {
  return {call.signature.inputs[input], call.data[input]};
}

View outputView(const ReferenceCall &call, std::size_t output) {
  return {call.signature.outputs[output],
          call.data[call.signature.inputs.size() + output]};
}

void readWords(const View &view, std::uint32_t *words) {
  forEachIndex(view.shape(), [&](std::span<const std::int64_t> index) {
    std::memcpy(words++, view.at(index), sizeof *words);
  });
}

void writeWords(const View &view, const std::uint32_t *words) {
  forEachIndex(view.shape(), [&](std::span<const std::int64_t> index) {
    std::memcpy(view.at(index), words++, sizeof *words);
  });
}

} // namespace kernels
