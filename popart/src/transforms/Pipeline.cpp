// The lists of passes.
#include <transforms/Pipeline.hpp>

#include <transforms/Passes.hpp>

namespace popart {

std::span<const Pass> modelPasses() {
  static constexpr Pass passes[] = {
      {"checkSettings", checkSettings},
      {"checkOptions", checkOptions},
      {"applyUserPatterns", applyUserPatterns, true},
      {"assignExecutionPhases", assignExecutionPhases},
      {"assignVirtualGraphs", assignVirtualGraphs},
      {"assignPipelineStages", assignPipelineStages},
      {"checkLoss", checkLoss},
      {"differentiate", differentiateLoss},
      {"insertUpdates", insertUpdates},
      {"scaleLossAutomatically", scaleLossAutomatically},
      {"reduceOverReplicas", reduceOverReplicas},
      {"delayVariableCopies", delayVariableCopies},
      {"prune", prune, true},
      {"checkPipeline", checkPipeline},
      {"checkAnchors", checkAnchors},
  };
  return passes;
}

std::span<const Pass> machinePasses() {
  static constexpr Pass passes[] = {
      {"duplicateSharedScalars", duplicateSharedScalars},
      {"recomputeForward", recomputeForward, true},
      {"serializeBatch", serializeBatch, true},
      {"shardVariables", shardVariables},
      {"moveVariablesOffChip", moveVariablesOffChip},
      {"moveActivationsOffChip", moveActivationsOffChip},
      {"moveTensorsAlongPipeline", moveTensorsAlongPipeline},
      {"insertIpuCopies", insertIpuCopies},
  };
  return passes;
}

std::span<const Pass> valuePasses() {
  static constexpr Pass passes[] = {{"foldReplicas", foldReplicas}};
  return passes;
}

} // namespace popart
