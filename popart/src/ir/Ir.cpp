// The graphs of an IR.
#include <popart/ir.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace popart {

Graph &Ir::createGraph(const std::string &stem) {
  std::string id = stem + "(" + std::to_string(subgraphs_.size()) + ")";
  auto &graph = subgraphs_[id];
  graph = std::make_unique<Graph>(*this, id);
  return *graph;
}

Graph &Ir::getGraph(const std::string &id) {
  auto found = subgraphs_.find(id);
  support::requireUser<error>(id.empty() || found != subgraphs_.end(),
                              "[Ir] there is no graph '{}'", id);
  return id.empty() ? mainGraph_ : *found->second;
}

std::vector<const Graph *> Ir::getAllGraphs() const {
  std::vector<const Graph *> graphs{&mainGraph_};
  for (const auto &[id, graph] : subgraphs_) {
    graphs.push_back(graph.get());
  }
  return graphs;
}

std::vector<Graph *> Ir::getAllGraphs() {
  std::vector<Graph *> graphs{&mainGraph_};
  for (auto &[id, graph] : subgraphs_) {
    graphs.push_back(graph.get());
  }
  return graphs;
}

const Optimizer &Ir::getOptimizer() const {
  support::requireUser<error>(optimizer != nullptr,
                              "[Ir] the model is not trained: it has no "
                              "optimizer");
  return *optimizer;
}

std::vector<Op *> Ir::opsOfType(const OperatorIdentifier &opid) const {
  std::vector<Op *> found;
  for (const Graph *graph : getAllGraphs()) {
    for (const auto &op : graph->getOps()) {
      if (op->opid == opid) {
        found.push_back(op.get());
      }
    }
  }
  return found;
}

bool Ir::containsTensor(const TensorId &id) const {
  std::vector<const Graph *> graphs = getAllGraphs();
  return std::any_of(graphs.begin(), graphs.end(),
                     [&](const Graph *graph) { return graph->hasTensor(id); });
}

Tensor *Ir::getTensor(const TensorId &id) const {
  for (const Graph *graph : getAllGraphs()) {
    if (graph->hasTensor(id)) {
      return const_cast<Tensor *>(&graph->getTensor(id));
    }
  }
  throw error("[Ir] there is no tensor '{}'", id);
}

TensorId Ir::createIntermediateTensorId(const TensorId &base) {
  TensorId id;
  do {
    id = base + "__t" + std::to_string(intermediates_++);
  } while (containsTensor(id));
  return id;
}

void Ir::addAdditionalModelProtoTensor(const TensorId &id) {
  getTensor(id); // there must be one
  if (std::find(additionalTensors_.begin(), additionalTensors_.end(), id) ==
      additionalTensors_.end()) {
    additionalTensors_.push_back(id);
  }
}

void Ir::addAdditionalModelProtoTensor(Tensor *tensor) {
  addAdditionalModelProtoTensor(tensor->id);
}

} // namespace popart
