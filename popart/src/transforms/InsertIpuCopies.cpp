// Sharding without pipelining: operations run one after another on their IPUs,
// and a tensor is copied once to each IPU that reads it.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

#include <algorithm>

namespace popart {

VGraphId homeOf(const Tensor &tensor) {
  if (!tensor.producer) {
    return tensor.consumers.empty()
               ? unusedVGraphId
               : tensor.consumers.front()->settings.vgraphId;
  }
  return tensor.producer->opid.type == "IpuCopy"
             ? tensor.producer->attributes.getInt("destination", 0)
             : tensor.producer->settings.vgraphId;
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
