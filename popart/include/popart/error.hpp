// The exceptions that PopART documents.
#pragma once

#include <stdexcept>
#include <string>

namespace popart {

// The user asked for something that cannot be done.
class error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// A broken invariant of PopART's own.
class internal_error : public error {
public:
  using error::error;
};

// The program does not fit the device's memory. `getSummaryReport` tells where
// the memory goes.
class memory_allocation_err : public error {
public:
  using error::error;
};

} // namespace popart
