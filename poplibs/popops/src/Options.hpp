// Checks of the options that popops functions take.
#pragma once

#include <poplar/OptionFlags.hpp>

#include <span>
#include <string_view>

namespace popops::internal {

struct OptionRule {
  enum class Kind { Boolean, PartialsType, Number };
  std::string_view name;
  Kind kind;
};

// Throws invalid_option for an option without a rule, or with a value that its
// rule does not allow.
void checkOptions(const poplar::OptionFlags &options,
                  std::span<const OptionRule> rules);

} // namespace popops::internal
