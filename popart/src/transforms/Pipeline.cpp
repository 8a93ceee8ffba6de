// The lists of passes.
#include <transforms/Pipeline.hpp>

#include <ir/Dot.hpp>
#include <transforms/Passes.hpp>

namespace popart {
namespace {

// Drawings of the graph as it is here, by PopART's names, if they are asked
// for.
void drawFwd0(PassContext &context) {
  drawGraph(context.ir, context.graph, "FWD0");
}

void drawFwd1(PassContext &context) {
  drawGraph(context.ir, context.graph, "FWD1");
}

void drawBwd0(PassContext &context) {
  drawGraph(context.ir, context.graph, "BWD0");
}

// Users' patterns are applied to the model, to its gradients and to its
// updates.
void applyPatternsToGradients(PassContext &context) {
  context.ir.progress = IrProgress::Backward;
  if (context.ir.isTraining()) {
    applyUserPatterns(context);
  }
}

void applyPatternsToUpdates(PassContext &context) {
  context.ir.progress = IrProgress::Updates;
  applyUserPatterns(context);
}

// Nothing is done in place here and there are no loops in the IR: one graph is
// all three.
void drawFinal(PassContext &context) {
  for (const char *check : {"PREALIAS", "MAINLOOPS", "FINAL"}) {
    drawGraph(context.ir, context.graph, check);
  }
}

} // namespace

std::span<const Pass> modelPasses() {
  static constexpr Pass passes[] = {
      {"checkSettings", checkSettings},
      {"checkOptions", checkOptions},
      {"inlineCalls", inlineCalls},
      {"drawFwd0", drawFwd0, true},
      {"applyUserPatterns", applyUserPatterns, true},
      {"writeOutRecurrent", writeOutRecurrent},
      {"splitLargePools", splitLargePools},
      {"foldConstants", foldConstants, true},
      {"removeIdentities", removeIdentities, true},
      {"mergeDuplicates", mergeDuplicates, true},
      {"drawFwd1", drawFwd1, true},
      {"assignExecutionPhases", assignExecutionPhases},
      {"assignVirtualGraphs", assignVirtualGraphs},
      {"assignPipelineStages", assignPipelineStages},
      {"insertSeeds", insertSeeds},
      {"checkLoss", checkLoss},
      {"differentiate", differentiateLoss},
      {"fuseLossGradients", fuseLossGradients, true},
      {"applyPatternsToGradients", applyPatternsToGradients, true},
      {"insertUpdates", insertUpdates},
      {"drawBwd0", drawBwd0, true},
      {"scaleLossAutomatically", scaleLossAutomatically},
      {"reduceOverReplicas", reduceOverReplicas},
      {"applyPatternsToUpdates", applyPatternsToUpdates, true},
      {"delayVariableCopies", delayVariableCopies},
      {"placeSubgraphs", placeSubgraphs},
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
      {"placeVariableCopies", placeVariableCopies},
      {"serializeMatMuls", serializeMatMuls, true},
      {"serializeBatch", serializeBatch, true},
      {"shardVariables", shardVariables},
      {"moveVariablesOffChip", moveVariablesOffChip},
      {"moveActivationsOffChip", moveActivationsOffChip},
      {"moveTensorsAlongPipeline", moveTensorsAlongPipeline},
      {"insertIpuCopies", insertIpuCopies},
      {"mergeIpuCopies", mergeIpuCopies, true},
      {"outlineSubgraphs", outlineSubgraphs, true},
      {"drawFinal", drawFinal, true},
  };
  return passes;
}

std::span<const Pass> valuePasses() {
  static constexpr Pass passes[] = {{"foldReplicas", foldReplicas}};
  return passes;
}

} // namespace popart
