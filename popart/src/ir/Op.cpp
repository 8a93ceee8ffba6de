// An operation's view of its own inputs and outputs, and what a custom operator
// inherits.
#include <popart/op.hpp>

#include <ops/Common.hpp>
#include <ops/Custom.hpp>
#include <ops/OpRule.hpp>
#include <popart/ir.hpp>

#include <algorithm>
#include <utility>

namespace popart {
namespace {

constexpr std::size_t mostOutputs = 64; // of a custom operator

} // namespace

void OpSettings::setFromAttributes(const Attributes &attributes) {
  vgraphId = attributes.getInt("__ipu_number", vgraphId);
  pipelineStage = attributes.getInt("__pipeline_stage", pipelineStage);
  executionPhase = attributes.getInt("__execution_phase", executionPhase);
  recomputeType = static_cast<RecomputeType>(
      attributes.getInt("__recompute_output_in_backward_pass",
                        static_cast<Attributes::Int>(recomputeType)));
  schedulePriority = attributes.getFloat("__schedule_priority",
                                         static_cast<float>(schedulePriority));
  for (const std::string &name :
       attributes.getStrings("__exclude_patterns", {})) {
    excludePatterns.insert(name);
  }
  Attributes::Strings outline = attributes.getStrings("__outline", {});
  for (std::size_t i = 0; i + 1 < outline.size(); i += 2) {
    extraOutlineAttributes[outline[i]] = outline[i + 1];
  }
}

Op::Op(Graph &graph, const OpRule &rule, OperatorIdentifier opid,
       Attributes attributes, Settings settings)
    : opid(std::move(opid)), attributes(std::move(attributes)),
      settings(std::move(settings)),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      rule_(&rule) {
  this->settings.graph = graph;
}

Op::Op(const OperatorIdentifier &opid, const Settings &settings)
    : opid(opid), settings(settings),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      rule_(&customOpRule()) {}

Op::Op(const Op &other)
    : opid(other.opid), attributes(other.attributes), settings(other.settings),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      rule_(other.rule_) {}

Op::~Op() = default;

Ir &Op::getIr() const {
  return getGraph().getIr();
}

Tensor *Op::findOutput(OutIndex i) const {
  if (!hasOutput(i) || !getGraph().hasTensor(outId(i))) {
    return nullptr;
  }
  Tensor &tensor = getGraph().getTensor(outId(i));
  return tensor.producer == this ? &tensor : nullptr;
}

const TensorInfo &Op::inInfo(InIndex i) const {
  return getGraph().getTensor(inputs.at(static_cast<std::size_t>(i))).info;
}

const TensorInfo &Op::outInfo(OutIndex i) const {
  return getGraph().getTensor(outputs.at(static_cast<std::size_t>(i))).info;
}

TensorInfo &Op::outInfo(OutIndex i) {
  if (Tensor *tensor = findOutput(i)) {
    return tensor->info;
  }
  auto index = static_cast<std::size_t>(i);
  requireOp(*this, index < mostOutputs,
            "has no output {}; there are at most {}", i, mostOutputs);
  // In one place for good: setup() may say outInfo(1) = outInfo(0).
  pendingInfos_.reserve(mostOutputs);
  pendingInfos_.resize(std::max(pendingInfos_.size(), index + 1));
  return pendingInfos_[index];
}

bool Op::hasSideEffect() const {
  return rule_->hasSideEffect;
}

InIndex Op::modifiedInput(OutIndex i) const {
  return rule_->modifiedInput ? rule_->modifiedInput(*this, i) : -1;
}

std::string Op::str() const {
  return (settings.name.empty() ? "" : settings.name + " ") + "(" +
         opid.domain + "." + opid.type + ")";
}

Shape Op::prettyNpOut(const Shape &a, const Shape &b) const {
  return broadcastShapes(*this, a, b);
}

TensorInfo Op::prettyNpOut(const TensorInfo &a, const TensorInfo &b) const {
  requireOp(*this, a.dataType() == b.dataType(),
            "has inputs of types {} and {}", a.data_type(), b.data_type());
  return TensorInfo(a.dataType(), prettyNpOut(a.shape(), b.shape()));
}

void Op::connectInTensor(InIndex i, TensorId id) {
  auto index = static_cast<std::size_t>(i);
  if (hasInput(i)) {
    disconnectInTensor(i);
  }
  getGraph().getTensor(id).consumers.push_back(this);
  inputs.resize(std::max(inputs.size(), index + 1));
  inputs[index] = std::move(id);
}

void Op::connectOutTensor(OutIndex i, TensorId id) {
  auto index = static_cast<std::size_t>(i);
  getGraph().getTensor(id).producer = this;
  outputs.resize(std::max(outputs.size(), index + 1));
  outputs[index] = std::move(id);
}

void Op::createAndConnectOutTensor(OutIndex i, TensorId id) {
  requireOp(*this, !id.empty() && !getGraph().hasTensor(id),
            "there is a tensor '{}' already", id);
  getGraph().tensors_[id].id = id;
  connectOutTensor(i, std::move(id));
}

void Op::disconnectInTensor(InIndex i) {
  TensorId &id = inputs.at(static_cast<std::size_t>(i));
  auto &consumers = getGraph().getTensor(id).consumers;
  // One entry per use: an operation may read a tensor twice.
  consumers.erase(std::find(consumers.begin(), consumers.end(), this));
  id.clear();
}

void Op::disconnectAllInputs() {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (hasInput(static_cast<InIndex>(i))) {
      disconnectInTensor(static_cast<InIndex>(i));
    }
  }
  inputs.clear();
}

