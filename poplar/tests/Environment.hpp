// Environment variables that tests set.
#pragma once

#include <cstdlib>
#include <string>

namespace poplar::test {

// Sets an environment variable for as long as it lives.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment &) = delete;
  Environment &operator=(const Environment &) = delete;

private:
  const char *name_;
};

} // namespace poplar::test
