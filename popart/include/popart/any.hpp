// A value of any type, for maps of attributes; std::any needs C++17.
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace popart {

class any {
public:
  any() = default;
  template <
      typename T, typename Held = typename std::decay<T>::type,
      typename = typename std::enable_if<!std::is_same<Held, any>::value>::type>
  // NOLINTNEXTLINE(google-explicit-constructor): {"alpha", 0.1f} is a pair
  any(T &&value)
      : holder_(std::make_shared<Holder<Held>>(std::forward<T>(value))) {}

  bool has_value() const { return holder_ != nullptr; }
  const std::type_info &type() const {
    return holder_ ? holder_->type() : typeid(void);
  }

private:
  struct Base {
    virtual ~Base() = default;
    virtual const std::type_info &type() const = 0;
  };
  template <typename T> struct Holder : Base {
    explicit Holder(T value) : value(std::move(value)) {}
    const std::type_info &type() const override { return typeid(T); }
    T value;
  };
  template <typename T> friend const T *any_cast(const any *value);

  std::shared_ptr<const Base> holder_; // never changed: copies may share it
};

// Null unless it holds exactly a T.
template <typename T> const T *any_cast(const any *value) {
  return value->type() == typeid(T)
             ? &static_cast<const any::Holder<T> &>(*value->holder_).value
             : nullptr;
}

template <typename T> T any_cast(const any &value) {
  const T *held = any_cast<T>(&value);
  if (!held) {
    throw std::bad_cast();
  }
  return *held;
}

} // namespace popart
