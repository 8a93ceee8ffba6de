// A value or none; std::optional needs C++17.
#pragma once

#include <utility>

namespace popart {

template <typename T> class optional {
public:
  optional() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an argument is a plain value
  optional(T value) : value_(std::move(value)), hasValue_(true) {}

  bool has_value() const { return hasValue_; }
  explicit operator bool() const { return hasValue_; }
  // Only when there is a value.
  const T &operator*() const { return value_; }
  const T &value() const { return value_; }

private:
  T value_ = T();
  bool hasValue_ = false;
};

} // namespace popart
