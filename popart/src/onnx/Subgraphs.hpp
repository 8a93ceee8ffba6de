// Nodes that run subgraphs: If, Loop, Scan, Call and PackedDataBlock. Their
// subgraphs become graphs of the IR; loops whose turns must be told apart are
// written out.
#pragma once

#include <onnx/Importer.hpp>

#include <optional>
#include <vector>

namespace popart {

// The names that a subgraph reads and does not make: those of the graphs around
// it. In the order of their first use.
std::vector<TensorId> freeTensors(const onnx::GraphProto &body);
// The same of a node's subgraph.
std::vector<TensorId> freeTensors(const onnx::NodeProto &node,
                                  const onnx::GraphProto &body);

// An input of a subgraph that stands for a tensor of a graph around it. Call
// counts it among what it passes; other operators, and ONNX, do not.
void markAsOfParent(onnx::ValueInfoProto &input, const TensorId &id);
// The node with subgraphs whose inputs are passed by the node.
onnx::NodeProto withPassedInputs(const onnx::NodeProto &node);

// A constant that subgraphs have for their own, so that their rules can read
// it; larger ones are passed like other tensors.
bool isCopiedIntoBodies(const Tensor &tensor);

class SubgraphImporter {
public:
  // `proto` is what becomes `graph`.
  SubgraphImporter(const OnnxModel &model, const onnx::GraphProto &proto,
                   const ImportOptions &options, Graph &graph);

  // Adds a node of `graph` that has subgraphs. What these read of `graph`
  // becomes further inputs of the operation and of all its subgraphs, as many
  // as the attribute "captured" says.
  void add(const onnx::NodeProto &node, const OperatorIdentifier &opid,
           const Attributes &attributes, const Op::Settings &settings);

private:
  // What is said of the node that is being added.
  struct Node {
    const onnx::NodeProto &proto;
    OperatorIdentifier opid;
    Attributes attributes;
    Op::Settings settings;
    std::vector<TensorId> inputs; // of its own
    std::vector<TensorId> captured;
  };

  void addIf(Node &node);
  void addCall(Node &node);
  void addPackedData(Node &node);
  void addLoop(Node &node);
  void addScan(Node &node);
  void addBatchedScan(Node &node);

  void unrollLoop(const Node &node, const onnx::GraphProto &body,
                  std::int64_t turns);
  // The number of turns, if the model says it and no condition ends them.
  std::optional<std::int64_t> knownTurns(const Node &node,
                                         const onnx::GraphProto &body) const;

  Graph &importBody(const Node &node, const onnx::GraphProto &body,
                    const std::vector<BodyInput> &inputs);
  void addOp(Node &node);
  BodyInput passed(const TensorId &id) const;

  const OnnxModel &model_;
  const onnx::GraphProto &proto_;
  ImportOptions options_;
  Graph &graph_;
};

} // namespace popart
