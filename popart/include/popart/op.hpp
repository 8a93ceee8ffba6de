// INTERFACE: the IR operation. An Op is data: an identifier, attributes, named
// inputs and outputs, a placement. What it means (shapes, gradient, lowering)
// is its rule, in one file of popart/src/ops/, listed in ops/List.cpp; or, for
// an operator of the user's, a class derived from it.
#pragma once

#include <popart/alias/aliasmodel.hpp>
#include <popart/attributes.hpp>
#include <popart/basicoptionals.hpp>
#include <popart/commgroup.hpp>
#include <popart/names.hpp>
#include <popart/operatoridentifier.hpp>
#include <popart/opserialiser.hpp>
#include <popart/opsettings.hpp>
#include <popart/region.hpp>
#include <popart/tensorindex.hpp>
#include <popart/tensorinfo.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace popart {

class Graph;
class Ir;
class Tensor;
struct OpRule; // popart/src/ops/OpRule.hpp

// What an input of a gradient operator is.
enum class GradOpInType {
  In = 0,  // an input of the operator that it belongs to
  GradOut, // the gradient of one of that operator's outputs
  Out,     // one of that operator's outputs
};

// Inputs and outputs that are sharded together.
using ReplicatedTensorShardingIndices =
    std::set<std::pair<std::set<InIndex>, std::set<OutIndex>>>;

struct GradInOutMapper {
  GradInOutMapper(InIndex gradIn, int nonGrad, GradOpInType type)
      : iGrad(gradIn), iNonGrad(nonGrad), type(type) {}

  InIndex iGrad; // of the gradient operator
  int iNonGrad;  // of the operator that it belongs to
  GradOpInType type;
};

class Op {
public:
  using Settings = OpSettings;

  OperatorIdentifier opid;
  Attributes attributes;
  Settings settings;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  OpId id = -1; // in its graph
  // Views of `inputs` and `outputs`.
  const std::unique_ptr<TensorIndexMap> input;
  const std::unique_ptr<TensorIndexMap> output;

  // An operation that a rule gives its meaning.
  Op(Graph &graph, const OpRule &rule, OperatorIdentifier opid,
     Attributes attributes, Settings settings);
  // For derived classes.
  Op(const OperatorIdentifier &opid, const Settings &settings);
  // The same operation, connected to nothing.
  Op(const Op &other);
  Op &operator=(const Op &) = delete;
  virtual ~Op();

  Graph &getGraph() const { return settings.graph.get(); }
  Ir &getIr() const;
  const Settings &getSettings() const { return settings; }
  const OpRule &rule() const { return *rule_; }
  const std::string &name() const { return settings.name; }
  const std::string &getName() const { return settings.name; }
  // "model/conv1/Conv (ai.onnx.Conv)", for messages.
  std::string str() const;
  std::string debugName() const { return str(); }
  bool hasVirtualGraphId() const { return settings.vgraphId != unusedVGraphId; }
  VGraphId getVirtualGraphId() const { return settings.vgraphId; }

  const TensorInfo &inInfo(InIndex i) const;
  const TensorInfo &outInfo(OutIndex i) const;
  // In setup(), also before there are outputs: the type and shape to be.
  TensorInfo &outInfo(OutIndex i);
  const Shape &inShape(InIndex i) const { return inInfo(i).shape(); }
  const Shape &outShape(OutIndex i) const { return outInfo(i).shape(); }
  Rank inRank(InIndex i) const { return inInfo(i).rank(); }
  Rank outRank(OutIndex i) const { return outInfo(i).rank(); }
  const TensorId &inId(InIndex i) const { return input->id(i); }
  const TensorId &outId(OutIndex i) const { return output->id(i); }
  Tensor *inTensor(InIndex i) const { return input->tensor(i); }
  Tensor *outTensor(OutIndex i) const { return output->tensor(i); }
  int inTensorCount() const { return input->n(); }
  int outTensorCount() const { return output->n(); }
  // False for an optional input that was left out (an empty id).
  bool hasInput(InIndex i) const { return input->hasIndex(i); }
  bool hasOutput(OutIndex i) const { return output->hasIndex(i); }
  // The input whose storage output i updates in place; -1: an ordinary output.
  InIndex modifiedInput(OutIndex i) const;
  // NumPy's broadcasting, with this operation in the message.
  Shape prettyNpOut(const Shape &a, const Shape &b) const;
  TensorInfo prettyNpOut(const TensorInfo &a, const TensorInfo &b) const;

