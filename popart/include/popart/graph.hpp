// A graph of the IR: tensors and the operations between them, in an order that
// is a schedule.
#pragma once

#include <popart/op.hpp>
#include <popart/tensor.hpp>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace popart {

class Ir;

class Graph {
public:
  Graph() = default; // of no IR
  explicit Graph(Ir &ir, std::string id = "") : id(std::move(id)), ir_(&ir) {}
  Graph(const Graph &) = delete; // operations point at their graph
  Graph &operator=(const Graph &) = delete;

  // The name of a subgraph; empty for the main graph.
  std::string id;

  // Throws popart::error when it belongs to none.
  Ir &getIr() const;
  bool hasIr() const { return ir_ != nullptr; }

  // An input fed by the host for every micro-batch.
  TensorId addStream(const TensorId &id, const TensorInfo &info);
  // A weight or other state; `data` is copied.
  TensorId addVariable(const TensorId &id, const TensorInfo &info,
                       const void *data);
  TensorId addConstant(const TensorId &id, const TensorInfo &info,
                       const void *data);

  // Of a subgraph: what its caller passes, and what it returns, in order.
  TensorId addInput(const TensorId &id, const TensorInfo &info);
  void markAsOutput(const TensorId &id);
  const std::vector<TensorId> &getInputIds() const { return inputs_; }
  const std::vector<TensorId> &getOutputIds() const { return outputs_; }

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
  // The same with an operation that is not connected yet.
  Op &addOp(std::unique_ptr<Op> op, const std::vector<TensorId> &inputs,
            const std::vector<TensorId> &outputs);

  // For patterns: an operation whose inputs and outputs are connected later.
  OpId moveIntoGraph(std::unique_ptr<Op> op);
  template <typename T, typename... Args> T *createOp(Args &&...args) {
    std::unique_ptr<T> op(new T(std::forward<Args>(args)...));
    T *made = op.get();
    moveIntoGraph(std::move(op));
    return made;
  }
  // Inputs and outputs by index; outputs are made.
  template <typename T, typename... Args>
  T *createConnectedOp(const std::map<InIndex, TensorId> &inputs,
                       const std::map<OutIndex, TensorId> &outputs,
                       Args &&...args) {
    T *op = createOp<T>(std::forward<Args>(args)...);
    connectNew(*op, inputs, outputs);
    return op;
  }
  // Removes an operation and those of its outputs that are still its own, which
  // nothing may consume.
  void eraseOp(OpId id);

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
  Op &addOpBefore(Ops::iterator position, std::unique_ptr<Op> op,
                  const std::vector<TensorId> &inputs,
                  const std::vector<TensorId> &outputs);
  void connect(Op &op);
  void connectNew(Op &op, const std::map<InIndex, TensorId> &inputs,
                  const std::map<OutIndex, TensorId> &outputs);
  TensorId uniqueName(const std::string &stem);

  friend class GraphEditor; // popart/src/ir/GraphEditor.hpp: insert, erase,
                            // move
  friend class Op;          // makes outputs one by one, for patterns
  Ir *ir_ = nullptr;
  std::map<TensorId, Tensor> tensors_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
  Ops ops_;
  std::int64_t nextName_ = 0;
  OpId nextOp_ = 0;
};

} // namespace popart
