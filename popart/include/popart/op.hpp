// INTERFACE: the IR operation. An Op is data: an identifier, attributes, named
// inputs and outputs, a placement. What it means (shapes, gradient, lowering)
// is its rule, in one file of popart/src/ops/, listed in ops/List.cpp; or, for
// an operator of the user's, a class derived from it. Operations of many rules
// are objects of classes, too (popart/op/), for patterns and custom operators.
#pragma once

#include <popart/alias/aliasmodel.hpp>
#include <popart/attributes.hpp>
#include <popart/basicoptionals.hpp>
#include <popart/commgroup.hpp>
#include <popart/error.hpp>
#include <popart/logging.hpp>
#include <popart/names.hpp>
#include <popart/operatoridentifier.hpp>
#include <popart/opserialiser.hpp>
#include <popart/opsettings.hpp>
#include <popart/reductiontype.hpp>
#include <popart/region.hpp>
#include <popart/replicagrouping.hpp>
#include <popart/tensorindex.hpp>
#include <popart/tensorinfo.hpp>
#include <popart/vertex.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace popart {

class Graph;
class Ir;
class Op;
class Tensor;
struct OpRule; // popart/src/ops/OpRule.hpp

// What an input of a gradient operator is.
enum class GradOpInType {
  In = 0,  // an input of the operator that it belongs to
  Out,     // one of that operator's outputs
  GradOut, // the gradient of one of its outputs
};

// Inputs and outputs that are sharded together.
using ReplicatedTensorShardingIndices =
    std::set<std::pair<std::set<InIndex>, std::set<OutIndex>>>;

struct GradInOutMapper {
  GradInOutMapper(InIndex gradIn, int nonGrad, GradOpInType type)
      : iGrad(gradIn), iNonGrad(nonGrad), type(type) {}

  friend bool operator==(const GradInOutMapper &a, const GradInOutMapper &b) {
    return a.iGrad == b.iGrad && a.iNonGrad == b.iNonGrad && a.type == b.type;
  }

  InIndex iGrad; // of the gradient operator
  int iNonGrad;  // of the operator that it belongs to
  GradOpInType type;
};

// What an operation of the IR is made of (popart/src/classes/OpClasses.hpp):
// every class of a built-in operator has a constructor that takes it.
struct IrOperation {
  const OpRule &rule;
  const OperatorIdentifier &opid;
  const Attributes &attributes;
  const OpSettings &settings;
};

class Op : public Vertex {
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
  // False: it stays although nothing reads its outputs.
  bool pruneable = true;

  // An operation that a rule gives its meaning.
  explicit Op(const IrOperation &operation);
  // For derived classes.
  Op(const OperatorIdentifier &opid, const Settings &settings);
  // The same operation, connected to nothing.
  Op(const Op &other);
  Op &operator=(const Op &) = delete;
  virtual ~Op();

  Graph &getGraph() const { return settings.graph.get(); }
  Ir &getIr() const;
  Settings &getSettings() { return settings; }
  const Settings &getSettings() const { return settings; }
  virtual Settings getInSettings(InIndex) const { return settings; }
  virtual Settings getOutSettings(OutIndex) const { return settings; }
  // What passes see: the rule of an operator of the user's calls its methods.
  const OpRule &rule() const { return *rule_; }
  // What the inherited methods mean: a user's class that is derived from a
  // built-in one has that one's; null for a class derived from Op itself.
  const OpRule *builtInRule() const { return builtIn_; }
  const std::string &name() const { return settings.name; }
  const std::string &getName() const { return settings.name; }
  void setName(const std::string &name) { settings.name = name; }
  const Scope &getScope() const { return settings.scope; }
  void setScope(const Scope &scope) { settings.scope = scope; }
  // "model/conv1/Conv (ai.onnx.Conv)", for messages.
  std::string str() const;
  std::string debugName() const;

  bool hasVirtualGraphId() const { return settings.vgraphId != unusedVGraphId; }
  VGraphId getVirtualGraphId() const;
  OptionalVGraphId getOptionalVGraphId() const;
  void setVirtualGraphId(OptionalVGraphId id);
  bool hasPipelineStage() const {
    return settings.pipelineStage != unusedPipelineStage;
  }
  PipelineStage getPipelineStage() const;
  OptionalPipelineStage getOptionalPipelineStage() const;
  void setPipelineStage(OptionalPipelineStage stage);
  bool hasExecutionPhase() const {
    return settings.executionPhase != unusedExecutionPhase;
  }
  ExecutionPhase getExecutionPhase() const;
  OptionalExecutionPhase getOptionalExecutionPhase() const;
  void setExecutionPhase(OptionalExecutionPhase phase);
  bool hasBatchSerializedPhase() const {
    return settings.batchSerializedPhase != unusedBatchSerializedPhase;
  }
  BatchSerializedPhase getBatchSerializedPhase() const;
  OptionalBatchSerializedPhase getOptionalBatchSerializedPhase() const;
  void setBatchSerializedPhase(OptionalBatchSerializedPhase phase);
  bool hasStochasticRoundingMethod() const {
    return bool(settings.stochasticRoundingMethod);
  }
  StochasticRoundingMethod getStochasticRoundingMethod() const;
  optional<StochasticRoundingMethod>
  getOptionalStochasticRoundingMethod() const {
    return settings.stochasticRoundingMethod;
  }
  void setStochasticRoundingMethod(optional<StochasticRoundingMethod> method) {
    settings.stochasticRoundingMethod = method;
  }

