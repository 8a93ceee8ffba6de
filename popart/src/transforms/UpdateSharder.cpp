// Rebuilding the operations of one update over parts of their tensors.
#include <transforms/UpdateSharder.hpp>

#include <popart/error.hpp>
#include <popart/tensornames.hpp>
#include <support/Error.hpp>
#include <support/Shape.hpp>
#include <transforms/TensorLocations.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace popart {
namespace {

bool isUpdateType(const std::string &type) {
  constexpr std::array<std::string_view, 9> types = {
      "Accumulate", "AccumulatorReset", "AdamUpdate",
      "Formula",    "FormulaUpdate",    "ReplicaReduce",
      "SgdUpdate",  "SquareSum",        "RmspropUpdate"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

Attributes withGroup(Attributes attributes, const CommGroup &group) {
  return attributes.set("groupType", static_cast<Attributes::Int>(group.type))
      .set("groupSize", Attributes::Int{group.replicaGroupSize});
}

// The replicas that have the same part in other groups.
CommGroup complementOf(const CommGroup &group, std::int64_t replicas) {
  auto size = static_cast<unsigned>(replicas) / group.replicaGroupSize;
  return {group.type == CommGroupType::Consecutive ? CommGroupType::Orthogonal
                                                   : CommGroupType::Consecutive,
          size};
}

} // namespace

UpdateSharder::UpdateSharder(PassContext &context, GraphEditor &editor,
                             TensorId weight)
    : ir_(context.ir), graph_(context.graph), editor_(editor),
      weight_(std::move(weight)),
      shape_(graph_.getTensor(weight_).info.shape()) {}

void UpdateSharder::run() {
  if (!findSharded()) {
    return;
  }
  for (const TensorId &variable : sharded_) {
    makePart(variable);
  }
  findUpdates();
  for (const TensorId &variable : sharded_) {
    gatherForReaders(variable + "/whole");
  }
  for (Op *op : updates_) {
    rebuild(*op);
  }
  for (const auto &[variable, part] : latestPart_) {
    copyBack(variable, part);
  }
  for (auto op = obsolete_.rbegin(); op != obsolete_.rend(); ++op) {
    editor_.erase(**op);
  }
  for (const TensorId &variable : sharded_) {
    editor_.eraseTensor(variable + "/whole");
  }
}

bool UpdateSharder::findSharded() {
  const char *const prefixes[] = {"",
                                  reservedAcclPrefix(),
                                  reservedAccl1Prefix(),
                                  reservedAccl2Prefix(),
                                  reservedAccl3Prefix(),
                                  reservedAccumPrefix()};
  for (const char *prefix : prefixes) {
    TensorId id = prefix + weight_;
    if (!graph_.hasTensor(id)) {
      continue;
    }
    whole_.insert(id);
    variable_[id] = id;
    latestWhole_[id] = id;
    TensorLocation location = locationOf(ir_, graph_.getTensor(id));
    if (location.replicatedTensorSharding == ReplicatedTensorSharding::On) {
      domain_ = sharded_.empty() ? location.shardingDomain : domain_;
      sharded_.insert(id);
    }
  }
  std::int64_t elements = support::elementCount(shape_);
  if (sharded_.empty() || elements < 2 ||
      std::any_of(whole_.begin(), whole_.end(),
                  [&](const TensorId &id) { return isAnchored(id); })) {
    return false;
  }
  std::int64_t replicas = ir_.sessionOptions.getGlobalReplicationFactor();
  std::int64_t parts = shardsOf(ir_, domain_);
  support::requireUser<error>(
      replicas % parts == 0,
      "[replicatedTensorSharding] '{}' is shared among groups of {} replicas; "
      "there are {}",
      weight_, parts, replicas);
  if (parts == replicas) {
    domain_ = CommGroup();
  }
  partSize_ = (elements + parts - 1) / parts;
  return true;
}

// An anchor shows the whole variable.
bool UpdateSharder::isAnchored(const TensorId &variable) const {
  return ir_.dataFlow.isAnchored(variable) ||
         ir_.dataFlow.isAnchored(reservedUpdatedVarPrefix() + variable) ||
         ir_.dataFlow.isAnchored(reservedAcclFinalOutPrefix() + weight_);
}

// The part takes over the variable's name. What replicas hold is the variable
// cut into as many pieces, the last one filled up with zeros.
void UpdateSharder::makePart(const TensorId &variable) {
  TensorId whole = variable + "/whole";
  editor_.renameTensor(variable, whole);
  const Tensor &tensor = graph_.getTensor(whole);
  TensorInfo info(tensor.info.dataType(), {partSize_});
  std::vector<char> data = tensor.data.bytes();
  data.resize(static_cast<std::size_t>(info.nbytes()));
  graph_.addVariable(variable, info, data.data());
  graph_.getTensor(variable).variableUpdateType = tensor.variableUpdateType;
  part_[whole] = variable;
  variable_[whole] = variable;
  whole_.erase(variable);
  whole_.insert(whole);
}

void UpdateSharder::findUpdates() {
  if (graph_.hasTensor(getGradId(weight_))) {
    whole_.insert(getGradId(weight_));
  }
  for (const auto &op : graph_.getOps()) {
    auto isWhole = [&](const TensorId &id) { return whole_.count(id) > 0; };
    if (!isUpdateType(op->opid.type) ||
        std::none_of(op->inputs.begin(), op->inputs.end(), isWhole)) {
      continue;
    }
    updates_.push_back(op.get());
    for (std::size_t i = 0; i < op->outputs.size(); ++i) {
      const TensorId &id = op->outputs[i];
      InIndex modified = op->modifiedInput(static_cast<OutIndex>(i));
      if (graph_.getTensor(id).info.nelms() != support::elementCount(shape_)) {
        continue;
      }
      whole_.insert(id);
      if (modified >= 0) {
        auto found =
            variable_.find(op->inputs[static_cast<std::size_t>(modified)]);
        if (found != variable_.end()) {
          variable_[id] = TensorId(found->second);
        }
      }
    }
  }
}

// Each part of the program that reads the weight gathers it once.
void UpdateSharder::gatherForReaders(const TensorId &whole) {
  using Part =
      std::tuple<ExecutionContext, PipelineStage, ExecutionPhase, VGraphId>;
  std::map<Part, TensorId> gathered;
  std::vector<Op *> readers;
  for (const auto &op : graph_.getOps()) {
    bool isReader =
        std::count(op->inputs.begin(), op->inputs.end(), whole) > 0 &&
        std::find(updates_.begin(), updates_.end(), op.get()) == updates_.end();
    if (isReader) {
      readers.push_back(op.get());
    }
  }
  for (Op *op : readers) {
    const Op::Settings &settings = op->settings;
    TensorId &here =
        gathered[{settings.executionContext, settings.pipelineStage,
                  settings.executionPhase, settings.vgraphId}];
    if (here.empty()) {
      here = gather(part_.at(whole), op, settings);
    }
    editor_.replaceReads(*op, whole, here);
  }
}

bool UpdateSharder::isSharded(const TensorId &version) const {
  auto found = variable_.find(version);
  return found != variable_.end() && sharded_.count(found->second) > 0;
}

// What runs in every micro-batch while the update waits for the last.
bool UpdateSharder::isAccumulation(const Op &op) const {
  return ir_.sessionOptions.enableGradientAccumulation &&
         op.settings.executionContext == ExecutionContext::Normal;
}

void UpdateSharder::rebuild(Op &op) {
  const TensorId &first = op.inputs[0];
  if (op.opid.type == "ReplicaReduce") {
    rebuildReduction(op);
  } else if (isAccumulation(op) && !isSharded(first)) {
    latestWhole_[variable_.at(first)] = op.outputs[0];
  } else if (op.opid.type == "AccumulatorReset" && !isSharded(first)) {
    editor_.replaceInput(op, 0, latestWhole_.at(variable_.at(first)));
  } else {
    rebuildOnParts(op);
  }
}

void UpdateSharder::rebuildOnParts(Op &op) {
  std::vector<TensorId> inputs;
  for (const TensorId &id : op.inputs) {
    inputs.push_back(whole_.count(id) > 0 ? partOf(id, op) : id);
  }
  Attributes attributes = op.attributes;
  if (attributes.hasAttribute("shape") &&
      attributes.getInts("shape", {}) == shape_) {
    attributes.set("shape", Attributes::Ints{partSize_});
  }
  Op &rebuilt =
      editor_.insertBefore(&op, op.opid, inputs, {}, attributes, op.settings);
  obsolete_.push_back(&op);
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const TensorId &id = op.outputs[i];
    TensorId output = rebuilt.outputs[i];
    if (op.opid.type == "SquareSum") {
      output = reduce(output, false, domain_, op);
    }
    if (whole_.count(id) == 0) {
      editor_.replaceReads(id, output);
      continue;
    }
    part_[id] = output;
    if (variable_.count(id) > 0 && !isSharded(id)) {
      latestPart_[variable_.at(id)] = output;
    }
  }
}

// Replicas that have parts have combined them already; others scatter now.
void UpdateSharder::rebuildReduction(Op &op) {
  const TensorId &from = op.inputs[0];
  bool isMean = op.attributes.getInt("mean", 0) != 0;
  if (!isSharded(from)) {
    part_[op.outputs[0]] =
        scatter(from, isMean ? Combine::Mean : Combine::Sum, op);
  } else if (variable_.at(from).rfind(reservedAcclPrefix(), 0) == 0) {
    // The update expects a velocity once for each replica.
    part_[op.outputs[0]] =
        editor_
            .insertBefore(&op, {"aspen", "SumOfCopies"}, {part_.at(from)}, {},
                          Attributes().set(
                              "replicas",
                              ir_.sessionOptions.getGlobalReplicationFactor()),
                          op.settings)
            .outputs[0];
  } else {
    part_[op.outputs[0]] = part_.at(from);
  }
  obsolete_.push_back(&op);
}

// A variable that is not sharded itself takes over what its parts became.
void UpdateSharder::copyBack(const TensorId &variable, const TensorId &part) {
  const Op &last = *graph_.getTensor(part).producer;
  const Op *position = editor_.next(last);
  TensorId whole = gather(part, position, last.settings);
  editor_.insertBefore(position, {"ai.graphcore", "CopyVarUpdate"},
                       {latestWhole_.at(variable), whole}, {}, {},
                       last.settings);
}

// Gradients that go into a velocity are averaged: see rebuildReduction().
UpdateSharder::Combine
UpdateSharder::combinationFor(const Op &accumulation) const {
  bool isSum =
      accumulation.opid.type == "Accumulate" && !accumulation.hasInput(2);
  return isSum ? Combine::Sum : Combine::Mean;
}

TensorId UpdateSharder::partOf(const TensorId &whole, const Op &reader) {
  auto found = part_.find(whole);
  if (found != part_.end()) {
    return found->second;
  }
  Combine how =
      isAccumulation(reader) ? combinationFor(reader) : Combine::Local;
  return part_[whole] = scatter(whole, how, reader);
}

TensorId UpdateSharder::scatter(const TensorId &whole, Combine how,
                                const Op &position) {
  const char *names[] = {"add", "mean", "local"};
  Op::Settings settings = position.settings;
  settings.name = whole;
  TensorId part =
      editor_
          .insertBefore(
              &position, {"aspen", "ReplicaScatter"}, {whole}, {},
              withGroup(Attributes()
                            .set("operator", Attributes::String(
                                                 names[static_cast<int>(how)]))
                            .set("elements", partSize_),
                        domain_),
              settings)
          .outputs[0];
  if (how == Combine::Local || domain_.type == CommGroupType::All) {
    return part;
  }
  return reduce(
      part, how == Combine::Mean,
      complementOf(domain_, ir_.sessionOptions.getGlobalReplicationFactor()),
      position);
}

TensorId UpdateSharder::gather(const TensorId &part, const Op *position,
                               const Op::Settings &settings) {
  return editor_
      .insertBefore(position, {"aspen", "ReplicaGather"}, {part}, {},
                    withGroup(Attributes().set("shape", shape_), domain_),
                    settings)
      .outputs[0];
}

TensorId UpdateSharder::reduce(const TensorId &id, bool isMean,
                               const CommGroup &group, const Op &position) {
  return editor_
      .insertBefore(&position, {"aspen", "ReplicaReduce"}, {id}, {},
                    withGroup(Attributes()
                                  .set("inPlace", Attributes::Int{0})
                                  .set("mean", Attributes::Int{isMean}),
                              group),
                    position.settings)
      .outputs[0];
}

} // namespace popart
