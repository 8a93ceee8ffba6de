// Changes to a graph beyond appending: what passes use. Keeps producers and
// consumers right; order is the caller's business (Verify.hpp checks it).
#pragma once

#include <popart/graph.hpp>

#include <unordered_map>

namespace popart {

class GraphEditor {
public:
  explicit GraphEditor(Graph &graph);

  // Adds an operation before `position`, or at the end when it is null. As
  // Graph::addOp otherwise.
  Op &insertBefore(const Op *position, const OperatorIdentifier &opid,
                   const std::vector<TensorId> &inputs,
                   const std::vector<TensorId> &outputs,
                   const Attributes &attributes, const Op::Settings &settings);
  // The same with an operation that is not connected yet.
  Op &insertBefore(const Op *position, std::unique_ptr<Op> op,
                   const std::vector<TensorId> &inputs,
                   const std::vector<TensorId> &outputs);

  // The operation scheduled after this one, or null.
  Op *next(const Op &op) const;

  // Removes an operation and its outputs, which nothing may consume.
  void erase(Op &op);
  // Removes a tensor that nothing produces or consumes.
  void eraseTensor(const TensorId &id);

  void renameTensor(const TensorId &from, const TensorId &to);
  void replaceInput(Op &op, InIndex index, const TensorId &id);
  // The same for an input that was left out.
  void addInput(Op &op, InIndex index, const TensorId &id);
  // Where it reads `from`, an operation, or each that does, reads `to`.
  void replaceReads(Op &reader, const TensorId &from, const TensorId &to);
  void replaceReads(const TensorId &from, const TensorId &to);

  // The schedule becomes `order`, which holds every operation once.
  void reorder(const std::vector<Op *> &order);

  // Replaces the (empty) graph by a copy of `source`.
  void copyFrom(const Graph &source);

  // The graph returns nothing any more; what it did return.
  std::vector<TensorId> takeOutputs();

  // A name that no tensor has, starting with `stem`.
  TensorId uniqueName(const std::string &stem);

private:
  using Position = std::list<std::unique_ptr<Op>>::iterator;

  Graph &graph_;
  std::unordered_map<const Op *, Position> positions_;
};

} // namespace popart
