// The exception of PopTorch's own C++ code: poptorch_cpp_error in Python.
#pragma once

#include <stdexcept>

namespace poptorch {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace poptorch
