// How the profile summary writes numbers and headings.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace poplar::profile {

std::string thousands(std::uint64_t value);     // 1,234,567
std::string decimal(double value);              // 1,234.5
std::string percent(double part, double whole); // 12.3%
std::string memorySize(std::uint64_t bytes);    // 624.0 kB, 897.0 MB, 3.5 GB

// "  <label>:      <value>" with the value right-aligned to end at `column`.
std::string rightAligned(unsigned indent, std::string_view label,
                         std::string_view value, unsigned column);

// What is usual when nobody says: on terminals, unless CLICOLOR is 0, and
// anywhere when CLICOLOR_FORCE is set and not 0.
bool wantsColours(const std::ostream &stream);
// Bold when colours are wanted.
std::string heading(std::string_view text, bool colours);
// Red when colours are wanted.
std::string alarm(std::string_view text, bool colours);

} // namespace poplar::profile
