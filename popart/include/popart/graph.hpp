// A graph of the IR: tensors and the operations between them, in an order that
// is a schedule.
#pragma once

#include <popart/inputsettings.hpp>
#include <popart/op.hpp>

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace popart {

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
  // Const and Variable: the initial value, info.nbytes() bytes.
  std::vector<char> data;
};

class Graph {
public:
  Graph() = default;
  Graph(const Graph &) = delete; // operations point at their graph
  Graph &operator=(const Graph &) = delete;

  // An input fed by the host for every micro-batch.
  TensorId addStream(const TensorId &id, const TensorInfo &info);
  // A weight or other state; `data` is copied.
  TensorId addVariable(const TensorId &id, const TensorInfo &info,
                       const void *data);
  TensorId addConstant(const TensorId &id, const TensorInfo &info,
                       const void *data);

  // Appends an operation, infers its outputs' types and shapes and checks its
  // inputs. Empty ids in `outputs` are named by the graph. Throws popart::error
  // naming the operation and what is wrong.
  Op &addOp(const OperatorIdentifier &opid, const std::vector<TensorId> &inputs,
            const std::vector<TensorId> &outputs, const Attributes &attributes,
            const Op::Settings &settings);
  // The same with `count` outputs named by the graph.
  std::vector<TensorId> addOp(const OperatorIdentifier &opid,
                              const std::vector<TensorId> &inputs,
                              unsigned count, const Attributes &attributes,
                              const Op::Settings &settings);

  bool hasTensor(const TensorId &id) const;
  Tensor &getTensor(const TensorId &id);
  const Tensor &getTensor(const TensorId &id) const;
  std::vector<TensorId> getTensorIds() const;
  // Operations in schedule order.
  const std::list<std::unique_ptr<Op>> &getOps() const { return ops_; }

private:
  using Ops = std::list<std::unique_ptr<Op>>;

  TensorId addTensor(const TensorId &id, const TensorInfo &info,
                     TensorType type, const void *data);
  Op &addOpBefore(Ops::iterator position, const OperatorIdentifier &opid,
                  const std::vector<TensorId> &inputs,
                  const std::vector<TensorId> &outputs,
                  const Attributes &attributes, const Op::Settings &settings);
  void connect(Op &op);
  TensorId uniqueName(const std::string &stem);

  friend class GraphEditor; // popart/src/ir/GraphEditor.hpp: insert, erase,
                            // move
  std::map<TensorId, Tensor> tensors_;
  Ops ops_;
  std::int64_t nextName_ = 0;
};

} // namespace popart
