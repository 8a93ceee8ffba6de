// The options of slices, lookups and their plans.
#include <popops/internal/SlicePlan.hpp>

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace popops::internal {

namespace {

struct Choice {
  std::string_view name;
  std::vector<std::string_view> values;
};

const std::vector<Choice> &choices() {
  static const std::vector<Choice> list = {
      {"remapOutOfBoundIndices", {"true", "false"}},
      {"paddingIndexUsed", {"true", "false"}},
      {"usedForSlice", {"true", "false"}},
      {"usedForUpdate", {"true", "false"}},
      {"operationForUpdate", {"none", "add", "max", "mul"}},
      {"indicesDistribution", {"uniform", "onePoint"}},
      {"indicesAreSorted", {"true", "false"}},
      {"validateIndices", {"true", "false"}},
      {"partialType", {"half", "float"}},
  };
  return list;
}

void requireChoice(const Choice &choice, const std::string &value) {
  support::requireUser<poplar::invalid_option>(
      std::find(choice.values.begin(), choice.values.end(), value) !=
          choice.values.end(),
      "Invalid value '{}' for option '{}': Not one of the values: ['{}']",
      value, choice.name, fmt::join(choice.values, "', '"));
}

double parseProportion(const std::string &name, const std::string &value) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  support::requireUser<poplar::invalid_option>(
      error == std::errc() && end == value.data() + value.size(),
      "Invalid value '{}' for option '{}': Not a floating point number", value,
      name);
  support::requireUser<poplar::invalid_option>(
      number >= 0,
      "Invalid value '{}' for option '{}': Value must be greater than or equal "
      "to 0",
      value, name);
  return number;
}

} // namespace

SliceOptions parseSliceOptions(const poplar::OptionFlags &options) {
  SliceOptions parsed;
  for (const auto &[name, value] : options) {
    if (name == "availableMemoryProportion") {
      parsed.availableMemoryProportion = parseProportion(name, value);
      continue;
    }
    const auto &known = choices();
    const auto choice =
        std::find_if(known.begin(), known.end(),
                     [&](const Choice &each) { return each.name == name; });
    support::requireUser<poplar::invalid_option>(
        choice != known.end(), "Unrecognised option '{}'", name);
    requireChoice(*choice, value);
    const bool isTrue = value == "true";
    if (name == "remapOutOfBoundIndices") {
      parsed.remapOutOfBoundIndices = isTrue;
    } else if (name == "validateIndices") {
      parsed.validateIndices = isTrue;
    } else if (name == "usedForSlice") {
      parsed.usedForSlice = isTrue;
    } else if (name == "usedForUpdate") {
      parsed.usedForUpdate = isTrue;
    }
  }
  return parsed;
}

} // namespace popops::internal
