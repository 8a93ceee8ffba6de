// How the profile summary writes numbers and headings.
#include "profile/Text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace poplar::profile {

namespace {

std::string groupDigits(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string coloured(std::string_view text, int code, bool colours) {
  return colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, text)
                 : std::string(text);
}

} // namespace

std::string thousands(std::uint64_t value) {
  return groupDigits(fmt::format("{}", value));
}

std::string decimal(double value) {
  const std::string text = fmt::format("{:.1f}", value);
  const std::size_t point = text.find('.');
  return groupDigits(text.substr(0, point)) + text.substr(point);
}

std::string percent(double part, double whole) {
  return fmt::format("{:.1f}%", whole == 0 ? 0.0 : 100 * part / whole);
}

std::string memorySize(std::uint64_t bytes) {
  const double kilobytes = static_cast<double>(bytes) / 1024;
  if (kilobytes < 1024) {
    return decimal(kilobytes) + " kB";
  }
  const double megabytes = kilobytes / 1024;
  return megabytes < 1024 ? decimal(megabytes) + " MB"
                          : decimal(megabytes / 1024) + " GB";
}

std::string rightAligned(unsigned indent, std::string_view label,
                         std::string_view value, unsigned column) {
  const std::size_t used = indent + label.size() + 1;
  const std::size_t width = column > used ? column - used : value.size() + 1;
  return fmt::format("{:{}}{}:{:>{}}", "", indent, label, value,
                     std::max(width, value.size() + 1));
}

bool wantsColours(const std::ostream &stream) {
  const auto isSet = [](const char *name, bool otherwise) {
    const char *value = std::getenv(name);
    return value == nullptr ? otherwise : std::string_view(value) != "0";
  };
  if (isSet("CLICOLOR_FORCE", false)) {
    return true;
  }
  const bool isTerminal =
      (&stream == &std::cout && isatty(STDOUT_FILENO) != 0) ||
      ((&stream == &std::cerr || &stream == &std::clog) &&
       isatty(STDERR_FILENO) != 0);
  return isTerminal && isSet("CLICOLOR", true);
}

std::string heading(std::string_view text, bool colours) {
  return coloured(text, 1, colours);
}

std::string alarm(std::string_view text, bool colours) {
  return coloured(text, 31, colours);
}

} // namespace poplar::profile
