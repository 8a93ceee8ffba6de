// Environment variables that tests set.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace poplar::test {

// Sets an environment variable for as long as it lives.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name_(name) {
    if (const char *old = std::getenv(name)) {
      old_ = old;
    }
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

private:
  const char *name_;
  std::optional<std::string> old_;
};

} // namespace poplar::test
