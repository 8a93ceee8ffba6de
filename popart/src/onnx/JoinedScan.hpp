// PopART's Scan as ONNX's. PopART's joins what the turns return along an axis,
// where ONNX's stacks it along a new one, and what it hands a turn of a tensor
// of one dimension has one, too. A model that says its outputs' shapes, as
// exported ones do, may mean either.
#pragma once

#include <onnx/Proto.hpp>
#include <popart/graph.hpp>

#include <vector>

namespace popart {

class JoinedScan {
public:
  // The node's own: `graph` has the inputs.
  JoinedScan(Graph &graph, Attributes attributes, std::vector<TensorId> inputs,
             Op::Settings settings);

  // First: scanned inputs of one dimension get another one, unless the body
  // says that it takes scalars.
  void keepAxes(const onnx::GraphProto &body);
  // What a turn takes.
  std::vector<TensorInfo> bodyInputs() const;
  // Then: the outputs that are to be joined, which `proto`, the graph of the
  // node, does not give a dimension more than `body` returns.
  void joinOutputs(const Graph &body, const std::vector<TensorId> &outputs,
                   const onnx::GraphProto &proto);
  // At last, when ONNX's Scan of what follows is there.
  void addJoins();

  const Attributes &attributes() const { return attributes_; }
  const std::vector<TensorId> &inputs() const { return inputs_; }
  const std::vector<TensorId> &outputs() const { return outputs_; }

private:
  struct Join {
    TensorId stacked;
    TensorId name;
    std::int64_t axis;
  };

  Graph &graph_;
  Attributes attributes_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
  Op::Settings settings_;
  std::size_t states_;
  std::vector<Join> joins_;
};

} // namespace popart
