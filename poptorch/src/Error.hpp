// The exception of PopTorch's own C++ code, poptorch_cpp_error in Python, and
// where on their way to Python exceptions came by.
#pragma once

#include <exception>
#include <stdexcept>
#include <utility>

namespace poptorch {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// A place that an exception, which it holds, left.
class LeftPlace : public std::nested_exception {
public:
  explicit LeftPlace(const char *name) : name_(name) {}
  const char *name() const { return name_; }

private:
  const char *name_;
};

// Does something in a place that errors are to name.
template <typename F> decltype(auto) within(const char *place, F &&function) {
  try {
    return std::forward<F>(function)();
  } catch (...) {
    throw LeftPlace(place);
  }
}

} // namespace poptorch
