// The operation that calls a function of the host, and the streams that carry
// what it is given and what it returns.
#pragma once

#include <ops/OpRule.hpp>

#include <string>
#include <vector>

namespace popart {

std::vector<OpRule> hostFunctionRules();

// By the function's handle and the position among its inputs or outputs.
std::string hostFunctionInput(const std::string &handle, std::size_t index);
std::string hostFunctionOutput(const std::string &handle, std::size_t index);

} // namespace popart
