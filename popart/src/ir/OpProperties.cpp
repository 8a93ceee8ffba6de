// What operations say of themselves: where they run, what they change, and what
// tells one from another.
#include <popart/op.hpp>

#include <ops/Common.hpp>
#include <ops/OpRule.hpp>
#include <popart/graph.hpp>

#include <algorithm>

namespace popart {
namespace {

// A place as it is kept: a number, or that of no place.
template <typename T> optional<T> placeOf(T number, T none) {
  return number == none ? optional<T>() : optional<T>(number);
}

template <typename T>
T requirePlace(const Op &op, T number, T none, const char *what) {
  requireOp(op, number != none, "has no {}", what);
  return number;
}

} // namespace

VGraphId Op::getVirtualGraphId() const {
  return requirePlace(*this, settings.vgraphId, unusedVGraphId,
                      "virtual graph");
}

OptionalVGraphId Op::getOptionalVGraphId() const {
  return placeOf(settings.vgraphId, unusedVGraphId);
}

void Op::setVirtualGraphId(OptionalVGraphId id) {
  settings.vgraphId = id.value_or(unusedVGraphId);
}

PipelineStage Op::getPipelineStage() const {
  return requirePlace(*this, settings.pipelineStage, unusedPipelineStage,
                      "pipeline stage");
}

OptionalPipelineStage Op::getOptionalPipelineStage() const {
  return placeOf(settings.pipelineStage, unusedPipelineStage);
}

void Op::setPipelineStage(OptionalPipelineStage stage) {
  settings.pipelineStage = stage.value_or(unusedPipelineStage);
}

ExecutionPhase Op::getExecutionPhase() const {
  return requirePlace(*this, settings.executionPhase, unusedExecutionPhase,
                      "execution phase");
}

OptionalExecutionPhase Op::getOptionalExecutionPhase() const {
  return placeOf(settings.executionPhase, unusedExecutionPhase);
}

void Op::setExecutionPhase(OptionalExecutionPhase phase) {
  settings.executionPhase = phase.value_or(unusedExecutionPhase);
}

BatchSerializedPhase Op::getBatchSerializedPhase() const {
  return requirePlace(*this, settings.batchSerializedPhase,
                      unusedBatchSerializedPhase, "batch serialised phase");
}

OptionalBatchSerializedPhase Op::getOptionalBatchSerializedPhase() const {
  return placeOf(settings.batchSerializedPhase, unusedBatchSerializedPhase);
}

void Op::setBatchSerializedPhase(OptionalBatchSerializedPhase phase) {
  settings.batchSerializedPhase = phase.value_or(unusedBatchSerializedPhase);
}

StochasticRoundingMethod Op::getStochasticRoundingMethod() const {
  requireOp(*this, hasStochasticRoundingMethod(),
            "has no method of stochastic rounding");
  return *settings.stochasticRoundingMethod;
}

void Op::transferBaseProperties(Op *to) const {
  if (hasVirtualGraphId()) {
    to->settings.vgraphId = settings.vgraphId;
  }
  if (hasExecutionPhase()) {
    to->settings.executionPhase = settings.executionPhase;
  }
  if (hasPipelineStage()) {
    to->settings.pipelineStage = settings.pipelineStage;
  }
  if (hasBatchSerializedPhase()) {
    to->settings.batchSerializedPhase = settings.batchSerializedPhase;
  }
  to->settings.scope = settings.scope;
  to->settings.recomputeType = settings.recomputeType;
  to->settings.tensorLocation = settings.tensorLocation;
  to->settings.schedulePriority = settings.schedulePriority;
  to->settings.debugInfoId = settings.debugInfoId;
  to->settings.isBackward = settings.isBackward;
  to->toLoss = toLoss;
  to->fromLoss = fromLoss;
}

bool Op::isNorm() const {
  return opid.type.find("Normalization") != std::string::npos;
}

bool Op::isElementWiseUnary() const {
  return input->n() == 1 && output->n() == 1 && inInfo(0) == outInfo(0);
}

void Op::appendOutlineAttributes(OpSerialiserBase &serialiser) const {
  serialiser.appendAttribute(
      "recompute",
      settings.recomputeType == RecomputeType::Recompute ? "YES" : "NO");
  serialiser.appendAttribute("vgraph", getOptionalVGraphId());
  serialiser.appendAttribute("tileSet", static_cast<int>(settings.tileSet));
  for (const auto &[name, value] : settings.extraOutlineAttributes) {
    serialiser.appendAttribute(name, value);
  }
}

void Op::appendAttributes(OpSerialiserBase &serialiser) const {
  appendOutlineAttributes(serialiser);
  serialiser.appendAttribute("executionPhase", getOptionalExecutionPhase());
  serialiser.appendAttribute("executionContext",
                             static_cast<int>(settings.executionContext));
  serialiser.appendAttribute("pipelineStage", getOptionalPipelineStage());
  serialiser.appendAttribute("scope", settings.scope);
  serialiser.appendAttribute("recomputeType",
                             static_cast<int>(settings.recomputeType));
}

void Op::appendMore(OpSerialiserBase &serialiser) const {
  serialiser.appendAttribute("schedulePriority", settings.schedulePriority);
}

InIndex Op::getSeedInIndex() const {
  throw error("[" + str() +
              "] draws random numbers, but its class does not "
              "define getSeedInIndex()");
}

std::unique_ptr<Op>
Op::getInplaceVariant(const OperatorIdentifier &variant) const {
  throw error("[{}] has no in-place variant {}", str(), variant);
}

poprithms::memory::inplace::Proposal
Op::mapInplaceProposalGate0(const AliasModel &, OperatorIdentifier) const {
  requireOp(*this, !doesAlias(), "is done in place already");
  return {};
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

view::RegMap Op::fwdRegMap(InIndex in, OutIndex out) const {
  requireOp(*this, inShape(in) == outShape(out),
            "its class does not define fwdRegMap(): shapes {} and {} differ",
            support::toString(inShape(in)), support::toString(outShape(out)));
  return [](const view::Region &region) { return view::Regions{region}; };
}

view::RegMap Op::bwdRegMap(InIndex in, OutIndex out) const {
  requireOp(*this, inShape(in) == outShape(out),
            "its class does not define bwdRegMap(): shapes {} and {} differ",
            support::toString(inShape(in)), support::toString(outShape(out)));
  return [](const view::Region &region) { return view::Regions{region}; };
}

namespace {

bool anyElements(const view::Regions &regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [](const view::Region &r) { return !r.isEmpty(); });
}

} // namespace

bool Op::doesAlias(InIndex in, OutIndex out) const {
  return anyElements(aliases(in, out));
}

bool Op::doesAlias() const {
  for (const auto &[in, input_] : input->tensorIdMap()) {
    for (const auto &[out, output_] : output->tensorIdMap()) {
      if (doesAlias(in, out)) {
        return true;
      }
    }
  }
  return false;
}

bool Op::modifiesIndex(InIndex in) const {
  return anyElements(modifies(in));
}

bool Op::modifies() const {
  auto map = input->tensorIdMap();
  return std::any_of(map.begin(), map.end(), [&](const auto &entry) {
    return modifiesIndex(entry.first);
  });
}

bool Op::modifiesTensor(const Tensor *tensor) const {
  std::vector<int> indices = input->indices(tensor);
  return std::any_of(indices.begin(), indices.end(),
                     [&](int index) { return modifiesIndex(index); });
}

// Changed without being read.
bool Op::overwritesTensor(const Tensor *tensor) const {
  std::vector<int> indices = input->indices(tensor);
  return std::any_of(indices.begin(), indices.end(), [&](int index) {
    return modifiesIndex(index) && !anyElements(uses(index));
  });
}

bool Op::inputUnmodifiable(InIndex in) const {
  const Tensor *tensor = inTensor(in);
  return tensor->type == TensorType::Const ||
         tensor->type == TensorType::Variable || tensor->isAnchored();
}

} // namespace popart
