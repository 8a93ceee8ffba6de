// What an operation's gradient rule works with: the gradients of its outputs,
// a way to add operations to the backward pass, and a place for the results.
#pragma once

#include <popart/graph.hpp>

#include <memory>
#include <string>
#include <vector>

namespace popart {

class GradientBuilder {
public:
  // Gradients of `op`'s outputs by index, empty where none arrives; wanted[i]:
  // input i's gradient leads somewhere. Operations get `settings`.
  GradientBuilder(Graph &graph, const Op &op, std::vector<TensorId> gradients,
                  std::vector<bool> wanted, Op::Settings settings);

  const TensorId &outputGradient(OutIndex i) const {
    return gradients_.at(static_cast<std::size_t>(i));
  }
  bool isWanted(InIndex i) const {
    return wanted_.at(static_cast<std::size_t>(i));
  }
  const Shape &shapeOf(const TensorId &id) const;

  // Each adds one operation and returns its outputs, or its first.
  std::vector<TensorId> addAll(const std::string &domain,
                               const std::string &type,
                               const std::vector<TensorId> &inputs,
                               const Attributes &attributes = {});
  TensorId add(const std::string &domain, const std::string &type,
               const std::vector<TensorId> &inputs,
               const Attributes &attributes = {});
  // An operation that is not connected yet.
  std::vector<TensorId> addOp(std::unique_ptr<Op> op,
                              const std::vector<TensorId> &inputs);
  // The operations of a subgraph that takes `inputs`; what it returns.
  std::vector<TensorId> addCopyOf(const Graph &body,
                                  const std::vector<TensorId> &inputs);
  // An element-wise expression; "a,b" names the inputs. The result has `shape`.
  TensorId addElementwise(const std::string &expression,
                          const std::string &names,
                          const std::vector<TensorId> &inputs,
                          const Shape &shape);
  TensorId addReshape(const TensorId &input, const Shape &shape);
  TensorId addFill(const TensorInfo &info, float value);
  // The sum of `input` over the dimensions along which `shape` was broadcast.
  TensorId addReduceTo(const TensorId &input, const Shape &shape);

  // Hands over the gradient of input i; it is dropped when nobody wants it.
  void setGradient(InIndex i, const TensorId &gradient);
  const std::vector<TensorId> &inputGradients() const { return results_; }

private:
  Graph &graph_;
  std::vector<TensorId> gradients_;
  std::vector<bool> wanted_;
  std::vector<TensorId> results_;
  Op::Settings settings_;
};

} // namespace popart
