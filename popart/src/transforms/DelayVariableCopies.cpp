// CopyVarUpdate operations go to the end of the schedule.
#include <transforms/Passes.hpp>

#include <ir/GraphEditor.hpp>

#include <algorithm>

namespace popart {

void delayVariableCopies(PassContext &context) {
  std::vector<Op *> order;
  for (const auto &op : context.graph.getOps()) {
    order.push_back(op.get());
  }
  std::stable_partition(order.begin(), order.end(), [](const Op *op) {
    return op->opid.type != "CopyVarUpdate";
  });
  GraphEditor(context.graph).reorder(order);
}

} // namespace popart
