#include "OwnOperations.hpp"

#include <popart/graph.hpp>

#include <algorithm>
#include <map>

namespace poptorch {
namespace {

using popart::TensorId;

// Who makes a tensor, or else reads it first; null if nobody does yet.
const popart::Op *neighbourOf(const popart::Graph &graph, const TensorId &id) {
  const popart::Tensor &tensor = graph.getTensor(id);
  return tensor.producer            ? tensor.producer
         : tensor.consumers.empty() ? nullptr
                                    : tensor.consumers.front();
}

} // namespace

popart::Op::Settings settingsBeside(const popart::Graph &graph,
                                    std::initializer_list<TensorId> tensors,
                                    popart::Op::Settings otherwise) {
  popart::Op::Settings settings = std::move(otherwise);
  for (const TensorId &id : tensors) {
    if (const popart::Op *neighbour = neighbourOf(graph, id)) {
      settings.vgraphId = neighbour->settings.vgraphId;
      settings.pipelineStage = neighbour->settings.pipelineStage;
      break;
    }
  }
  settings.name.clear();
  settings.extraOutlineAttributes.clear();
  settings.executionPhase = popart::unusedExecutionPhase; // of what they read
  return settings;
}

void copyToVariables(popart::Graph &graph,
                     std::vector<std::pair<TensorId, TensorId>> copies,
                     const popart::Op::Settings &otherwise) {
  // A variable that is only copied is where what it becomes is made.
  auto valueOf = [&](const TensorId &variable) {
    auto copy =
        std::find_if(copies.begin(), copies.end(), [&](const auto &other) {
          return other.first == variable;
        });
    return copy == copies.end() ? variable : copy->second;
  };
  for (auto &[variable, value] : copies) {
    if (!graph.getTensor(value).producer) {
      auto settings =
          settingsBeside(graph, {value, variable, valueOf(value)}, otherwise);
      value = graph.addOp({"ai.onnx", "Identity"}, {value}, 1, {}, settings)[0];
    }
  }
  for (const auto &[variable, value] : copies) {
    graph.addOp({"ai.graphcore", "CopyVarUpdate"}, {variable, value}, 1, {},
                settingsBeside(graph, {value}, otherwise));
  }
}

std::int64_t closeGaps(popart::Graph &graph) {
  std::map<popart::PipelineStage, popart::PipelineStage> numbers;
  for (const auto &op : graph.getOps()) {
    numbers[op->settings.pipelineStage] = popart::unusedPipelineStage;
  }
  std::int64_t count = 0;
  for (auto &[old, number] : numbers) {
    if (old != popart::unusedPipelineStage) {
      number = count++;
    }
  }
  for (const auto &op : graph.getOps()) {
    op->settings.pipelineStage = numbers.at(op->settings.pipelineStage);
  }
  return std::max<std::int64_t>(1, count);
}

} // namespace poptorch
