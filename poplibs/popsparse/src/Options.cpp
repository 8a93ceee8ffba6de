#include "Options.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <charconv>
#include <set>
#include <string>
#include <string_view>

namespace popsparse::internal {

using poplar::invalid_option;
using support::requireUser;

poplar::OptionFlags matMulOptions(const poplar::OptionFlags &options) {
  static const std::set<std::string_view> booleans{"doGradAPass", "doGradWPass",
                                                   "sharedBuckets"};
  poplar::OptionFlags taken;
  for (const auto &[name, value] : options) {
    if (name == "availableMemoryProportion" || name == "partialsType") {
      taken.set(name, value);
    } else if (booleans.contains(name)) {
      requireUser<invalid_option>(value == "true" || value == "false",
                                  "Invalid value '{}' for option '{}': Not one "
                                  "of the values: ['true', 'false']",
                                  value, name);
    } else if (name == "metaInfoBucketOversizeProportion") {
      double number = 0;
      const char *end = value.data() + value.size();
      const auto result = std::from_chars(value.data(), end, number);
      requireUser<invalid_option>(
          result.ec == std::errc() && result.ptr == end && number >= 0,
          "Invalid value '{}' for option '{}': Not a valid number", value,
          name);
    } else {
      requireUser<invalid_option>(false, "Unrecognised option '{}'", name);
    }
  }
  return taken;
}

} // namespace popsparse::internal
