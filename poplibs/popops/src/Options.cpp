#include "Options.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace popops::internal {

using poplar::invalid_option;
using support::requireUser;

namespace {

void checkChoice(const std::string &name, const std::string &value,
                 std::string_view first, std::string_view second) {
  requireUser<invalid_option>(value == first || value == second,
                              "Invalid value '{}' for option '{}': Not one of "
                              "the values: ['{}', '{}']",
                              value, name, first, second);
}

void checkNumber(const std::string &name, const std::string &value) {
  char *end = nullptr;
  std::strtod(value.c_str(), &end);
  requireUser<invalid_option>(
      !value.empty() && *end == '\0',
      "Invalid value '{}' for option '{}': Not a floating point number", value,
      name);
}

} // namespace

void checkOptions(const poplar::OptionFlags &options,
                  std::span<const OptionRule> rules) {
  for (const auto &option : options) {
    const std::string &name = option.first;
    const auto rule =
        std::find_if(rules.begin(), rules.end(), [&](const OptionRule &known) {
          return known.name == name;
        });
    requireUser<invalid_option>(rule != rules.end(), "Unrecognised option '{}'",
                                name);
    switch (rule->kind) {
    case OptionRule::Kind::Boolean:
      checkChoice(name, option.second, "true", "false");
      break;
    case OptionRule::Kind::PartialsType:
      checkChoice(name, option.second, "float", "half");
      break;
    case OptionRule::Kind::Number:
      checkNumber(name, option.second);
      break;
    }
  }
}

} // namespace popops::internal
