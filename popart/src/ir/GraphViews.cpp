// A graph by PopART's names, for patterns and custom operators.
#include <popart/graph.hpp>

#include <ir/GraphEditor.hpp>
#include <ir/Order.hpp>
#include <popart/ir.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popart {

std::string Graph::getGraphString() const {
  return id.empty() ? "the main graph" : "subgraph '" + id + "'";
}

Scope Graph::getScope() const {
  return id.empty() ? Scope() : Scope() / id;
}

bool Graph::hasInputId(const TensorId &name) const {
  return std::find(inputs_.begin(), inputs_.end(), name) != inputs_.end();
}

bool Graph::hasOutputId(const TensorId &name) const {
  return std::find(outputs_.begin(), outputs_.end(), name) != outputs_.end();
}

Op *Graph::getOpUnsafe(OpId number) const {
  for (const auto &op : ops_) {
    if (op->id == number) {
      return op.get();
    }
  }
  return nullptr;
}

Op *Graph::getOp(OpId number) const {
  Op *op = getOpUnsafe(number);
  support::requireUser<error>(op != nullptr,
                              "[Graph] there is no operation {} in {}", number,
                              getGraphString());
  return op;
}

std::vector<Op *> Graph::getCallSiteOps() const {
  std::vector<Op *> callers;
  for (Graph *graph : getIr().getAllGraphs()) {
    for (const auto &op : graph->getOps()) {
      std::vector<const Graph *> called = op->getCalledGraphs();
      if (std::find(called.begin(), called.end(), this) != called.end()) {
        callers.push_back(op.get());
      }
    }
  }
  return callers;
}

std::vector<Op *>
Graph::getOpSchedule(const OpMap<std::vector<Op *>> &extraBefores,
                     RequireOptimalSchedule) const {
  return scheduleOf(*this, extraBefores);
}

TensorId Graph::getLoss() const {
  return getIr().loss;
}

void Graph::replaceTensor(const TensorId &oldId, const TensorId &newId) {
  GraphEditor(*this).replaceReads(oldId, newId);
  std::replace(outputs_.begin(), outputs_.end(), oldId, newId);
}

} // namespace popart
