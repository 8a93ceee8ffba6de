#include "PipelineStages.hpp"

#include "Error.hpp"

#include <fmt/format.h>

namespace poptorch {
namespace {

std::string describe(const Placement &placement) {
  return fmt::format("{} (stage {}, IPU {})",
                     placement.block.empty()
                         ? "what comes before any block"
                         : "block '" + placement.block + "'",
                     placement.stage, placement.ipu);
}

[[noreturn]] void refuse(const TracedCall &reader, const TracedCall &maker) {
  throw Error(fmt::format(
      "[poptorch.PipelinedExecution] {} reads what {} makes{}, but data can "
      "only flow to the same or a later stage of a pipeline. Give what comes "
      "later in forward() a block of another name, with a later stage "
      "(poptorch.AutoStage.AutoIncrement numbers the blocks as they are "
      "entered), or use poptorch.ShardedExecution.",
      describe(reader.placement), describe(maker.placement), calledIn(reader)));
}

} // namespace

PipelineStages pipelineStages(const TraceRecord &record,
                              const std::set<CallIndex> &calls) {
  std::map<std::int64_t, std::int64_t> ipuOfStage;
  for (CallIndex i : calls) {
    const Placement &placement = record.calls[i].placement;
    ipuOfStage.emplace(placement.stage, placement.ipu);
  }
  PipelineStages stages;
  const std::int64_t *previous = nullptr;
  for (const auto &[id, ipu] : ipuOfStage) {
    stages.count += previous && *previous != ipu ? 1 : 0;
    stages.number[id] = stages.count - 1;
    previous = &ipu;
  }
  return stages;
}

void requireForwardFlow(const TraceRecord &record,
                        const std::set<CallIndex> &calls,
                        const PipelineStages &stages) {
  std::map<TensorNumber, const TracedCall *> makers;
  auto stageOf = [&](const TracedCall &call) {
    return stages.number.at(call.placement.stage);
  };
  for (CallIndex i : calls) {
    const TracedCall &call = record.calls[i];
    for (TensorNumber number : tensorArguments(call)) {
      auto maker = makers.find(number);
      if (maker != makers.end() && stageOf(*maker->second) > stageOf(call)) {
        refuse(call, *maker->second);
      }
    }
    for (TensorNumber result : call.results) {
      makers[result] = &call;
    }
  }
}

} // namespace poptorch
