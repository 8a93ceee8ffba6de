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

// How far a training step has been written out.
enum class IrProgress { Forward, Backward, Updates };

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
  IrProgress progress = IrProgress::Forward;

  // The same by PopART's names, for custom operators and patterns.
  bool canTrain() const { return isTraining(); }
  bool isTesting() const { return !isTraining(); }
  bool hasConstructedBackwards() const {
    return progress != IrProgress::Forward;
  }
  bool hasDecomposedOptimizers() const {
    return progress == IrProgress::Updates;
  }
  SessionOptions &getSessionOptions() { return sessionOptions; }
  const SessionOptions &getSessionOptions() const { return sessionOptions; }
  const DataFlow &getDataFlow() const { return dataFlow; }
  const Patterns &getPatterns() const { return patterns; }
  // Throws popart::error when there is none.
  const Optimizer &getOptimizer() const;
  const TensorId &getFinalLossId() const { return loss; }
  bool isAnchored(const TensorId &id) const { return dataFlow.isAnchored(id); }
  std::vector<TensorId> getAnchors() const { return dataFlow.anchors(); }
  Graph &getGraph(const GraphId &graph) { return getGraph(graph.str()); }
  std::vector<Op *> opsOfType(const OperatorIdentifier &opid) const;
  // In whichever graph it is; throws popart::error when it is in none.
  Tensor *getTensor(const TensorId &id) const;
  bool containsTensor(const TensorId &id) const;
  // A name that nothing has.
  TensorId createIntermediateTensorId(const TensorId &base);
  // A variable that a pattern made, which models that are written then have.
  void addAdditionalModelProtoTensor(const TensorId &id);
  void addAdditionalModelProtoTensor(Tensor *tensor);
  const std::vector<TensorId> &additionalModelProtoTensors() const {
    return additionalTensors_;
  }

private:
  std::vector<TensorId> additionalTensors_;
  std::size_t intermediates_ = 0;
  Graph mainGraph_;
  std::map<std::string, std::unique_ptr<Graph>> subgraphs_;
};

} // namespace popart
