// Stages, their IPUs and the cycles of a step.
#include <transforms/PipelineSchedule.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <cstdlib>
#include <map>
#include <string_view>

namespace popart {

bool runsMachineProgram(const Ir &ir) {
  const char *wanted = std::getenv("ASPEN_PROGRAM");
  std::string_view program = wanted ? wanted : "value";
  support::requireUser<error>(program == "value" || program == "machine",
                              "[ASPEN_PROGRAM] '{}' is neither 'value' nor "
                              "'machine'",
                              program);
  const SessionOptions &options = ir.sessionOptions;
  return program == "machine" || (options.enablePipelining && ir.isTraining() &&
                                  !options.enableGradientAccumulation);
}

PipelineSchedule pipelineSchedule(const Ir &ir, const Graph &graph) {
  std::map<PipelineStage, const Op *> first;
  for (const auto &op : graph.getOps()) {
    auto [found, isNew] = first.emplace(op->settings.pipelineStage, op.get());
    support::requireUser<error>(
        found->second->settings.vgraphId == op->settings.vgraphId,
        "Operations {} and {} are both in pipeline stage {} but on virtual "
        "graphs {} and {}. All ops with the same pipeline stage must also have "
        "the same virtual graph id",
        found->second->str(), op->str(), op->settings.pipelineStage,
        found->second->settings.vgraphId, op->settings.vgraphId);
  }
  PipelineSchedule schedule;
  PipelineStage last = first.empty() ? -1 : first.rbegin()->first;
  for (PipelineStage stage = 0; stage <= last; ++stage) {
    // Where nothing runs, as in the backward pass of stages after the loss's,
    // the stage is one with the last.
    bool isThere = first.count(stage) > 0 || schedule.ipus.empty();
    VGraphId ipu = isThere ? first.lower_bound(stage)->second->settings.vgraphId
                           : schedule.ipus.back();
    bool isSame = !schedule.ipus.empty() && schedule.ipus.back() == ipu;
    std::int64_t next = schedule.independentStages() - (isSame ? 1 : 0);
    schedule.ipus.push_back(ipu);
    schedule.independent.push_back(next);
  }
  bool accumulates = ir.sessionOptions.enableGradientAccumulation;
  schedule.microBatches = accumulates ? ir.sessionOptions.accumulationFactor
                                      : ir.dataFlow.batchesPerStep();
  support::requireUser<error>(
      schedule.microBatches >= schedule.stages(),
      "For pipelining, depth ({}) must equal at least the number of pipeline "
      "stages ({}); it is {}",
      accumulates ? "gradient accumulation factor" : "batchesPerStep",
      schedule.stages(), schedule.microBatches);
  return schedule;
}

} // namespace popart