  const TensorInfo &inInfo(InIndex i) const;
  TensorInfo &inInfo(InIndex i);
  const TensorInfo &outInfo(OutIndex i) const;
  // In setup(), also before there are outputs: the type and shape to be.
  TensorInfo &outInfo(OutIndex i);
  const Shape &inShape(InIndex i) const { return inInfo(i).shape(); }
  const Shape &outShape(OutIndex i) const { return outInfo(i).shape(); }
  Rank inRank(InIndex i) const { return inInfo(i).rank(); }
  Rank outRank(OutIndex i) const { return outInfo(i).rank(); }
  const TensorId &inId(InIndex i) const { return input->id(i); }
  const TensorId &outId(OutIndex i) const { return output->id(i); }
  // Twice, for bindings that name one of them.
  Tensor *inTensor(InIndex i) { return input->tensor(i); }
  const Tensor *inTensor(InIndex i) const { return input->tensor(i); }
  Tensor *outTensor(OutIndex i) { return output->tensor(i); }
  const Tensor *outTensor(OutIndex i) const { return output->tensor(i); }
  int inTensorCount() const { return input->n(); }
  int outTensorCount() const { return output->n(); }
  // The first index where the tensor is; throws popart::error if it is nowhere.
  InIndex inIndex(const Tensor *tensor) const;
  OutIndex outIndex(const Tensor *tensor) const;
  // False for an optional input that was left out (an empty id).
  bool hasInput(InIndex i) const { return input->hasIndex(i); }
  bool hasOutput(OutIndex i) const { return output->hasIndex(i); }
  // The input whose storage output i updates in place; -1: an ordinary output.
  InIndex modifiedInput(OutIndex i) const;
  // NumPy's broadcasting, with this operation in the message.
  Shape prettyNpOut(const Shape &a, const Shape &b) const;
  TensorInfo prettyNpOut(const TensorInfo &a, const TensorInfo &b,
                         bool checkDataType = true) const;

  // Whether it is one of this class.
  template <typename T> bool isConvertibleTo() const {
    return dynamic_cast<const T *>(this) != nullptr;
  }
  bool isParentOf(const Op *op) const;
  bool isChildOf(const Op *op) const { return op->isParentOf(this); }
  bool isExcludedFromPattern(const std::string &pattern) const {
    return settings.excludePatterns.count(pattern) > 0;
  }
  bool isElementWiseUnary() const;
  bool consumesGraphOutput() const;
  bool producesGraphOutput() const;
  // The neighbours at an index; throw popart::internal_error when they are of
  // another class, or not exactly one.
  template <typename T> T *getPrecedingOp(InIndex i) {
    return castNeighbour<T>(precedingOp(i));
  }
  template <typename T> T *getFollowingOp(OutIndex i = 0) {
    std::vector<Op *> all = followingOps(i);
    requireOneNeighbour(all.size());
    return castNeighbour<T>(all[0]);
  }
  template <typename T> std::vector<T *> getFollowingOps(OutIndex i = 0) {
    std::vector<T *> result;
    for (Op *op : followingOps(i)) {
      result.push_back(castNeighbour<T>(op));
    }
    return result;
  }

  // For patterns; the graph is put in order when the pattern has been applied.
  virtual void connectInTensor(InIndex i, TensorId id);
  virtual void connectInTensor(InIndex i, TensorId id, VGraphId ipu);
  void connectOutTensor(OutIndex i, TensorId id);
  void createAndConnectOutTensor(OutIndex i, TensorId id);
  void disconnectInTensor(InIndex i);
  void disconnectInTensor(Tensor *tensor); // wherever it is
  void disconnectInTensor(InIndex i, Tensor *tensor);
  void disconnectOutTensor(Tensor *tensor);
  void disconnectAllInputs();
  void disconnectAllOutputs();
  // Placement, kind of recomputation and priority; no name and no context.
  void transferBaseProperties(Op *to) const;

