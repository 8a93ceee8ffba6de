// Passes that only check: options, loss, pipeline and anchors.
#include <transforms/Passes.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <transforms/PipelineSchedule.hpp>

#include <set>

namespace popart {
namespace {

const char *nameOf(VirtualGraphMode mode) {
  switch (mode) {
  case VirtualGraphMode::Off:
    return "VirtualGraphMode::Off";
  case VirtualGraphMode::Manual:
    return "VirtualGraphMode::Manual";
  case VirtualGraphMode::Auto:
    return "VirtualGraphMode::Auto";
  case VirtualGraphMode::ExecutionPhases:
    return "VirtualGraphMode::ExecutionPhases";
  }
  return "";
}

// Of the model as it was written: a stage may turn out to have nothing to do.
void requireAllStages(const Graph &graph) {
  std::set<PipelineStage> stages;
  for (const auto &op : graph.getOps()) {
    PipelineStage stage = op->settings.pipelineStage;
    stages.insert(stage == unusedPipelineStage ? op->settings.vgraphId : stage);
  }
  PipelineStage expected = 0;
  for (PipelineStage stage : stages) {
    support::requireUser<error>(
        stage <= expected,
        "The set of pipeline stages for all Ops contains {} stages, but stage "
        "{} is missing",
        stages.size(), expected);
    expected += stage == expected ? 1 : 0;
  }
}

} // namespace

void checkOptions(PassContext &context) {
  const SessionOptions &options = context.ir.sessionOptions;
  if (options.enablePipelining) {
    requireAllStages(context.graph);
  }
  support::requireUser<error>(
      options.enableGradientAccumulation || options.accumulationFactor <= 1,
      "enableGradientAccumulation is false, but accumulationFactor > 1. Either "
      "enable gradient accumulation or set the factor ({}) to 1",
      options.accumulationFactor);
  support::requireUser<error>(options.accumulationFactor >= 1,
                              "accumulationFactor ({}) must be at least 1",
                              options.accumulationFactor);
  support::requireUser<error>(!options.enableGradientAccumulation ||
                                  context.ir.isTraining(),
                              "Gradient Accumulation only available when "
                              "training.");
  support::requireUser<error>(
      !options.automaticLossScalingSettings.enabled || context.ir.isTraining(),
      "[AutomaticLossScale transform] Only compatible when doing training");
  support::requireUser<error>(options.replicatedGraphCount >= 1,
                              "replicatedGraphCount ({}) must be at least 1",
                              options.replicatedGraphCount);
  const ExecutionPhaseSettings &phases = options.executionPhaseSettings;
  support::requireUser<error>(options.virtualGraphMode !=
                                      VirtualGraphMode::ExecutionPhases ||
                                  (1 <= phases.stages && phases.stages <= 2 &&
                                   phases.stages <= context.ipus),
                              "executionPhaseSettings.stages ({}) must be 1 or "
                              "2 and at most the number "
                              "of IPUs ({})",
                              phases.stages, context.ipus);
  support::requireUser<error>(
      options.virtualGraphMode != VirtualGraphMode::ExecutionPhases ||
          !options.enablePipelining,
      "VirtualGraphMode::ExecutionPhases and pipelining exclude each other");
  support::requireUser<error>(
      !options.enablePipelining ||
          (options.virtualGraphMode != VirtualGraphMode::Off &&
           context.ipus > 1),
      "Pipelining requires more than 1 IPU (currently {}) and the "
      "'virtualGraphMode' session option to not be VirtualGraphMode::Off "
      "(currently {}).",
      context.ipus, nameOf(options.virtualGraphMode));
}

void checkLoss(PassContext &context) {
  if (!context.ir.isTraining()) {
    return;
  }
  const TensorId &loss = context.ir.loss;
  support::requireUser<error>(context.graph.hasTensor(loss),
                              "Could not find loss tensor '{}' in main graph "
                              "tensors",
                              loss);
  const Tensor &tensor = context.graph.getTensor(loss);
  support::requireUser<error>(tensor.info.nelms() == 1,
                              "Loss tensor, '{}', must be a scalar tensor",
                              loss);
  support::requireUser<error>(tensor.producer != nullptr,
                              "Loss tensor, '{}', is not computed by the model",
                              loss);
}

void checkPipeline(PassContext &context) {
  if (context.ir.sessionOptions.enablePipelining) {
    pipelineSchedule(context.ir, context.graph);
  }
}

void checkAnchors(PassContext &context) {
  const DataFlow &dataFlow = context.ir.dataFlow;
  support::requireUser<error>(
      context.ir.isTraining() || dataFlow.nAnchors() > 0,
      "User must specify an anchor tensor when doing inference.");
  for (const TensorId &id : dataFlow.anchors()) {
    support::requireUser<error>(context.graph.hasTensor(id),
                                "Anchor tensor `{}' not in Ir Tensors.", id);
  }
}

} // namespace popart
