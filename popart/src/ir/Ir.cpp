// The graphs of an IR.
#include <popart/ir.hpp>

#include <popart/error.hpp>
#include <support/Error.hpp>

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

} // namespace popart