  // For patterns; the graph is put in order when the pattern has been applied.
  virtual void connectInTensor(InIndex i, TensorId id);
  void connectOutTensor(OutIndex i, TensorId id);
  void createAndConnectOutTensor(OutIndex i, TensorId id);
  void disconnectInTensor(InIndex i);
  void disconnectAllInputs();
  void disconnectAllOutputs();

  // What a derived class must define.
  virtual std::unique_ptr<Op> clone() const;
  virtual void setup();
  // What it may define. Without gradient operators the gradient stops.
  virtual std::vector<std::unique_ptr<Op>> getGradOps();
  // Of a gradient operator: where its inputs come from, and whose gradients
  // its outputs are (by index of the operator that it belongs to).
  virtual const std::vector<GradInOutMapper> &gradInputInfo() const;
  virtual const std::map<int, int> &gradOutToNonGradIn() const;
  // Inputs without which the operator can do.
  virtual std::set<InIndex> optionalInputs() const { return {}; }
  virtual bool hasSideEffect() const;
  virtual bool canRecompute() const { return true; }
  virtual bool isNorm() const;
  virtual void appendAttributes(OpSerialiserBase &serialiser) const;
  virtual void appendOutlineAttributes(OpSerialiserBase &serialiser) const;
  virtual bool requiresRandomSeed() const { return false; }
  virtual InIndex getSeedInIndex() const { return -1; }
  // Graphs that the operation runs: its attributes', unless a class has others.
  virtual std::vector<const Graph *> getCalledGraphs() const;

  // What outlining weighs: how much it is worth to have the operation's code
  // once, and whether it may be part of a function.
  virtual float getSubgraphValue() const { return getLowSubgraphValue(); }
  static constexpr float getHighSubgraphValue() { return 1000.0f; }
  static constexpr float getLowSubgraphValue() { return 0.1f; }
  virtual bool isOutlineable() const { return true; }

  // Hints that derived classes may define and that nothing reads: sharding and
  // running in place are the compiler's choice.
  virtual bool canShard() const { return false; }
  virtual ReplicatedTensorShardingIndices
  getReplicatedTensorShardingIndices() const {
    return {};
  }
  virtual void
  configureForReplicatedTensorSharding(ReplicatedTensorShardingIndices,
                                       CommGroup) {}
  virtual std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const {
    return {};
  }
  virtual std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const;
  virtual view::Regions modifies(InIndex i) const;
  virtual view::Regions uses(InIndex i) const;
  virtual view::Regions aliases(InIndex in, OutIndex out) const;
  virtual view::RegMap fwdRegMap(InIndex in, OutIndex out) const;
  virtual view::RegMap bwdRegMap(InIndex in, OutIndex out) const;
  virtual void growAliasModel(AliasModel &) const {}
  virtual poprithms::memory::inplace::Proposal
  mapInplaceProposal(const AliasModel &, OperatorIdentifier) const {
    return {};
  }

protected:
  void growAliasModelMulti(AliasModel &) const {}
  poprithms::memory::inplace::Proposal
  mapInplaceProposal0(const AliasModel &, OperatorIdentifier) const {
    return {};
  }

private:
  // Of output i, if it is in the graph already.
  Tensor *findOutput(OutIndex i) const;

  friend class CustomOpAccess; // popart/src/ops/Custom.cpp
  const OpRule *rule_;
  std::vector<TensorInfo> pendingInfos_; // of outputs to be
};

} // namespace popart
