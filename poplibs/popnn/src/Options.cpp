#include "Options.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace popnn::internal {

using poplar::invalid_option;
using support::requireUser;

namespace {

void requireOneOf(const std::string &name, const std::string &value,
                  std::initializer_list<std::string_view> choices) {
  requireUser<invalid_option>(
      std::find(choices.begin(), choices.end(), value) != choices.end(),
      "Invalid value '{}' for option '{}': Not one of the values: ['{}']",
      value, name, fmt::join(choices, "', '"));
}

void requireNumber(const std::string &name, const std::string &value) {
  char *end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  requireUser<invalid_option>(
      !value.empty() && *end == '\0',
      "Invalid value '{}' for option '{}': Not a floating point number", value,
      name);
  requireUser<invalid_option>(number >= 0,
                              "Invalid value '{}' for option '{}': Value must "
                              "be greater than or equal to 0",
                              value, name);
}

} // namespace

Options::Options(const poplar::OptionFlags &flags,
                 std::initializer_list<OptionRule> rules)
    : flags_(flags) {
  for (const auto &[name, value] : flags) {
    const auto rule =
        std::find_if(rules.begin(), rules.end(),
                     [&](const auto &row) { return row.name == name; });
    requireUser<invalid_option>(rule != rules.end(), "Unrecognised option '{}'",
                                name);
    switch (rule->kind) {
    case OptionKind::Bool:
      requireOneOf(name, value, {"true", "false"});
      break;
    case OptionKind::Choice:
      requireOneOf(name, value, rule->choices);
      break;
    case OptionKind::Number:
      requireNumber(name, value);
      break;
    case OptionKind::Text:
      break;
    }
  }
}

std::string Options::getText(const std::string &name,
                             const std::string &otherwise) const {
  for (const auto &[key, value] : flags_) {
    if (key == name) {
      return value;
    }
  }
  return otherwise;
}

bool Options::getBool(const std::string &name, bool otherwise) const {
  return getText(name, otherwise ? "true" : "false") == "true";
}

} // namespace popnn::internal
