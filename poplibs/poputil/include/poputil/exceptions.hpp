// What the libraries throw when an operation cannot be built.
#pragma once

#include <stdexcept>
#include <string>

namespace poputil {

struct poplibs_error : std::runtime_error {
  explicit poplibs_error(const std::string &message)
      : std::runtime_error(message), type("poplibs_error") {}
  explicit poplibs_error(const char *message)
      : poplibs_error(std::string(message)) {}

  std::string type;
};

} // namespace poputil
