// Reverse-mode differentiation over the schedule of a graph.
#include <autodiff/Backward.hpp>

#include <autodiff/GradientBuilder.hpp>
#include <ops/Common.hpp>
#include <ops/OpRule.hpp>
#include <popart/tensornames.hpp>

#include <algorithm>
#include <utility>

namespace popart {

Backward::Backward(Graph &graph, std::set<TensorId> wanted,
                   PipelineStage lastStage, ExecutionPhase lastPhase)
    : graph_(graph), editor_(graph), lastStage_(lastStage),
      lastPhase_(lastPhase), wanted_(std::move(wanted)) {
  for (const auto &op : graph.getOps()) {
    forward_.push_back(op.get());
  }
  findWanted();
}

// Tensors whose gradient leads to one that somebody needs.
void Backward::findWanted() {
  for (const Op *op : forward_) {
    bool reaches = op->rule().differentiate &&
                   std::any_of(op->inputs.begin(), op->inputs.end(),
                               [&](auto &id) { return isWanted(id); });
    for (const TensorId &id : op->outputs) {
      if (reaches && isFloat(graph_.getTensor(id).info.dataType())) {
        wanted_.insert(id);
      }
    }
  }
}

void Backward::seed(const TensorId &id, const TensorId &gradient,
                    const Op::Settings &settings) {
  edges_[id].push_back(gradient);
  edgeSettings_[id] = settings;
}

void Backward::run() {
  for (auto it = forward_.rbegin(); it != forward_.rend(); ++it) {
    differentiate(**it);
  }
}

Op::Settings Backward::backwardSettings(const Op::Settings &forward) const {
  Op::Settings settings = forward;
  settings.isBackward = true;
  if (forward.pipelineStage != unusedPipelineStage) {
    settings.pipelineStage = 2 * lastStage_ - forward.pipelineStage;
  }
  if (forward.executionPhase != unusedExecutionPhase) {
    settings.executionPhase = 2 * lastPhase_ - forward.executionPhase;
  }
  return settings;
}

void Backward::differentiate(const Op &op) {
  if (!op.rule().differentiate) {
    return;
  }
  std::vector<TensorId> gradients;
  bool any = false;
  for (const TensorId &id : op.outputs) {
    gradients.push_back(gradientOf(id));
    any = any || !gradients.back().empty();
  }
  std::vector<bool> wanted;
  for (const TensorId &id : op.inputs) {
    wanted.push_back(isWanted(id));
  }
  if (!any || std::find(wanted.begin(), wanted.end(), true) == wanted.end()) {
    return;
  }
  GradientBuilder builder(graph_, op, gradients, wanted,
                          backwardSettings(op.settings));
  op.rule().differentiate(builder, op);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorId &gradient = builder.inputGradients()[i];
    if (!gradient.empty()) {
      seed(op.inputs[i], gradient, backwardSettings(op.settings));
    }
  }
}

TensorId Backward::gradientOf(const TensorId &id) {
  auto found = edges_.find(id);
  if (found == edges_.end()) {
    return {};
  }
  TensorId name = getGradId(id);
  if (graph_.hasTensor(name)) {
    return name;
  }
  const std::vector<TensorId> &edges = found->second;
  Op::Settings settings = placeOfSum(id);
  if (edges.size() > 1) {
    graph_.addOp({"ai.onnx", "Sum"}, edges, {name}, {}, settings);
  } else if (edges[0].rfind(reservedGradientPrefix(), 0) == 0) {
    graph_.addOp({"ai.onnx", "Identity"}, edges, {name}, {}, settings);
  } else {
    editor_.renameTensor(edges[0], name);
  }
  return name;
}

// Gradients meet where the tensor was made, or where the last edge was.
Op::Settings Backward::placeOfSum(const TensorId &id) const {
  const Op *producer = graph_.getTensor(id).producer;
  return producer ? backwardSettings(producer->settings) : edgeSettings_.at(id);
}

} // namespace popart
