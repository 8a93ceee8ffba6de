// Which IPU and which pipeline stage each operation of the model is in.
#include <transforms/Passes.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>
#include <transforms/SplitAutomatically.hpp>

#include <algorithm>

namespace popart {
namespace {

template <typename IsMissing>
std::vector<Op *> opsWithout(const Graph &graph, IsMissing isMissing) {
  std::vector<Op *> result;
  for (const auto &op : graph.getOps()) {
    if (isMissing(op->settings)) {
      result.push_back(op.get());
    }
  }
  return result;
}

std::string names(const std::vector<Op *> &ops) {
  std::string text;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    text += (i == 0 ? "" : ", ") + ops[i]->str();
  }
  return text;
}

} // namespace

void assignVirtualGraphs(PassContext &context) {
  VirtualGraphMode mode = context.ir.sessionOptions.virtualGraphMode;
  if (mode == VirtualGraphMode::Off) {
    for (const auto &op : context.graph.getOps()) {
      op->settings.vgraphId = unusedVGraphId;
    }
    return;
  }
  if (mode == VirtualGraphMode::Auto) {
    splitAutomatically(context);
    return;
  }
  if (mode == VirtualGraphMode::ExecutionPhases) {
    return; // assignExecutionPhases did
  }
  auto missing = opsWithout(context.graph, [](const Op::Settings &settings) {
    return settings.vgraphId == unusedVGraphId;
  });
  support::requireUser<error>(
      missing.size() < context.graph.getOps().size() || missing.empty(),
      "SessionOptions flag virtualGraphMode is VirtualGraphMode::Manual, but "
      "no "
      "Ops have been annotated with virtual graph information. This is an "
      "inconsistent combination.");
  support::requireUser<error>(missing.empty(),
                              "Either all Ops must have their virtual graph "
                              "attribute set or none may; these have none: {}",
                              names(missing));
  for (const auto &op : context.graph.getOps()) {
    support::requireUser<error>(
        0 <= op->settings.vgraphId && op->settings.vgraphId < context.ipus,
        "[{}] is on virtual graph {}; the device has {} IPUs", op->str(),
        op->settings.vgraphId, context.ipus);
  }
}

void assignPipelineStages(PassContext &context) {
  if (!context.ir.sessionOptions.enablePipelining) {
    for (const auto &op : context.graph.getOps()) {
      op->settings.pipelineStage = unusedPipelineStage;
    }
    return;
  }
  auto missing = opsWithout(context.graph, [](const Op::Settings &settings) {
    return settings.pipelineStage == unusedPipelineStage;
  });
  support::requireUser<error>(
      missing.empty() || missing.size() == context.graph.getOps().size(),
      "Only some ops have had their pipeline stage set. Ops missing the "
      "pipeline stage: {}",
      names(missing));
  for (Op *op : missing) {
    op->settings.pipelineStage = op->settings.vgraphId;
  }
  // A later stage must not feed an earlier one.
  for (const auto &op : context.graph.getOps()) {
    for (const TensorId &id : op->inputs) {
      const Op *producer =
          id.empty() ? nullptr : context.graph.getTensor(id).producer;
      support::requireUser<error>(
          !producer ||
              producer->settings.pipelineStage <= op->settings.pipelineStage,
          "[{}] in pipeline stage {} reads '{}' of stage {}; data can only "
          "flow "
          "to the same or a later stage",
          op->str(), op->settings.pipelineStage, id,
          producer ? producer->settings.pipelineStage : 0);
    }
  }
}

} // namespace popart
