// Checks options by name and value against a list of those that there are.
#pragma once

#include <poplar/OptionFlags.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace poplar::engine {

enum class OptionValues : std::uint8_t {
  Boolean,
  Integer,
  Natural, // an integer that is not negative
  Number,  // with a decimal point or without, not negative
  Pattern, // a regular expression
  Text,
  OneOf,
};

struct OptionRule {
  std::string_view name;
  OptionValues values = OptionValues::Text;
  // OneOf: the words, with '|' between them. Other kinds: words that are taken
  // as well.
  std::string_view words = {};
};

// Throws invalid_option, naming the option that is in none of `tables` or the
// value that its rule does not allow.
void checkOptions(const OptionFlags &options,
                  std::initializer_list<std::span<const OptionRule>> tables);

} // namespace poplar::engine
