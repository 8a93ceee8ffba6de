// The options that all targets take.
#pragma once

#include <poplar/OptionFlags.hpp>
#include <poplar/internal/TargetData.hpp>

namespace poplar::internal {

// Applies the options of a target, those of the environment variable
// POPLAR_TARGET_OPTIONS last. Throws invalid_option for one that no target has
// and for a value that it does not take.
void applyTargetOptions(const OptionFlags &options, TargetData &data);

} // namespace poplar::internal
