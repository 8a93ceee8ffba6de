#include "convert.hpp"

#include <Error.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace poptorch {
namespace {

namespace py = pybind11;

popart::DataType toDataType(const py::handle &name) {
  return popart::TensorInfo(name.cast<std::string>(), {}).dataType();
}

template <typename T> std::vector<T> toVector(const py::handle &sequence) {
  return sequence.cast<std::vector<T>>();
}

std::vector<TensorReference> toReferences(const py::handle &numbers) {
  std::vector<TensorReference> references;
  for (auto number : toVector<TensorNumber>(numbers)) {
    references.push_back({number});
  }
  return references;
}

// ("tensor", n), ("tensors", [n, ...]) and ("dtype", name) are tagged; the rest
// is what it is in Python.
TraceArgument toTagged(const py::tuple &tagged) {
  auto tag = tagged[0].cast<std::string>();
  if (tag == "tensor") {
    return TensorReference{tagged[1].cast<TensorNumber>()};
  }
  if (tag == "tensors") {
    return toReferences(tagged[1]);
  }
  return toDataType(tagged[1]);
}

TraceArgument toArgument(const py::handle &value) {
  if (value.is_none()) {
    return std::monostate();
  }
  if (py::isinstance<py::tuple>(value)) {
    return toTagged(value.cast<py::tuple>());
  }
  if (py::isinstance<py::bool_>(value)) {
    return value.cast<bool>();
  }
  if (py::isinstance<py::int_>(value)) {
    return value.cast<std::int64_t>();
  }
  if (py::isinstance<py::float_>(value)) {
    return value.cast<double>();
  }
  if (py::isinstance<py::str>(value)) {
    return value.cast<std::string>();
  }
  bool hasFloat = false;
  for (auto item : value) {
    hasFloat = hasFloat || py::isinstance<py::float_>(item);
  }
  if (hasFloat) {
    return toVector<double>(value);
  }
  return toVector<std::int64_t>(value);
}

Placement toPlacement(const py::tuple &placement) {
  auto number = [&](std::size_t i) {
    return placement[i].cast<std::int64_t>();
  };
  return {number(0), number(1), number(2), placement[3].cast<std::string>()};
}

TracedCall toCall(const py::tuple &call) {
  TracedCall result;
  result.op = call[0].cast<std::string>();
  for (auto argument : call[1]) {
    result.arguments.push_back(toArgument(argument));
  }
  result.results = toVector<TensorNumber>(call[2]);
  result.placement = toPlacement(call[3].cast<py::tuple>());
  result.scope = call[4].cast<std::string>();
  result.source = call[5].cast<std::string>();
  result.outline = call[6].cast<std::map<std::string, std::string>>();
  return result;
}

// Of a record or of a body.
std::vector<TracedCall> toCalls(const py::handle &owner) {
  std::vector<TracedCall> calls;
  for (auto item : owner.attr("calls")) {
    calls.push_back(toCall(item.cast<py::tuple>()));
  }
  return calls;
}

// Whether all of a list is of a Python type.
template <typename T> bool areAll(const py::handle &list) {
  return std::all_of(list.begin(), list.end(), [](const py::handle &item) {
    return py::isinstance<T>(item);
  });
}

void setAttribute(popart::Attributes &attributes, const std::string &name,
                  const py::handle &value) {
  using popart::Attributes;
  if (py::isinstance<py::str>(value)) {
    attributes.set(name, value.cast<Attributes::String>());
  } else if (py::isinstance<py::float_>(value)) {
    attributes.set(name, value.cast<Attributes::Float>());
  } else if (py::isinstance<py::int_>(value)) {
    attributes.set(name, value.cast<Attributes::Int>());
  } else if (areAll<py::str>(value)) {
    attributes.set(name, value.cast<Attributes::Strings>());
  } else if (areAll<py::float_>(value)) {
    attributes.set(name, value.cast<Attributes::Floats>());
  } else {
    attributes.set(name, value.cast<Attributes::Ints>());
  }
}

popart::Attributes toAttributes(const py::handle &values) {
  popart::Attributes attributes;
  for (auto [name, value] : values.cast<py::dict>()) {
    setAttribute(attributes, name.cast<std::string>(), value);
  }
  return attributes;
}

void *toPointer(const py::handle &address) {
  return reinterpret_cast<void *>(address.cast<std::uintptr_t>());
}

PopartOption toPopartOption(const py::handle &value) {
  if (py::isinstance<py::bool_>(value)) {
    return value.cast<bool>();
  }
  if (py::isinstance<py::int_>(value)) {
    return value.cast<std::int64_t>();
  }
  if (py::isinstance<py::float_>(value)) {
    return value.cast<double>();
  }
  if (py::isinstance<py::str>(value)) {
    return value.cast<std::string>();
  }
  if (py::isinstance<py::dict>(value)) {
    std::map<std::string, std::string> map;
    for (auto [key, item] : value.cast<py::dict>()) {
      map[py::str(key)] = py::str(item);
    }
    return map;
  }
  std::vector<std::string> strings;
  for (auto item : value) {
    strings.push_back(py::str(item));
  }
  return strings;
}

template <typename T>
void read(const py::dict &options, const char *name, T &value) {
  if (options.contains(name)) {
    value = options[name].cast<T>();
  }
}

template <typename Enum>
void readEnum(const py::dict &options, const char *name, Enum &value) {
  if (options.contains(name)) {
    value = static_cast<Enum>(options[name].cast<int>());
  }
}

popart::TensorLocationSettings toLocation(const py::dict &options,
                                          const char *name) {
  popart::TensorLocationSettings settings;
  if (!options.contains(name)) {
    return settings;
  }
  const auto values = options[name].cast<py::dict>();
  const auto has = [&values](const char *flag) {
    return values.contains(flag) && values[flag].cast<int>() != 0;
  };
  auto &location = settings.location;
  if (values.contains("onChip") && !has("onChip")) {
    location.storage = popart::TensorStorage::OffChip;
  }
  if (has("useReplicatedTensorSharding")) {
    location.replicatedTensorSharding = popart::ReplicatedTensorSharding::On;
  }
  if (has("useIOTilesToLoad")) {
    location.loadTileSet = popart::TileSet::IO;
  }
  if (has("useIOTilesToStore")) {
    location.storageTileSet = popart::TileSet::IO;
  }
  read(values, "minElementsForOffChip", settings.minElementsForOffChip);
  read(values, "minElementsForReplicatedTensorSharding",
       settings.minElementsForReplicatedTensorSharding);
  return settings;
}

popart::Optimizer::Values toValues(const py::handle &values) {
  return values.cast<popart::Optimizer::Values>();
}

} // namespace

