// The exceptions that PopART documents.
#pragma once

#include <popart/formattext.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace popart {

// The user asked for something that cannot be done.
class error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
  // error("{} has rank {}", name, rank), as custom operators write it.
  template <typename First, typename... Rest>
  error(const std::string &text, const First &first, const Rest &...rest)
      : std::runtime_error(formatText(text, first, rest...)) {}
};

// A broken invariant of PopART's own.
class internal_error : public error {
public:
  using error::error;
};

// Something went wrong while a program ran.
class runtime_error : public error {
public:
  using error::error;
};

// The program does not fit the device's memory. `getSummaryReport` tells where
// the memory goes.
class memory_allocation_err : public error {
public:
  // `summary` is empty unless the engine option debug.allowOutOfMemory asked
  // for it.
  explicit memory_allocation_err(const std::string &message,
                                 std::string summary = "")
      : error(message), summary_(std::move(summary)) {}

  // Throws popart::error when there is none.
  std::string getSummaryReport() const;

private:
  std::string summary_;
};

} // namespace popart
