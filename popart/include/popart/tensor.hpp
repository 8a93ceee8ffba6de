// A tensor of the IR: what it is, who makes it and who reads it.
#pragma once

#include <popart/inputsettings.hpp>
#include <popart/names.hpp>
#include <popart/tensordata.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/variablesettings.hpp>

#include <vector>

namespace popart {

class Op;

enum class TensorType { ActGrad, Const, Stream, Variable };

// How training changes a variable: not at all, by its gradient and the
// optimiser, or by an operation of the model itself.
enum class VariableUpdateType { None, Gradient, Copy };

class Tensor {
public:
  TensorId id;
  TensorInfo info;
  TensorType type = TensorType::ActGrad;
  Op *producer = nullptr;
  std::vector<Op *> consumers;
  VariableUpdateType variableUpdateType = VariableUpdateType::Gradient;
  // Stream: what the replicas get.
  ReplicatedStreamMode replicatedStreamMode = ReplicatedStreamMode::Replicate;
  // Const and Variable: the initial value, info.nbytes() bytes for each group
  // of replicas that has a value of its own.
  TensorData data;
  VariableSettings variableSettings;

  // The same by PopART's names, for custom operators and patterns.
  TensorType tensorType() const { return type; }
  bool hasProducer() const { return producer != nullptr; }
  Op *getProducer() const { return producer; }
  bool hasTensorData() const { return !data.empty(); }
  const TensorData *tensorData() const { return &data; }
  const TensorId &str() const { return id; }
};

} // namespace popart
