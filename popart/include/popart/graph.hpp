// A graph of the IR: tensors and the operations between them, in an order that
// is a schedule.
#pragma once

#include <popart/op.hpp>
#include <popart/tensor.hpp>
#include <popart/tensors.hpp>
#include <popart/topocons.hpp>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace popart {

class Ir;

// Whether a schedule must be the best there is; here it is what it is.
enum class RequireOptimalSchedule { Yes, No };

// The name of a subgraph; empty for the main graph.
class GraphId {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): as the documentation has it
  GraphId(std::string id = "") : id_(std::move(id)) {}

  static GraphId root() { return {}; }
  const std::string &str() const { return id_; }
  friend bool operator==(const GraphId &a, const GraphId &b) {
    return a.id_ == b.id_;
  }
  friend bool operator!=(const GraphId &a, const GraphId &b) {
    return !(a == b);
  }
  friend bool operator<(const GraphId &a, const GraphId &b) {
    return a.id_ < b.id_;
  }

private:
  std::string id_;
};

class Graph {
public:
  Graph() = default; // of no IR
  explicit Graph(Ir &ir, std::string id = "") : id(std::move(id)), ir_(&ir) {}
  Graph(const Graph &) = delete; // operations point at their graph
  Graph &operator=(const Graph &) = delete;

  // The name of a subgraph; empty for the main graph.
  std::string id;
  // What schedules keep to besides tensors.
  const std::unique_ptr<TopoCons> topoCons{new TopoCons()};

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
  bool hasInputId(const TensorId &id) const;
  bool hasOutputId(const TensorId &id) const;

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

  // For patterns: by PopART's names.
  GraphId getGraphId() const { return GraphId(id); }
  std::string getGraphString() const;
  Scope getScope() const;
  Tensors &getTensors() { return tensorView_; }
  const Tensors &getTensors() const { return tensorView_; }
  // Throws popart::error when there is none of that number.
  Op *getOp(OpId id) const;
  Op *getOpUnsafe(OpId id) const; // null instead
  // The operations that run this graph.
  std::vector<Op *> getCallSiteOps() const;
  std::vector<Op *> getOpSchedule(const OpMap<std::vector<Op *>> &extraBefores,
                                  RequireOptimalSchedule optimal) const;
  TensorId getLoss() const;
  // Operations that read the one read the other.
  void replaceTensor(const TensorId &oldId, const TensorId &newId);
  void addVarInit(const TensorId &name, const TensorInfo &info,
                  const void *data, const DebugContext &context = {}) {
    tensorView_.addVarInit(name, info, data, context);
  }
  void addConstInit(const TensorId &name, const TensorInfo &info,
                    const void *data, const DebugContext &context = {}) {
    tensorView_.addConstInit(name, info, data, context);
  }
  void addActGrad(const TensorId &name, const DebugContext &context = {}) {
    tensorView_.addActGrad(name, context);
  }
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
  friend class Tensors;
  friend class Op; // makes outputs one by one, for patterns
  Ir *ir_ = nullptr;
  Tensors tensorView_{*this};
  std::map<TensorId, Tensor> tensors_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
  Ops ops_;
  std::int64_t nextName_ = 0;
  OpId nextOp_ = 0;
};

} // namespace popart
