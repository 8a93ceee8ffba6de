// Names of the basic types that every PopART header uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace popart {

using TensorId = std::string;
using Shape = std::vector<std::int64_t>;
using Rank = int;
using InIndex = int;
using OutIndex = int;
using SubgraphIndex = int;
using VGraphId = std::int64_t;
using PipelineStage = std::int64_t;
using ExecutionPhase = std::int64_t;
using BatchSerializedPhase = std::int64_t;
using OpId = std::int64_t;
using OpName = std::string;

// Not on any IPU in particular, not in any stage or phase.
constexpr VGraphId unusedVGraphId = -1;
constexpr PipelineStage unusedPipelineStage = -1;
constexpr ExecutionPhase unusedExecutionPhase = -1;
constexpr BatchSerializedPhase unusedBatchSerializedPhase = -1;

} // namespace popart
