// What a front end hands over: a forward graph with a loss, or a graph that
// already contains gradients and updates.
#pragma once

#include <popart/dataflow.hpp>
#include <popart/graph.hpp>
#include <popart/optimizer.hpp>
#include <popart/sessionoptions.hpp>

#include <memory>

namespace popart {

class Ir {
public:
  Ir() : mainGraph_(*this) {}
  Ir(const Ir &) = delete; // graphs point at their IR
  Ir &operator=(const Ir &) = delete;

  Graph &getMainGraph() { return mainGraph_; }
  const Graph &getMainGraph() const { return mainGraph_; }

  DataFlow dataFlow;
  SessionOptions sessionOptions;
  // Training: the scalar to minimise and how; null for inference.
  TensorId loss;
  std::shared_ptr<Optimizer> optimizer;

  bool isTraining() const { return optimizer != nullptr; }

private:
  Graph mainGraph_;
};

} // namespace popart