  // What a derived class must define.
  virtual std::unique_ptr<Op> clone() const;
  virtual void setup();
  // What it may define. Without gradient operators the gradient stops.
  virtual std::vector<std::unique_ptr<Op>> getGradOps();
  // Of a gradient operator: where its inputs come from, and whose gradients
  // its outputs are (by index of the operator that it belongs to).
  virtual const std::vector<GradInOutMapper> &gradInputInfo() const;
  virtual const std::map<int, int> &gradOutToNonGradIn() const;
  int getNonGradInIndex(int gradOut) const {
    return gradOutToNonGradIn().at(gradOut);
  }
  // Inputs without which the operator can do.
  virtual std::set<InIndex> optionalInputs() const { return {}; }
  virtual bool hasSideEffect() const;
  virtual bool canRecompute() const { return !hasSideEffect(); }
  virtual bool isNorm() const;
  virtual bool isLossOp() const { return false; }
  virtual bool isIpuCopyOp() const { return false; }
  virtual bool isOptimizerOp() const { return settings.optimizerOp; }
  virtual bool copiesOptimizerTensors() const { return false; }
  virtual void appendAttributes(OpSerialiserBase &serialiser) const;
  virtual void appendOutlineAttributes(OpSerialiserBase &serialiser) const;
  virtual void appendMore(OpSerialiserBase &serialiser) const;
  virtual bool requiresRandomSeed() const { return false; }
  virtual InIndex getSeedInIndex() const;
  // Graphs that the operation runs: its attributes', unless a class has others.
  virtual std::vector<const Graph *> getCalledGraphs() const;
  virtual int getInBatchAxis(InIndex) const { return 0; }
  virtual int getOutBatchAxis(OutIndex) const { return 0; }

  // What outlining weighs: how much it is worth to have the operation's code
  // once, and whether it may be part of a function.
  virtual float getSubgraphValue() const { return getLowSubgraphValue(); }
  static constexpr float getHighSubgraphValue() { return 1000.0f; }
  static constexpr float getLowSubgraphValue() { return 0.1f; }
  virtual bool isOutlineable() const { return true; }
  // True: it becomes an Identity (pattern OpToIdentity).
  virtual bool canBeReplacedByIdentity() const { return false; }

  // What it changes and shares. Of a variable that an input names, the output
  // that aliases it is the next version; otherwise nothing is done in place.
  virtual view::Regions modifies(InIndex i) const;
  virtual view::Regions uses(InIndex i) const;
  virtual view::Regions aliases(InIndex in, OutIndex out) const;
  virtual view::RegMap fwdRegMap(InIndex in, OutIndex out) const;
  virtual view::RegMap bwdRegMap(InIndex in, OutIndex out) const;
  bool doesAlias() const;
  bool doesAlias(InIndex in, OutIndex out) const;
  bool isOutplace() const { return !doesAlias(); }
  bool modifies() const;
  bool modifiesIndex(InIndex in) const;
  bool modifiesTensor(const Tensor *tensor) const;
  bool overwritesTensor(const Tensor *tensor) const;
  // Whether an input is a constant or a variable that only reading is safe for.
  bool inputUnmodifiable(InIndex in) const;
  virtual bool isInplaceViewChange() const { return false; }
  virtual bool isOutplaceViewChange() const { return false; }

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
  virtual void
  configureForReplicatedTensorSharding(ReplicatedTensorShardingIndices,
                                       const ReplicaGrouping &) {}
  virtual ReductionType getShardReductionType(OutIndex) const {
    return ReductionType::NoReduction;
  }
  virtual std::vector<std::tuple<OperatorIdentifier, float>>
  inplacePriorityDefault() const {
    return {};
  }
  virtual std::unique_ptr<Op>
  getInplaceVariant(const OperatorIdentifier &opid) const;
  virtual void growAliasModel(AliasModel &) const {}
  virtual poprithms::memory::inplace::Proposal
  mapInplaceProposal(const AliasModel &, OperatorIdentifier) const {
    return {};
  }

protected:
  // For classes of built-in operators: the class has the meaning of that one,
  // and its lowering unless `opid` is of another. Attributes are the rule's.
  Op(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
     const Settings &settings, Attributes attributes = {});

  virtual void growAliasModelMulti(AliasModel &) const {}
  virtual poprithms::memory::inplace::Proposal
  mapInplaceProposalGate0(const AliasModel &, OperatorIdentifier) const;
  // The same by an earlier name.
  poprithms::memory::inplace::Proposal
  mapInplaceProposal0(const AliasModel &model, OperatorIdentifier opid) const {
    return mapInplaceProposalGate0(model, opid);
  }
  // The elements of a constant.
  void getInTensorData(TensorId id, std::vector<std::int64_t> &data,
                       std::vector<DataType> types = {DataType::INT64,
                                                      DataType::INT32}) const;

private:
  // Of output i, if it is in the graph already.
  Tensor *findOutput(OutIndex i) const;
  Op *precedingOp(InIndex i) const;
  std::vector<Op *> followingOps(OutIndex i) const;
  void requireOneNeighbour(std::size_t count) const;
  template <typename T> T *castNeighbour(Op *op) const {
    T *cast = dynamic_cast<T *>(op);
    if (cast == nullptr) {
      throw internal_error("[{}] its neighbour is of another class", str());
    }
    return cast;
  }

  friend class CustomOpAccess; // popart/src/ops/Custom.cpp
  const OpRule *rule_;
  const OpRule *builtIn_ = nullptr;
  std::vector<TensorInfo> pendingInfos_; // of outputs to be
};

// By their places in their graph.
struct POpCmp {
  bool operator()(const Op *a, const Op *b) const { return a->id < b->id; }
};
using OpSet = std::set<Op *, POpCmp>;
template <typename T> using OpMap = std::map<Op *, T, POpCmp>;

} // namespace popart
