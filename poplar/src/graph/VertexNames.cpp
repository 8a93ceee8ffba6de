#include "VertexNames.hpp"

#include <string_view>

namespace poplar::internal {

std::string normaliseVertexName(StringRef name) {
  constexpr std::string_view separators = ",<>";
  const auto isSeparator = [&](char c) {
    return separators.find(c) != std::string_view::npos;
  };
  std::string result;
  result.reserve(name.size());
  for (char c : name) {
    if (c == ' ' && (result.empty() || isSeparator(result.back()))) {
      continue;
    }
    if (isSeparator(c)) {
      while (!result.empty() && result.back() == ' ') {
        result.pop_back();
      }
    }
    result.push_back(c);
  }
  while (!result.empty() && result.back() == ' ') {
    result.pop_back();
  }
  return result;
}

} // namespace poplar::internal
