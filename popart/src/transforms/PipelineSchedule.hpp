// When each pipeline stage works on which micro-batch.
#pragma once

#include <popart/ir.hpp>

#include <vector>

namespace popart {

struct PipelineSchedule {
  // By stage: its IPU, and its independent stage. Neighbouring stages on one
  // IPU run back to back in one cycle and are one independent stage.
  std::vector<VGraphId> ipus;
  std::vector<std::int64_t> independent;
  // Micro-batches between a fill and a flush.
  std::int64_t microBatches = 1;

  std::int64_t stages() const { return static_cast<std::int64_t>(ipus.size()); }
  std::int64_t independentStages() const {
    return independent.empty() ? 0 : independent.back() + 1;
  }
  std::int64_t fillCycles() const { return independentStages() - 1; }
  std::int64_t mainCycles() const { return microBatches - fillCycles(); }
  std::int64_t flushCycles() const { return independentStages() - 1; }
  std::int64_t cycles() const { return microBatches + fillCycles(); }

  std::int64_t independentOf(PipelineStage stage) const {
    return independent.at(static_cast<std::size_t>(stage));
  }
  // The micro-batch that a stage works on in a cycle, or -1.
  std::int64_t microBatchOf(PipelineStage stage, std::int64_t cycle) const {
    std::int64_t batch = cycle - independentOf(stage);
    return 0 <= batch && batch < microBatches ? batch : -1;
  }
};

// Whether the engine runs the machine program, in the place of the value
// program. Pipelined training without accumulation updates weights between the
// stages of a micro-batch: there the machine's schedule is the meaning.
// ASPEN_PROGRAM=machine asks for it anyway.
bool runsMachineProgram(const Ir &ir);

// Throws popart::error when the stages are not as the documentation asks.
PipelineSchedule pipelineSchedule(const Ir &ir, const Graph &graph);

} // namespace popart
