// Operators that patterns and users' classes may ask for by names of their own.
#pragma once

#include <string>
#include <utility>

namespace popart {

// The domain and type of the operator that an ai.graphcore operator of this
// type is; empty when it is no variant.
std::pair<std::string, std::string> computedByVariant(const std::string &type);

} // namespace popart
