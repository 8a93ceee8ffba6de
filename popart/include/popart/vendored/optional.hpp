// A value or none, as programs for C++11 have it; std::optional needs C++17.
#pragma once

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace nonstd {

struct nullopt_t {
  struct Tag {};
  constexpr explicit nullopt_t(Tag) {}
};
constexpr nullopt_t nullopt{nullopt_t::Tag{}};

class bad_optional_access : public std::exception {
public:
  const char *what() const noexcept override { return "bad optional access"; }
};

template <typename T> class optional {
public:
  using value_type = T;

  optional() noexcept {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::optional
  optional(nullopt_t) noexcept {}
  // NOLINTNEXTLINE(google-explicit-constructor): an argument is a plain value
  optional(T value) { emplace(std::move(value)); }
  optional(const optional &other) {
    if (other) {
      emplace(*other);
    }
  }
  optional(optional &&other) noexcept(
      std::is_nothrow_move_constructible<T>::value) {
    if (other) {
      emplace(std::move(*other));
    }
  }
  ~optional() { reset(); }

  optional &operator=(nullopt_t) noexcept {
    reset();
    return *this;
  }
  optional &operator=(const optional &other) {
    if (this != &other) {
      reset();
      if (other) {
        emplace(*other);
      }
    }
    return *this;
  }
  optional &operator=(optional &&other) noexcept(
      std::is_nothrow_move_constructible<T>::value) {
    if (this != &other) {
      reset();
      if (other) {
        emplace(std::move(*other));
      }
    }
    return *this;
  }

  bool has_value() const noexcept { return hasValue_; }
  explicit operator bool() const noexcept { return hasValue_; }
  // Only when there is a value.
  T &operator*() noexcept { return *place(); }
  const T &operator*() const noexcept { return *place(); }
  T *operator->() noexcept { return place(); }
  const T *operator->() const noexcept { return place(); }

  T &value() { return *checked(*this).place(); }
  const T &value() const { return *checked(*this).place(); }
  T value_or(T fallback) const { return hasValue_ ? *place() : fallback; }

  template <typename... Args> T &emplace(Args &&...args) {
    reset();
    T *made = new (&storage_) T(std::forward<Args>(args)...);
    hasValue_ = true;
    return *made;
  }
  void reset() noexcept {
    if (hasValue_) {
      hasValue_ = false;
      place()->~T();
    }
  }

  // Nothing is equal to nothing, and less than any value.
  friend bool operator==(const optional &a, const optional &b) {
    return a.hasValue_ == b.hasValue_ && (!a.hasValue_ || *a == *b);
  }
  friend bool operator!=(const optional &a, const optional &b) {
    return !(a == b);
  }
  friend bool operator<(const optional &a, const optional &b) {
    return b.hasValue_ && (!a.hasValue_ || *a < *b);
  }

private:
  template <typename Self> static Self &checked(Self &self) {
    if (!self.hasValue_) {
      throw bad_optional_access();
    }
    return self;
  }
  T *place() noexcept { return reinterpret_cast<T *>(&storage_); }
  const T *place() const noexcept {
    return reinterpret_cast<const T *>(&storage_);
  }

  typename std::aligned_storage<sizeof(T), alignof(T)>::type storage_;
  bool hasValue_ = false;
};

template <typename T>
optional<typename std::decay<T>::type> make_optional(T &&value) {
  return optional<typename std::decay<T>::type>(std::forward<T>(value));
}

} // namespace nonstd
