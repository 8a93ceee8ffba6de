// The options of sparse operations.
#pragma once

#include <poplar/OptionFlags.hpp>

namespace popsparse::internal {

// Those that poplin::matMul takes too. Throws invalid_option for an option that
// is unknown, or has a value that is not allowed.
poplar::OptionFlags matMulOptions(const poplar::OptionFlags &options);

} // namespace popsparse::internal
