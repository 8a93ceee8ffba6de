// CopyVarUpdate operations go to the end of the schedule.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace popart {

namespace {

bool isCopy(const Op *op) {
  return op->opid.type == "CopyVarUpdate";
}

bool overwrites(const Op &op, const TensorId &variable) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    InIndex modified = op.modifiedInput(static_cast<OutIndex>(i));
    if (modified >= 0 &&
        op.inputs[static_cast<std::size_t>(modified)] == variable) {
      return true;
    }
  }
  return false;
}

// A copy from a variable takes what that was before anything changed it in the
// micro-batch.
void keepVariables(Graph &graph, const std::vector<Op *> &order) {
  GraphEditor editor(graph);
  for (Op *copy : order) {
    if (!isCopy(copy) ||
        graph.getTensor(copy->inputs[1]).type != TensorType::Variable) {
      continue;
    }
    const TensorId variable = copy->inputs[1];
    const Op *first = *std::find_if(order.begin(), order.end(), [&](Op *op) {
      return op == copy ||
             (op->settings.executionContext == ExecutionContext::Normal &&
              overwrites(*op, variable));
    });
    Op::Settings settings = first->settings;
    settings.name = variable;
    Op &kept = editor.insertBefore(first, {"ai.onnx", "Identity"}, {variable},
                                   {editor.uniqueName(variable)}, {}, settings);
    editor.replaceInput(*copy, 1, kept.outputs[0]);
  }
}

} // namespace

void delayVariableCopies(PassContext &context) {
  std::vector<Op *> order;
  for (const auto &op : context.graph.getOps()) {
    order.push_back(op.get());
  }
  std::stable_partition(order.begin(), order.end(), std::not_fn(isCopy));
  GraphEditor(context.graph).reorder(order);
  keepVariables(context.graph, order);
}

} // namespace popart
