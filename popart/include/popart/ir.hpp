// What a front end hands over: a forward graph with a loss, or a graph that
// already contains gradients and updates.
#pragma once

#include <popart/dataflow.hpp>
#include <popart/graph.hpp>
#include <popart/inputsettings.hpp>
#include <popart/optimizer.hpp>
#include <popart/patterns/patterns.hpp>
#include <popart/sessionoptions.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace popart {

class Ir {
public:
  Ir() : mainGraph_(*this) {}
  Ir(const Ir &) = delete; // graphs point at their IR
  Ir &operator=(const Ir &) = delete;

  Graph &getMainGraph() { return mainGraph_; }
  const Graph &getMainGraph() const { return mainGraph_; }
  // A subgraph; its name starts with `stem` and is unique.
  Graph &createGraph(const std::string &stem);
  // Throws popart::error when there is none of that name.
  Graph &getGraph(const std::string &id);
  // The main graph first.
  std::vector<Graph *> getAllGraphs();
  std::vector<const Graph *> getAllGraphs() const;

  DataFlow dataFlow;
  // Through which tiles, and when, inputs come that are not here by default.
  std::map<TensorId, InputSettings> inputSettings;
  SessionOptions sessionOptions;
  Patterns patterns;
  // Training: the scalar to minimise and how; null for inference.
  TensorId loss;
  std::shared_ptr<Optimizer> optimizer;

  bool isTraining() const { return optimizer != nullptr; }

private:
  Graph mainGraph_;
  std::map<std::string, std::unique_ptr<Graph>> subgraphs_;
};

} // namespace popart
