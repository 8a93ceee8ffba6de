// Text as users spell it.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace support {

inline std::string lowerCase(std::string_view text) {
  std::string lower;
  for (unsigned char c : text) {
    lower += static_cast<char>(std::tolower(c));
  }
  return lower;
}

} // namespace support