TraceRecord toTraceRecord(const py::object &record) {
  TraceRecord result;
  for (auto item : record.attr("tensors")) {
    auto tensor = item.cast<py::tuple>();
    result.tensors.push_back(
        {popart::TensorInfo(toDataType(tensor[0]),
                            toVector<std::int64_t>(tensor[1])),
         tensor[2].cast<bool>()});
  }
  for (auto item : record.attr("state")) {
    auto state = item.cast<py::tuple>();
    result.state.push_back(
        {state[0].cast<std::string>(), state[1].cast<TensorNumber>(),
         state[2].cast<bool>(), toPointer(state[3].attr("data_ptr")())});
    if (!state[4].is_none()) {
      auto grouping = state[4].cast<py::tuple>();
      TracedState &grouped = result.state.back();
      grouped.grouping = {grouping[0].cast<int>(), grouping[1].cast<unsigned>(),
                          grouping[2].cast<int>()};
      grouped.rows = state[3].attr("shape")[py::int_(0)].cast<std::int64_t>();
    }
  }
  result.calls = toCalls(record);
  for (auto body : record.attr("bodies")) {
    result.bodies.push_back({toVector<TensorNumber>(body.attr("inputs")),
                             toVector<TensorNumber>(body.attr("outputs")),
                             toCalls(body)});
  }
  for (auto item : record.attr("constants")) {
    auto constant = item.cast<py::tuple>();
    auto bytes = constant[1].cast<std::string_view>();
    result.constants.emplace_back(
        constant[0].cast<TensorNumber>(),
        std::vector<char>(bytes.begin(), bytes.end()));
  }
  for (auto [name, values] : record.attr("attributes").cast<py::dict>()) {
    result.attributes[name.cast<std::string>()] = toAttributes(values);
  }
  result.inputs = record.attr("inputs").cast<decltype(result.inputs)>();
  result.outputs = toVector<TensorNumber>(record.attr("outputs"));
  result.writtenBack =
      record.attr("written_back").cast<decltype(result.writtenBack)>();
  return result;
}

