// The stages of a pipeline, from the blocks that calls were made in.
#pragma once

#include "Dependences.hpp"

#include <map>
#include <set>

namespace poptorch {

struct PipelineStages {
  std::map<std::int64_t, std::int64_t> number; // by the stage of a placement
  std::int64_t count = 1;
};

// Stages next to each other on one IPU are one stage of the pipeline.
PipelineStages pipelineStages(const TraceRecord &record,
                              const std::set<CallIndex> &calls);

// Throws poptorch::Error, which names both blocks, where a call reads what a
// later stage makes.
void requireForwardFlow(const TraceRecord &record,
                        const std::set<CallIndex> &calls,
                        const PipelineStages &stages);

} // namespace poptorch
