// Locations by name, by the operation that makes a tensor, or by class.
#include <transforms/TensorLocations.hpp>

#include <popart/tensornames.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace popart {
namespace {

bool hasPrefix(const TensorId &id, std::initializer_list<const char *> list) {
  return std::any_of(list.begin(), list.end(), [&](const std::string &prefix) {
    return id.rfind(prefix, 0) == 0;
  });
}

enum class Class { Weight, OptimizerState, Accumulator, Other };

Class classOf(const Tensor &variable) {
  if (hasPrefix(variable.id, {reservedAcclPrefix(), reservedAccl1Prefix(),
                              reservedAccl2Prefix(), reservedAccl3Prefix(),
                              reservedStepPrefix()})) {
    return Class::OptimizerState;
  }
  if (hasPrefix(variable.id, {reservedAccumPrefix()})) {
    return Class::Accumulator;
  }
  return variable.variableUpdateType == VariableUpdateType::None
             ? Class::Other
             : Class::Weight;
}

// Null: neither a weight nor state of the optimiser.
const TensorLocationSettings *settingsOf(const SessionOptions &options,
                                         const Tensor &variable) {
  switch (classOf(variable)) {
  case Class::Weight:
    return &options.weightTensorLocationSettings;
  case Class::OptimizerState:
    return &options.optimizerStateTensorLocationSettings;
  case Class::Accumulator:
    return &options.accumulatorTensorLocationSettings;
  case Class::Other:
    break;
  }
  return nullptr;
}

// What the options say of this name; null: nothing.
const TensorLocation *namedLocation(const Ir &ir, const TensorId &id) {
  const auto &names = ir.sessionOptions.tensorLocationSettingsOverride;
  auto found = names.find(id);
  return found == names.end() ? nullptr : &found->second;
}

TensorLocation onChipIfSmall(const TensorLocationSettings &settings,
                             const Tensor &tensor) {
  TensorLocation location = settings.location;
  if (tensor.info.nelms() < settings.minElementsForOffChip) {
    location.storage = TensorStorage::OnChip;
  }
  if (tensor.info.nelms() < settings.minElementsForReplicatedTensorSharding) {
    location.replicatedTensorSharding = ReplicatedTensorSharding::Off;
  }
  return location;
}

} // namespace

std::int64_t shardsOf(const Ir &ir, const CommGroup &domain) {
  std::int64_t replicas = ir.sessionOptions.getGlobalReplicationFactor();
  std::int64_t size = domain.replicaGroupSize;
  return domain.type == CommGroupType::None               ? 1
         : domain.type == CommGroupType::All || size == 0 ? replicas
                                                          : size;
}

TensorLocation locationOf(const Ir &ir, const Tensor &variable) {
  const SessionOptions &options = ir.sessionOptions;
  const TensorLocationSettings *settings = settingsOf(options, variable);
  bool isConstant = !ir.isTraining() && options.constantWeights;
  if (!settings || isConstant || variable.type != TensorType::Variable ||
      ir.dataFlow.isAnchored(variable.id)) {
    return {};
  }
  const TensorLocation *named = namedLocation(ir, variable.id);
  TensorLocation location = named ? *named : onChipIfSmall(*settings, variable);
  // What groups of replicas have of their own is not shared out among all.
  unsigned groups = variable.variableSettings.getGroupCount(
      static_cast<unsigned>(options.getGlobalReplicationFactor()));
  if (shardsOf(ir, location.shardingDomain) == 1 || groups > 1) {
    location.replicatedTensorSharding = ReplicatedTensorSharding::Off;
  }
  return location;
}

ExecutionPhaseIOSchedule ioScheduleOf(const Ir &ir, const Tensor &variable) {
  const auto &settings = ir.sessionOptions.executionPhaseSettings;
  switch (classOf(variable)) {
  case Class::Weight:
    return settings.weightIOSchedule;
  case Class::OptimizerState:
    return settings.optimizerStateIOSchedule;
  case Class::Accumulator:
    return settings.accumulatorIOSchedule;
  case Class::Other:
    break;
  }
  return ExecutionPhaseIOSchedule::OnDemand;
}

TensorLocation activationLocationOf(const Ir &ir, const Tensor &activation) {
  const TensorLocation *named = namedLocation(ir, activation.id);
  const std::string attribute = "__output_tensor_location";
  TensorLocationSettings settings =
      ir.sessionOptions.activationTensorLocationSettings;
  if (ir.sessionOptions.executionPhaseSettings.phases > 1) {
    settings.location.storage = TensorStorage::OffChip;
  }
  TensorLocation location =
      named ? *named : onChipIfSmall(settings, activation);
  if (!named && activation.producer &&
      activation.producer->attributes.hasAttribute(attribute)) {
    // Storage, tile sets of loads and stores, and what says about sharding.
    auto fields = activation.producer->attributes.getInts(attribute, {0, 0, 0});
    fields.resize(3);
    location = TensorLocation(static_cast<TensorStorage>(fields[0]),
                              static_cast<TileSet>(fields[1]),
                              static_cast<TileSet>(fields[2]));
  }
  location.replicatedTensorSharding = ReplicatedTensorSharding::Off;
  return location;
}

} // namespace popart
