// A borrowed, read-only range of consecutive elements: how the API takes
// vectors, arrays and braced lists alike. poplar::ArrayRef is this type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

namespace gccs {

// ArrayRef<const T> takes and gives what ArrayRef<T> does, and they convert
// into each other.
template <typename T> class ArrayRef {
public:
  using value_type = typename std::remove_const<T>::type;
  using size_type = std::size_t;
  using const_iterator = const T *;
  using iterator = const_iterator;

  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  // A literal 0 must never become an empty range.
  ArrayRef(std::nullptr_t) = delete;
  constexpr ArrayRef(const T *data, std::size_t size)
      : data_(data), size_(size) {}
  template <typename U, typename Allocator,
            typename = typename std::enable_if<
                std::is_convertible<U (*)[], const T (*)[]>::value>::type>
  ArrayRef(const std::vector<U, Allocator> &values)
      : data_(values.data()), size_(values.size()) {}
  template <typename U, typename = typename std::enable_if<
                            !std::is_same<U, T>::value &&
                            std::is_same<typename std::remove_const<U>::type,
                                         value_type>::value>::type>
  constexpr ArrayRef(ArrayRef<U> values)
      : data_(values.data()), size_(values.size()) {}
  template <std::size_t N>
  ArrayRef(const std::array<value_type, N> &values)
      : data_(values.data()), size_(N) {}
  template <std::size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
  // As long-lived as the list: meant for arguments.
  ArrayRef(std::initializer_list<value_type> values)
      : data_(nullptr), size_(values.size()) {
    data_ = values.begin();
  }

  constexpr const T *data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T &front() const { return data_[0]; }
  const T &back() const { return data_[size_ - 1]; }
  const T &operator[](std::size_t index) const { return data_[index]; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  std::size_t max_size() const {
    return std::numeric_limits<std::size_t>::max() / sizeof(T);
  }

  std::vector<value_type> cloneAsVector() const {
    return std::vector<value_type>(begin(), end());
  }

  friend bool operator==(ArrayRef a, ArrayRef b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(ArrayRef a, ArrayRef b) { return !(a == b); }

private:
  const T *data_;
  std::size_t size_;
};

} // namespace gccs
