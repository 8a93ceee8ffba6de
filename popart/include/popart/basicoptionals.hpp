// Placements that may be left open.
#pragma once

#include <popart/names.hpp>
#include <popart/optional.hpp>

namespace popart {

using OptionalVGraphId = optional<VGraphId>;
using OptionalPipelineStage = optional<PipelineStage>;
using OptionalExecutionPhase = optional<ExecutionPhase>;
using OptionalBatchSerializedPhase = optional<BatchSerializedPhase>;

} // namespace popart
