// An operation's view of its own inputs and outputs, and what a custom operator
// inherits.
#include <popart/op.hpp>

#include <ops/Common.hpp>
#include <ops/Custom.hpp>
#include <ops/OpRule.hpp>
#include <popart/ir.hpp>
#include <support/Error.hpp>

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

Op::Op(const IrOperation &operation)
    : opid(operation.opid), attributes(operation.attributes),
      settings(operation.settings),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      rule_(&operation.rule), builtIn_(&operation.rule) {}

Op::Op(const OperatorIdentifier &opid, const Settings &settings)
    : opid(opid), settings(settings),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      rule_(&customOpRule()) {}

Op::Op(const OperatorIdentifier &opid, const OperatorIdentifier &meaning,
       const Settings &settings, Attributes attributes)
    : opid(opid), attributes(std::move(attributes)), settings(settings),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      rule_(findOpRule(opid)), builtIn_(rule_ ? rule_ : findOpRule(meaning)) {
  support::requireInternal(builtIn_ != nullptr,
                           "{} means {}, which has no rule", opid.type,
                           meaning.type);
  rule_ = rule_ ? rule_ : &customOpRule();
}

Op::Op(const Op &other)
    : Vertex(other), opid(other.opid), attributes(other.attributes),
      settings(other.settings),
      input(std::make_unique<TensorIndexMap>(*this, &Op::inputs)),
      output(std::make_unique<TensorIndexMap>(*this, &Op::outputs)),
      pruneable(other.pruneable), rule_(other.rule_), builtIn_(other.builtIn_) {
}

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

TensorInfo &Op::inInfo(InIndex i) {
  return getGraph().getTensor(inputs.at(static_cast<std::size_t>(i))).info;
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
  return (builtIn_ ? builtIn_ : rule_)->hasSideEffect;
}

InIndex Op::modifiedInput(OutIndex i) const {
  return rule_->modifiedInput ? rule_->modifiedInput(*this, i) : -1;
}

std::string Op::str() const {
  return (settings.name.empty() ? "" : settings.name + " ") + "(" +
         opid.domain + "." + opid.type + ")";
}

std::string Op::debugName() const {
  auto list = [](const TensorIndexMap &map) {
    std::string text;
    for (const auto &[index, id] : map.tensorIdMap()) {
      text += (text.empty() ? "" : ", ") + id;
    }
    return text;
  };
  return fmt::format("Op({}, inputs=[{}], outputs=[{}])", str(), list(*input),
                     list(*output));
}

Shape Op::prettyNpOut(const Shape &a, const Shape &b) const {
  return broadcastShapes(*this, a, b);
}

TensorInfo Op::prettyNpOut(const TensorInfo &a, const TensorInfo &b,
                           bool checkDataType) const {
  requireOp(*this, !checkDataType || a.dataType() == b.dataType(),
            "has inputs of types {} and {}", a.data_type(), b.data_type());
  return TensorInfo(a.dataType(), prettyNpOut(a.shape(), b.shape()));
}

std::unique_ptr<Op> Op::clone() const {
  requireOp(*this, rule_ != &customOpRule(),
            "the operator's class does not define clone()");
  return std::make_unique<Op>(*this);
}

void Op::setup() {
  requireOp(*this, builtIn_ != nullptr, "No setup() for {}.{}:{}", opid.domain,
            opid.type, opid.version);
  std::vector<TensorInfo> infos = builtIn_->infer(*this);
  for (std::size_t i = 0; i < infos.size(); ++i) {
    auto index = static_cast<OutIndex>(i);
    // Of an operation of the IR, outputs that the rule has for itself.
    if (rule_ == builtIn_ && !findOutput(index)) {
      createAndConnectOutTensor(index, getGraph().uniqueName(opid.type));
    }
    outInfo(index) = infos[i];
  }
}

// Of a class that is derived from a built-in one: what stands for the gradient
// that the rule has.
std::vector<std::unique_ptr<Op>> Op::getGradOps() {
  std::vector<std::unique_ptr<Op>> ops;
  if (builtIn_ && builtIn_->differentiate) {
    ops.push_back(std::make_unique<Op>(*this));
  }
  return ops;
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

std::vector<const Graph *> Op::getCalledGraphs() const {
  std::vector<const Graph *> graphs;
  for (const auto &[name, graph] : attributes.graphs()) {
    graphs.push_back(&getIr().getGraph(graph.id));
  }
  return graphs;
}

} // namespace popart
