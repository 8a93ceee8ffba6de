// The options that programs pass through poptorch.Options()._Popart by name.
#pragma once

#include <popart/patterns/patterns.hpp>
#include <popart/sessionoptions.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace poptorch {

using PopartOption =
    std::variant<bool, std::int64_t, double, std::string,
                 std::vector<std::string>, std::map<std::string, std::string>>;
using PopartOptions = std::map<std::string, PopartOption>;

// Sets every option. Throws poptorch::Error for a name that there is not, or a
// value of the wrong type or out of range.
void applyPopartOptions(const PopartOptions &values,
                        popart::SessionOptions &options);

// Those of setPatterns(), once their types were checked as above. Throws
// popart::error for names that there are not, and where a mandatory one is
// turned off.
popart::Patterns patternsOf(const PopartOptions &values);

} // namespace poptorch