CompileOptions toCompileOptions(const py::dict &options) {
  CompileOptions result;
  read(options, "model_name", result.modelName);
  read(options, "execution_mode", result.executionMode);
  readEnum(options, "tensors_liveness", result.liveness);
  read(options, "separate_backward_phase", result.hasSeparateBackwardPhase);
  read(options, "available_memory_proportion", result.availableMemory);
  read(options, "device_iterations", result.deviceIterations);
  read(options, "replication_factor", result.replicationFactor);
  read(options, "gradient_accumulation", result.gradientAccumulation);
  readEnum(options, "output_mode", result.outputMode);
  read(options, "output_return_period", result.outputReturnPeriod);
  readEnum(options, "accumulation_and_replication_reduction_type",
           result.reductionType);
  readEnum(options, "meanAccumulationAndReplicationReductionStrategy",
           result.meanStrategy);
  readEnum(options, "connection_type", result.connectionType);
  readEnum(options, "sync_pattern", result.syncPattern);
  read(options, "auto_round_num_ipus", result.roundIpuCount);
  read(options, "use_model", result.useIpuModel);
  read(options, "ipu_model_version", result.ipuModelVersion);
  read(options, "ipu_model_tiles", result.ipuModelTiles);
  if (options.contains("ipu_id")) {
    result.ipuId = options["ipu_id"].cast<int>();
  }
  if (options.contains("random_seed")) {
    result.randomSeed = options["random_seed"].cast<std::uint64_t>();
  }
  read(options, "num_distributed_processes", result.processes);
  read(options, "distributed_process_id", result.processId);
  result.activationLocation = toLocation(options, "location_activation");
  result.weightLocation = toLocation(options, "location_weight");
  result.optimizerLocation = toLocation(options, "location_optimizer");
  result.accumulatorLocation = toLocation(options, "location_accumulator");
  read(options, "numIOTiles", result.ioTiles);
  read(options, "executable_file", result.executableFile);
  for (auto item : options["anchors"]) {
    auto anchor = item.cast<py::tuple>();
    result.anchors.push_back(
        {anchor[0].cast<std::string>(),
         static_cast<popart::AnchorReturnTypeId>(anchor[1].cast<int>()),
         anchor[2].cast<int>()});
  }
  for (auto [key, value] : options["popart"].cast<py::dict>()) {
    result.popart[py::str(key)] = toPopartOption(value);
  }
  return result;
}

OptimizerDescription toOptimizerDescription(const py::dict &optimizer) {
  OptimizerDescription result;
  result.type = optimizer["type"].cast<std::string>();
  read(optimizer, "use_combined_accum", result.useCombinedAccumulator);
  read(optimizer, "use_tf_variant", result.useTfVariant);
  read(optimizer, "accum_type", result.accumType);
  read(optimizer, "first_order_type", result.velocityType);
  read(optimizer, "second_order_type", result.secondOrderType);
  if (!optimizer["max_grad_norm"].is_none()) {
    result.maxGradientNorm = optimizer["max_grad_norm"].cast<float>();
  }
  result.defaults = toValues(optimizer["defaults"]);
  for (auto item : optimizer["groups"]) {
    auto group = item.cast<py::tuple>();
    result.groups.push_back(
        {toVector<std::string>(group[0]), toValues(group[1])});
  }
  return result;
}

} // namespace poptorch
