// Operators that stand for others: a rule that has `compose` adds those, and
// nothing of itself is in a graph. They say what ONNX's documents say, in terms
// of operators whose gradients and costs are known.
#pragma once

#include <popart/graph.hpp>

#include <string>
#include <vector>

namespace popart {

class Composer {
public:
  using Ids = std::vector<TensorId>;

  // `op` is what a model wrote, in no graph.
  explicit Composer(const Op &op) : op_(op), graph_(op.getGraph()) {}

  bool isWanted(OutIndex i) const;
  const TensorInfo &info(const TensorId &id) const;
  const Shape &shape(const TensorId &id) const { return info(id).shape(); }
  DataType type(const TensorId &id) const { return info(id).dataType(); }

  // One operation of ONNX with one result; `version` where its meaning changed.
  TensorId add(const std::string &type, const Ids &inputs,
               const Attributes &attributes = {}, int version = 1);
  // One with `count` results.
  Ids addSeveral(const OperatorIdentifier &opid, const Ids &inputs,
                 std::size_t count, const Attributes &attributes = {});
  // A formula over the inputs a, b and c, with what makes their gradients of g
  // (ops/Formula.hpp).
  TensorId addFormula(const std::string &value,
                      const std::vector<std::string> &gradients,
                      const Ids &inputs, bool isPredicate = false);

  TensorId reshape(const TensorId &id, const Shape &shape);
  TensorId expand(const TensorId &id, const Shape &shape);
  TensorId transpose(const TensorId &id, const Attributes::Ints &order);
  TensorId cast(const TensorId &id, DataType type);
  // Numbers [begin, end) of dimension `axis`.
  TensorId slice(const TensorId &id, std::int64_t axis, std::int64_t begin,
                 std::int64_t end);
  // Of any type; INT32 keeps whole numbers as they are.
  TensorId constant(const std::vector<double> &values, const TensorInfo &info);
  TensorId scalar(double value, DataType type);
  // 0, 1, ... in INT32.
  TensorId counting(std::int64_t count);

  // Result i of what the model wrote.
  void setOutput(OutIndex i, const TensorId &id);

private:
  TensorId addNumbers(const void *data, const TensorInfo &numbers);
  Ids addAll(const OperatorIdentifier &opid, const Ids &inputs,
             const Ids &outputs, const Attributes &attributes);

  const Op &op_;
  Graph &graph_;
};

// Whether an operation stands for others.
bool isComposed(const OpRule *rule, const Attributes &attributes);
// Adds those.
void compose(Graph &graph, const OpRule &rule, const OperatorIdentifier &opid,
             const std::vector<TensorId> &inputs,
             const std::vector<TensorId> &outputs, const Attributes &attributes,
             const Op::Settings &settings);

// Adds the operation, or those that it stands for. What is constant and small
// is computed at once: rules further on may want to know it.
void addOrCompose(Graph &graph, const OperatorIdentifier &opid,
                  const std::vector<TensorId> &inputs,
                  const std::vector<TensorId> &outputs,
                  const Attributes &attributes, const Op::Settings &settings);

} // namespace popart
