// Small helpers that custom operators use: lists in messages and with other
// element types.
#pragma once

#include <ostream>
#include <string>
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

// The same numbers with another type: vXtoY<std::int64_t, std::size_t>(shape).
template <typename From, typename To>
std::vector<To> vXtoY(const std::vector<From> &values) {
  std::vector<To> result;
  result.reserve(values.size());
  for (const From &value : values) {
    result.push_back(static_cast<To>(value));
  }
  return result;
}

// The texts in their order, with a separator between them.
inline std::string join(const std::vector<std::string> &texts,
                        const std::string &separator) {
  std::string result;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    result += (i == 0 ? "" : separator) + texts[i];
  }
  return result;
}

} // namespace popart
