// Small read-only tensors that several IPUs use exist once on each of them, as
// on the machine: copying them around in every cycle would make no sense.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

namespace popart {
namespace {

bool isModified(const Tensor &tensor) {
  return std::any_of(
      tensor.consumers.begin(), tensor.consumers.end(), [&](const Op *op) {
        for (std::size_t i = 0; i < op->outputs.size(); ++i) {
          InIndex input = op->modifiedInput(static_cast<OutIndex>(i));
          if (input >= 0 &&
              op->inputs[static_cast<std::size_t>(input)] == tensor.id) {
            return true;
          }
        }
        return false;
      });
}

bool isReadOnly(const Tensor &tensor) {
  return tensor.type == TensorType::Const ||
         (tensor.type == TensorType::Variable && tensor.info.nelms() == 1 &&
          tensor.variableUpdateType == VariableUpdateType::None &&
          !isModified(tensor));
}

TensorId copyTensor(Graph &graph, const Tensor &tensor, VGraphId ipu) {
  TensorId id = tensor.id + "___ipu" + std::to_string(ipu);
  if (tensor.type == TensorType::Const) {
    return graph.addConstant(id, tensor.info, tensor.data.data());
  }
  graph.addVariable(id, tensor.info, tensor.data.data());
  graph.getTensor(id).variableUpdateType = VariableUpdateType::None;
  return id;
}

// Those on other IPUs than the first one, each once, in schedule order.
std::vector<Op *>
consumersElsewhere(const Tensor &tensor,
                   const std::unordered_map<const Op *, std::size_t> &places) {
  VGraphId home = tensor.consumers.front()->settings.vgraphId;
  std::vector<Op *> result;
  for (Op *op : tensor.consumers) {
    if (op->settings.vgraphId != home) {
      result.push_back(op);
    }
  }
  std::sort(result.begin(), result.end(), [&](const Op *a, const Op *b) {
    return places.at(a) < places.at(b);
  });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace

void duplicateSharedScalars(PassContext &context) {
  Graph &graph = context.graph;
  GraphEditor editor(graph);
  std::unordered_map<const Op *, std::size_t> places;
  for (const auto &op : graph.getOps()) { // in schedule order
    places.emplace(op.get(), places.size());
  }
  for (const TensorId &id : graph.getTensorIds()) {
    const Tensor &tensor = graph.getTensor(id);
    if (tensor.producer || !isReadOnly(tensor) || tensor.consumers.empty()) {
      continue;
    }
    std::map<VGraphId, TensorId> copies;
    for (Op *op : consumersElsewhere(tensor, places)) {
      VGraphId ipu = op->settings.vgraphId;
      if (copies.count(ipu) == 0) {
        copies[ipu] = copyTensor(graph, tensor, ipu);
      }
      editor.replaceReads(*op, id, copies[ipu]);
    }
  }
}

} // namespace popart
