// The name that a user gives to a tensor or an operation, for messages and
// reports.
#pragma once

#include <string>
#include <utility>

namespace popart {

class DebugContext {
public:
  DebugContext() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a plain name is a context
  DebugContext(std::string name) : name_(std::move(name)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a plain name is a context
  DebugContext(const char *name) : name_(name) {}

  const std::string &getPathName() const { return name_; }

private:
  std::string name_;
};

} // namespace popart
