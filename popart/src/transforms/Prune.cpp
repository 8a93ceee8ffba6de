// Dead operations go: last first, so that chains go in one pass.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>
#include <popart/tensornames.hpp>

namespace popart {

bool isAskedFor(const Ir &ir, const TensorId &id) {
  return ir.dataFlow.isAnchored(id) || ir.dataFlow.isAnchored(getGradId(id)) ||
         id == ir.loss;
}

void prune(PassContext &context) {
  GraphEditor editor(context.graph);
  std::vector<Op *> ops;
  for (const auto &op : context.graph.getOps()) {
    ops.push_back(op.get());
  }
  for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
    Op &op = **it;
    bool isNeeded = op.hasSideEffect() || !op.pruneable;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const TensorId &id = op.outputs[i];
      isNeeded = isNeeded || op.modifiedInput(static_cast<OutIndex>(i)) >= 0 ||
                 context.ir.dataFlow.isAnchored(id) ||
                 !context.graph.getTensor(id).consumers.empty();
    }
    if (!isNeeded) {
      editor.erase(op);
    }
  }
}

} // namespace popart
