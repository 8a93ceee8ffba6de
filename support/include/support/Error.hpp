// Checks that turn mistakes into exceptions: the user's by the type that the
// API documents, ours by InternalError.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace support {

// A broken invariant of our own: always a bug in Aspen, never the user's.
class InternalError : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

// Throws `Error` when `condition` is false. The message starts with the
// operation in brackets and names what was given, what was allowed and, where
// there is one, the next step.
template <typename Error, typename... Args>
void requireUser(bool condition, fmt::format_string<Args...> message,
                 Args &&...args) {
  if (!condition) {
    throw Error(fmt::format(message, std::forward<Args>(args)...));
  }
}

template <typename... Args>
void requireInternal(bool condition, fmt::format_string<Args...> message,
                     Args &&...args) {
  if (!condition) {
    throw InternalError("internal error: " +
                        fmt::format(message, std::forward<Args>(args)...));
  }
}

} // namespace support
