// Half-open ranges [begin, end), mostly of the elements of a flattened tensor.
#pragma once

#include <cstddef>
#include <ostream>
#include <utility>

namespace poplar {

template <typename T> struct GenericInterval {
  GenericInterval() : begin_(), end_() {}
  GenericInterval(T begin, T end)
      : begin_(std::move(begin)), end_(std::move(end)) {}

  const T &begin() const { return begin_; }
  const T &end() const { return end_; }
  T size() const { return end_ - begin_; }

  // Lexicographic: by begin, then by end.
  friend bool operator==(const GenericInterval &a, const GenericInterval &b) {
    return a.begin_ == b.begin_ && a.end_ == b.end_;
  }
  friend bool operator!=(const GenericInterval &a, const GenericInterval &b) {
    return !(a == b);
  }
  friend bool operator<(const GenericInterval &a, const GenericInterval &b) {
    return a.begin_ < b.begin_ || (a.begin_ == b.begin_ && a.end_ < b.end_);
  }
  friend bool operator>(const GenericInterval &a, const GenericInterval &b) {
    return b < a;
  }
  friend bool operator<=(const GenericInterval &a, const GenericInterval &b) {
    return !(b < a);
  }
  friend bool operator>=(const GenericInterval &a, const GenericInterval &b) {
    return !(a < b);
  }
  friend std::ostream &operator<<(std::ostream &stream,
                                  const GenericInterval &interval) {
    return stream << '[' << interval.begin_ << ',' << interval.end_ << ')';
  }

private:
  T begin_;
  T end_;
};

using Interval = GenericInterval<std::size_t>;

} // namespace poplar
