// The model that a builder makes, and a graph of the IR beside it that infers
// types and shapes as nodes are added.
#pragma once

#include <onnx/Proto.hpp>
#include <popart/graph.hpp>
#include <popart/modelbuilder.hpp>

#include <set>
#include <string>
#include <vector>

namespace popart {

struct ModelBuilder::Implementation {
  onnx::ModelProto model;
  // What is known of the model's tensors. Nodes whose operator or inputs are
  // unknown are not in it.
  Graph shapes;
  std::set<TensorId> tensors; // every id of this graph
  std::map<TensorId, onnx::NodeProto *> producers;
  // Shared with parent and children: ids are unique in all of them.
  std::shared_ptr<std::set<TensorId>> names =
      std::make_shared<std::set<TensorId>>();
  std::vector<std::string> scopes;
  AttributeMap attributes; // of the nodes that are added now
  Implementation *parent = nullptr;
  std::vector<std::unique_ptr<ModelBuilder>> children;

  onnx::GraphProto &graph() { return *model.mutable_graph(); }

  // `stem` with the scopes before it, made unique.
  TensorId uniqueId(const std::string &stem);
  // In this graph or one around it.
  bool knows(const TensorId &id) const;
  void requireTensor(const TensorId &id) const;
  void requireOpset(const std::string &domain, int version);
  // The opset of a domain; 0 when no node of it was added.
  int opset(const std::string &domain) const;
  onnx::NodeProto &findNode(const std::set<TensorId> &outputs) const;

  void addInput(const TensorId &id, const TensorInfo &info);
  // To `shapes`; null data is not looked at.
  void addWeight(const TensorId &id, const TensorInfo &info, const void *data);
  // Of a variable whose groups of replicas may have values of their own.
  TensorInfo infoOnReplica(const TensorId &id, const TensorInfo &info,
                           const VariableSettings &settings) const;
  // Adds the node's outputs to `shapes`, if its inputs are there and there is a
  // rule for it.
  void infer(onnx::NodeProto &node);
  // The same for a node with subgraphs; false if it has none.
  bool inferBodies(const onnx::NodeProto &node);
  // The same for an operator of a shared object; false if it is none.
  bool inferCustom(const onnx::NodeProto &node);
  // `node` is for messages.
  void setOutputInfo(const TensorId &id, const TensorInfo &info,
                     const onnx::NodeProto &node);
};

// A child's graph, for the node that has it as an attribute.
class BuilderAccess {
public:
  static ModelBuilder::Implementation &get(const ModelBuilder &builder) {
    return *builder.implementation_;
  }
};

// Sets a node's attribute from a value of one of ModelBuilder's types.
void setValue(onnx::AttributeProto &attribute, const std::string &name,
              const popart::any &value);

onnx::AttributeProto *findAttribute(onnx::NodeProto &node,
                                    const std::string &name);

// Throws popart::error for names that PopART makes itself.
void requireUnreserved(const TensorId &id);

} // namespace popart
