// The chips that targets are made of, and the options that all targets take.
#pragma once

#include <poplar/OptionFlags.hpp>
#include <poplar/internal/TargetData.hpp>

#include <string_view>

namespace poplar::internal {

// The figures of an architecture ("ipu1", "ipu2", "ipu21") as a model of one
// IPU. Throws invalid_machine_model for any other name.
TargetData architectureData(std::string_view name);

// Throws invalid_option for an option that no target has.
void checkTargetOptions(const OptionFlags &options);

} // namespace poplar::internal
