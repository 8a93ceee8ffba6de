// INTERFACE: the IR operation. An Op is data: an identifier, attributes, named
// inputs and outputs, a placement. What it means (shapes, gradient, lowering)
// is its rule, in one file of popart/src/ops/, listed in ops/List.cpp.
#pragma once

#include <popart/attributes.hpp>
#include <popart/names.hpp>
#include <popart/tensorinfo.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace popart {

class Graph;
class Tensor;
struct OpRule; // popart/src/ops/OpRule.hpp

struct OperatorIdentifier {
  std::string domain; // "ai.onnx", "ai.graphcore", "aspen" for internal ones
  std::string type;
  int version = 1;

  friend bool operator==(const OperatorIdentifier &a,
                         const OperatorIdentifier &b) {
    return a.domain == b.domain && a.type == b.type && a.version == b.version;
  }
};

// Which part of a training step an operation belongs to.
enum class ExecutionContext {
  Normal,                  // forward and backward: every micro-batch
  AccumulateOuterFragment, // once per weight update
};

class Op {
public:
  struct Settings {
    std::string name; // debug path, e.g. "model/conv1/Conv"
    VGraphId vgraphId = unusedVGraphId;
    PipelineStage pipelineStage = unusedPipelineStage;
    ExecutionPhase executionPhase = unusedExecutionPhase;
    ExecutionContext executionContext = ExecutionContext::Normal;
    bool isBackward = false; // made by autodiff
  };

  OperatorIdentifier opid;
  Attributes attributes;
  Settings settings;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;

  Op(Graph &graph, const OpRule &rule, OperatorIdentifier opid,
     Attributes attributes, Settings settings);

  Graph &getGraph() const { return *graph_; }
  const OpRule &rule() const { return *rule_; }

  const TensorInfo &inInfo(InIndex i) const;
  const TensorInfo &outInfo(OutIndex i) const;
  const Shape &inShape(InIndex i) const { return inInfo(i).shape(); }
  const Shape &outShape(OutIndex i) const { return outInfo(i).shape(); }
  // False for an optional input that was left out (an empty id).
  bool hasInput(InIndex i) const;
  // The input whose storage output i updates in place; -1: an ordinary output.
  InIndex modifiedInput(OutIndex i) const;
  // "model/conv1/Conv (ai.onnx.Conv)", for messages.
  std::string str() const;

private:
  Graph *graph_;
  const OpRule *rule_;
};

} // namespace popart
