// The chips that targets are made of, the systems that these are built into,
// and the options that all targets take.
#pragma once

#include <poplar/OptionFlags.hpp>
#include <poplar/internal/TargetData.hpp>

#include <string_view>

namespace poplar::internal {

// All IPUs of a system ("bow-pod16"), or one of an architecture, as hardware.
// Throws invalid_machine_model for any other name.
TargetData systemData(std::string_view systemOrArchitecture);

// Applies the options of a target, those of the environment variable
// POPLAR_TARGET_OPTIONS last. Throws invalid_option for one that no target has
// and for a value that it does not take.
void applyTargetOptions(const OptionFlags &options, TargetData &data);

} // namespace poplar::internal
