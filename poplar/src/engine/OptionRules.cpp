#include "engine/OptionRules.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <regex>
#include <string>

namespace poplar::engine {
namespace {

bool areDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

bool isInteger(std::string_view text) {
  return areDigits(text.starts_with('-') ? text.substr(1) : text);
}

bool isNumber(std::string_view text) {
  const std::size_t point = text.find('.');
  return point == text.npos ? areDigits(text)
                            : areDigits(text.substr(0, point)) &&
                                  areDigits(text.substr(point + 1));
}

bool isPattern(const std::string &text) {
  try {
    const std::regex pattern(text);
    return true;
  } catch (const std::regex_error &) {
    return false;
  }
}

bool isOneOf(std::string_view value, std::string_view words) {
  while (!words.empty()) {
    const std::size_t bar = std::min(words.find('|'), words.size());
    if (words.substr(0, bar) == value) {
      return true;
    }
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return false;
}

constexpr std::string_view booleans = "true|false";

bool isAllowed(OptionValues values, const std::string &value) {
  switch (values) {
  case OptionValues::Boolean:
    return isOneOf(value, booleans);
  case OptionValues::Integer:
    return isInteger(value);
  case OptionValues::Natural:
    return areDigits(value);
  case OptionValues::Number:
    return isNumber(value);
  case OptionValues::Pattern:
    return isPattern(value);
  case OptionValues::Text:
    return true;
  case OptionValues::OneOf:
    break;
  }
  return false;
}

std::string_view describe(OptionValues values) {
  switch (values) {
  case OptionValues::Boolean:
    return booleans;
  case OptionValues::Integer:
    return "an integer";
  case OptionValues::Natural:
    return "a whole number";
  case OptionValues::Number:
    return "a number";
  case OptionValues::Pattern:
    return "a regular expression";
  case OptionValues::Text:
  case OptionValues::OneOf:
    break;
  }
  return "";
}

void checkValue(const OptionRule &rule, const std::string &value) {
  const std::string_view kind = describe(rule.values);
  const bool isBoth = !kind.empty() && !rule.words.empty();
  support::requireUser<invalid_option>(
      isAllowed(rule.values, value) || isOneOf(value, rule.words),
      "Option '{}' has the invalid value '{}'; allowed: {}{}{}", rule.name,
      value, kind, isBoth ? " or " : "", rule.words);
}

using OptionTables = std::initializer_list<std::span<const OptionRule>>;

// The names that an unknown one may have been meant to be: those of its group,
// as "debug.", or all when there is no such group.
std::string similarNames(std::string_view name, OptionTables tables) {
  const std::string_view group = name.substr(0, name.find('.') + 1);
  const auto list = [&](std::string_view prefix) {
    std::string names;
    for (const std::span<const OptionRule> table : tables) {
      for (const OptionRule &rule : table) {
        if (rule.name.starts_with(prefix)) {
          names += names.empty() ? "" : ", ";
          names += rule.name;
        }
      }
    }
    return names;
  };
  const std::string names = list(group);
  return names.empty() ? list("") : names;
}

} // namespace

void checkOptions(const OptionFlags &options,
                  std::initializer_list<std::span<const OptionRule>> tables) {
  for (const auto &[name, value] : options) {
    const OptionRule *found = nullptr;
    for (const std::span<const OptionRule> table : tables) {
      const auto rule = std::find_if(
          table.begin(), table.end(),
          [&key = name](const OptionRule &r) { return r.name == key; });
      found = rule == table.end() ? found : &*rule;
    }
    support::requireUser<invalid_option>(
        found != nullptr, "Unrecognised option '{}'; allowed: {}", name,
        found != nullptr ? "" : similarNames(name, tables));
    checkValue(*found, value);
  }
}

} // namespace poplar::engine
