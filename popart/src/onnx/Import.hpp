// From an ONNX model to a graph of the IR.
#pragma once

#include <onnx/Model.hpp>
#include <popart/graph.hpp>
#include <popart/inputshapeinfo.hpp>

#include <map>

namespace onnx {
class AttributeProto;
} // namespace onnx

namespace popart {

struct ImportOptions {
  InputShapeInfo inputShapeInfo;
  // Floating-point initialisers can change: training, or inference without
  // constant weights. Otherwise they are constants.
  bool areWeightsVariable = false;
  // Only ONNX's versions that a rule lists; false: the nearest lower one.
  bool strictOpVersions = true;
  // Gradients will be wanted: loops of a known number of turns are written out.
  bool isTraining = false;
  // Replicas whose groups may have weights of their own.
  unsigned replicationFactor = 1;
};

// Adds the model's inputs, initialisers and nodes to `graph`. Throws
// popart::error naming node, operator and opset.
void importModel(const OnnxModel &model, const ImportOptions &options,
                 Graph &graph);

// Initialisers that no node reads: the state of an optimiser that modelToHost
// saved with the weights.
std::map<TensorId, Attributes::Tensor> savedState(const OnnxModel &model);

// An attribute as the IR has it; false for kinds that it does not have (graphs
// and sparse tensors).
bool addAttribute(Attributes &attributes, const onnx::AttributeProto &proto);

// The version of an operator's rule for a model's opset: ONNX's since-version.
// Throws popart::error when no rule has it; `node` is for the message.
OperatorIdentifier resolveOperator(const std::string &domain,
                                   const std::string &type, int opset,
                                   bool strictOpVersions,
                                   const std::string &node);

} // namespace popart
