// Printing of lists, as custom operators do it in messages.
#pragma once

#include <ostream>
#include <vector>

namespace popart {

template <typename T>
std::ostream &operator<<(std::ostream &out, const std::vector<T> &values) {
  out << '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    out << (i == 0 ? "" : " ") << values[i];
  }
  return out << ']';
}

} // namespace popart
