// One graph of a model on its way into the IR: the main graph or a subgraph.
#pragma once

#include <onnx/Import.hpp>
#include <onnx/Proto.hpp>

#include <set>
#include <string>
#include <vector>

namespace popart {

// What an operation passes to its subgraph.
struct BodyInput {
  TensorInfo info;
  // Known while the model is read, as the number of a turn that is written out.
  bool isKnown = false;
  std::vector<char> value = {};
};

class Importer {
public:
  Importer(const OnnxModel &model, const onnx::GraphProto &proto,
           const ImportOptions &options, Graph &graph)
      : model_(model), proto_(proto), options_(options), graph_(graph) {}

  // The main graph.
  void run();
  // A subgraph: it takes `inputs`, then the captured tensors of `outer`, the
  // graph around it, whose small constants it has for its own.
  void runBody(const std::vector<BodyInput> &inputs,
               const std::vector<TensorId> &captured, const Graph &outer);

private:
  void findUses();
  void addInitializers();
  void addInitializer(const onnx::TensorProto &tensor);
  // A variable in any case: its groups of replicas may have different values.
  void addGroupedInitializer(const onnx::TensorProto &proto,
                             const VariableSettings &settings);
  TensorInfo inputInfo(const onnx::ValueInfoProto &input) const;
  void addNode(const onnx::NodeProto &node);
  void addOperation(const onnx::NodeProto &node,
                    const OperatorIdentifier &opid);

  const OnnxModel &model_;
  const onnx::GraphProto &proto_;
  const ImportOptions &options_;
  Graph &graph_;
  std::set<TensorId> compileTime_; // initialisers that must be constants
  std::set<TensorId> overwritten_; // by the model itself
  std::set<TensorId> unused_;
};

} // namespace popart
