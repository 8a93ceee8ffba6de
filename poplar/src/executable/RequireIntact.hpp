// The check of everything that an executable's file says.
#pragma once

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

namespace poplar::executable {

// Throws poplar_error unless what a file says makes sense.
template <typename... Args>
void requireIntact(bool condition, fmt::format_string<Args...> message,
                   Args &&...args) {
  if (!condition) {
    throw poplar_error("[Executable::deserialize] the executable is damaged: " +
                       fmt::format(message, std::forward<Args>(args)...) +
                       "; compile the graph again");
  }
}

} // namespace poplar::executable
