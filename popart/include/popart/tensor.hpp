// A tensor of the IR: what it is, who makes it and who reads it.
#pragma once

#include <popart/inputsettings.hpp>
#include <popart/names.hpp>
#include <popart/tensordata.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/variablesettings.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace popart {

class Graph;
class Ir;
class Op;

enum class TensorType { ActGrad, Const, Stream, Variable, Unknown };

// How training changes a variable: not at all, by its gradient and the
// optimiser, or by an operation of the model itself.
enum class VariableUpdateType { None, Gradient, Copy };

// The operations that read a tensor, one entry for each time they do.
class Consumers : public std::vector<Op *> {
public:
  // Each of them once, in the order in which they came to read it.
  std::vector<Op *> getOps() const;
  int n(const Op *op) const; // how often it reads the tensor
  int getTotal() const { return static_cast<int>(size()); }
  std::map<Op *, int> getMap() const;
  std::set<PipelineStage> getPipelineStages() const;
  std::set<VGraphId> getVirtualGraphIds() const;
};

class Tensor {
public:
  TensorId id;
  TensorInfo info;
  TensorType type = TensorType::ActGrad;
  Op *producer = nullptr;
  Consumers consumers;
  VariableUpdateType variableUpdateType = VariableUpdateType::Gradient;
  // Stream: what the replicas get.
  ReplicatedStreamMode replicatedStreamMode = ReplicatedStreamMode::Replicate;
  // Const and Variable: the initial value, info.nbytes() bytes for each group
  // of replicas that has a value of its own.
  TensorData data;
  VariableSettings variableSettings;

  // The same by PopART's names, for custom operators and patterns.
  TensorType tensorType() const { return type; }
  std::string tensor_type() const; // "Variable"
  bool hasProducer() const { return producer != nullptr; }
  // Throws popart::error when there is none.
  Op *getProducer() const;
  Op *getProducerUnsafe() const { return producer; }
  bool hasTensorData() const { return !data.empty(); }
  // Throw popart::error when there are none.
  TensorData *tensorData();
  const TensorData *tensorData() const;
  const TensorId &str() const { return id; }
  const VariableSettings &getVariableSettings() const {
    return variableSettings;
  }

  Graph &getGraph() const { return *graph_; }
  Ir &getIr() const;
  bool isGraphInput() const;
  bool isGraphOutput() const;
  InIndex getGraphInputIndex() const;
  OutIndex getGraphOutputIndex() const;
  bool isLoopInput() const { return isGraphInput(); }
  // The host gets it.
  bool isAnchored() const;
  bool isRootAnchor() const { return isAnchored(); }
  // A variable that the gradient changes, the sum of its gradients, the rest of
  // what the optimiser keeps, and its hyper-parameters.
  bool isWeightTensor() const;
  bool isAccumulatorTensor() const;
  bool isOptimizerStateTensor() const;
  bool isOptimizerTensor() const;
  bool isRandomSeedTensor() const;
  // The producer, and then the consumers.
  std::vector<Op *> associatedOps() const;
  // Of the producer, or of a consumer where there is none.
  bool hasVirtualGraphId() const;
  VGraphId getVirtualGraphId() const;

private:
  friend class Graph;
  friend class GraphEditor;
  friend class Tensors;
  const Op *placedOp() const;

  Graph *graph_ = nullptr;
};

// By their names.
struct PTensorCmp {
  bool operator()(const Tensor *a, const Tensor *b) const {
    return a->id < b->id;
  }
};

} // namespace popart
