// Messages with "{}" in the place of values, for headers that are C++14.
#pragma once

#include <sstream>
#include <string>

namespace popart {
namespace internal {

inline void formatRest(std::ostream &out, const std::string &text,
                       std::size_t from) {
  out << text.substr(from);
}

template <typename First, typename... Rest>
void formatRest(std::ostream &out, const std::string &text, std::size_t from,
                const First &first, const Rest &...rest) {
  std::size_t open = text.find('{', from);
  std::size_t close = text.find('}', open);
  if (close == std::string::npos) {
    out << text.substr(from);
    return;
  }
  out << text.substr(from, open - from) << first;
  formatRest(out, text, close + 1, rest...);
}

} // namespace internal

// What is between the braces is ignored: every value is printed in full.
template <typename... Args>
std::string formatText(const std::string &text, const Args &...args) {
  std::ostringstream out;
  internal::formatRest(out, text, 0, args...);
  return out.str();
}

} // namespace popart
