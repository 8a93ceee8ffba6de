// Sharding without pipelining: operations run one after another on their IPUs,
// and a tensor is copied once to each IPU that reads it.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

#include <algorithm>

namespace popart {

namespace {

bool isCall(const Op &op) {
  return op.opid.domain == "ai.graphcore" && op.opid.type == "Call";
}

// An input or output of a call in the graph that it calls.
const Tensor &insideOf(const Op &call, const TensorId &id) {
  const Graph &callee = *call.getCalledGraphs().front();
  auto input = std::find(call.inputs.begin(), call.inputs.end(), id);
  if (input != call.inputs.end()) {
    auto index = static_cast<std::size_t>(input - call.inputs.begin());
    return callee.getTensor(callee.getInputIds().at(index));
  }
  auto output = std::find(call.outputs.begin(), call.outputs.end(), id);
  auto index = static_cast<std::size_t>(output - call.outputs.begin());
  return callee.getTensor(callee.getOutputIds().at(index));
}

// Who overwrites a variable need not be where it is.
const Op *firstReader(const Tensor &tensor) {
  auto reads = [](const Op *op) { return op->opid.type != "CopyVarUpdate"; };
  auto found =
      std::find_if(tensor.consumers.begin(), tensor.consumers.end(), reads);
  return found != tensor.consumers.end() ? *found
         : tensor.consumers.empty()      ? nullptr
                                         : tensor.consumers.front();
}

} // namespace

VGraphId homeOf(const Tensor &tensor) {
  const Op *op = tensor.producer ? tensor.producer : firstReader(tensor);
  if (!op) {
    return unusedVGraphId;
  }
  if (isCall(*op)) {
    return homeOf(insideOf(*op, tensor.id));
  }
  bool isCopy = op == tensor.producer && op->opid.type == "IpuCopy";
  return isCopy ? op->attributes.getInt("destination", 0)
                : op->settings.vgraphId;
}

void insertIpuCopies(PassContext &context) {
  if (context.ir.sessionOptions.enablePipelining) {
    return;
  }
  GraphEditor editor(context.graph);
  std::vector<Op *> ops;
  for (const auto &op : context.graph.getOps()) {
    ops.push_back(op.get());
  }
  std::map<std::pair<TensorId, VGraphId>, TensorId> copies;
  for (Op *op : ops) {
    VGraphId ipu = op->settings.vgraphId;
    for (std::size_t i = 0; i < op->inputs.size(); ++i) {
      TensorId id = op->inputs[i];
      if (id.empty() || homeOf(context.graph.getTensor(id)) == ipu) {
        continue;
      }
      TensorId &copy = copies[{id, ipu}];
      if (copy.empty()) {
        Op::Settings settings = op->settings;
        settings.vgraphId = homeOf(context.graph.getTensor(id));
        settings.name = id;
        copy = editor
                   .insertBefore(op, {"aspen", "IpuCopy"}, {id},
                                 {editor.uniqueName(id)},
                                 Attributes().set("destination", ipu), settings)
                   .outputs[0];
      }
      editor.replaceInput(*op, static_cast<InIndex>(i), copy);
    }
  }
}

} // namespace popart