void Op::disconnectAllOutputs() {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (Tensor *tensor = findOutput(static_cast<OutIndex>(i))) {
      tensor->producer = nullptr;
    }
  }
  outputs.clear();
}

std::unique_ptr<Op> Op::clone() const {
  requireOp(*this, rule_ != &customOpRule(),
            "the operator's class does not define clone()");
  return std::make_unique<Op>(*this);
}

void Op::setup() {
  requireOp(*this, rule_ != &customOpRule(),
            "the operator's class does not define setup()");
  std::vector<TensorInfo> infos = rule_->infer(*this);
  for (std::size_t i = 0; i < infos.size(); ++i) {
    auto index = static_cast<OutIndex>(i);
    if (!findOutput(index)) { // one that the rule has for itself
      createAndConnectOutTensor(index, getGraph().uniqueName(opid.type));
    }
    outInfo(index) = infos[i];
  }
}

std::vector<std::unique_ptr<Op>> Op::getGradOps() {
  return {};
}

const std::vector<GradInOutMapper> &Op::gradInputInfo() const {
  throw error("[" + str() +
              "] is used as a gradient operator, but its class "
              "does not define gradInputInfo()");
}

const std::map<int, int> &Op::gradOutToNonGradIn() const {
  throw error("[" + str() +
              "] is used as a gradient operator, but its class "
              "does not define gradOutToNonGradIn()");
}

bool Op::isNorm() const {
  return opid.type.find("Normalization") != std::string::npos;
}

void Op::appendAttributes(OpSerialiserBase &serialiser) const {
  appendOutlineAttributes(serialiser);
}

void Op::appendOutlineAttributes(OpSerialiserBase &) const {}

std::vector<const Graph *> Op::getCalledGraphs() const {
  std::vector<const Graph *> graphs;
  for (const auto &[name, graph] : attributes.graphs()) {
    graphs.push_back(&getIr().getGraph(graph.id));
  }
  return graphs;
}

std::unique_ptr<Op>
Op::getInplaceVariant(const OperatorIdentifier &variant) const {
  throw error("[{}] has no in-place variant {}", str(), variant);
}

view::Regions Op::modifies(InIndex i) const {
  return {view::Region::getEmpty(inRank(i))};
}

view::Regions Op::uses(InIndex i) const {
  return {view::Region::getFull(inShape(i))};
}

view::Regions Op::aliases(InIndex in, OutIndex) const {
  return {view::Region::getEmpty(inRank(in))};
}

view::RegMap Op::fwdRegMap(InIndex, OutIndex out) const {
  view::Region nothing = view::Region::getEmpty(outRank(out));
  return [nothing](const view::Region &) { return view::Regions{nothing}; };
}

view::RegMap Op::bwdRegMap(InIndex in, OutIndex) const {
  view::Region nothing = view::Region::getEmpty(inRank(in));
  return [nothing](const view::Region &) { return view::Regions{nothing}; };
}

} // namespace popart
