// Graph: variables, constants, streams and host access.
#include <poplar/Graph.hpp>

#include "Handles.hpp"
#include "HostValues.hpp"
#include "ViewSets.hpp"

#include <poplar/internal/Version.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>

namespace poplar {

using internal::Access;
using internal::GraphData;
using internal::ownData;
using internal::TensorData;
using internal::TensorView;
using internal::Variable;
using internal::VariableId;
using support::requireUser;

namespace {

support::Shape toShape(ArrayRef<std::size_t> shape) {
  return support::Shape(shape.begin(), shape.end());
}

Tensor wholeTensor(const Graph &graph, VariableId id) {
  const Variable &variable = internal::graphData(graph)[id];
  TensorView view{
      variable.type,
      variable.shape,
      {{id, 0, variable.shape, support::rowMajorStrides(variable.shape)}}};
  return internal::makeTensor(graph, std::move(view));
}

std::vector<std::byte> repeatBytes(const std::vector<std::byte> &value,
                                   std::size_t count) {
  std::vector<std::byte> bytes;
  bytes.reserve(value.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  return bytes;
}

Tensor addConstantBytes(Graph &graph, const Type &type,
                        ArrayRef<std::size_t> shape,
                        std::vector<std::byte> bytes,
                        const DebugContext &debugContext) {
  Tensor tensor = graph.addVariable(type, shape, debugContext);
  Variable &variable = internal::graphData(graph).variables.back();
  variable.isConstant = true;
  variable.initialData = std::move(bytes);
  return tensor;
}

// Stores bytes, in the tensor's order, as initial data of its variables.
void storeInitialData(GraphData &graph, const TensorView &view,
                      const std::vector<std::byte> &bytes) {
  const std::size_t size = support::sizeOf(view.type);
  const std::byte *source = bytes.data();
  internal::forEachRun(view, [&](VariableId id, std::int64_t begin,
                                 std::int64_t count) {
    Variable &variable = graph[id];
    variable.initialData.resize(static_cast<std::size_t>(variable.elements()) *
                                size);
    std::size_t length = static_cast<std::size_t>(count) * size;
    std::memcpy(variable.initialData.data() +
                    static_cast<std::size_t>(begin) * size,
                source, length);
    source += length;
  });
}

void checkCount(const char *operation, std::size_t given,
                std::int64_t elements) {
  requireUser<tensor_creation_error>(
      given == static_cast<std::size_t>(elements),
      "[poplar::Graph::{}] {} values given for {} elements", operation, given,
      elements);
}

// The largest buffer that a stream may have.
constexpr std::uint64_t maxStreamBytes = 128 << 20;

void setStreamOptions(internal::StreamData &data, const OptionFlags &options,
                      const char *operation) {
  for (const auto &[name, value] : options) {
    requireUser<invalid_option>(
        name == "bufferingDepth" || name == "splitLimit",
        "[poplar::Graph::{}] Unrecognised option '{}'; bufferingDepth and "
        "splitLimit are allowed",
        operation, name);
    std::uint64_t number = 0;
    const char *end = value.data() + value.size();
    auto [parsed, error] = std::from_chars(value.data(), end, number);
    requireUser<invalid_option>(
        error == std::errc() && parsed == end,
        "[poplar::Graph::{}] option {} is '{}'; an integer is needed",
        operation, name, value);
    if (name == "splitLimit") {
      data.splitLimitBytes = number;
    } else {
      requireUser<invalid_option>(
          number > 0 && number <= std::numeric_limits<unsigned>::max(),
          "[poplar::Graph::{}] option bufferingDepth is {}; at least 1 is "
          "needed",
          operation, value);
      data.bufferingDepth = static_cast<unsigned>(number);
    }
  }
}

DataStream addStream(Graph &graph, internal::StreamData data,
                     ReplicatedStreamMode mode, const OptionFlags &options,
                     const char *operation) {
  setStreamOptions(data, options, operation);
  data.isBroadcast =
      data.isHostToDevice && mode == ReplicatedStreamMode::BROADCAST;
  auto &streams = internal::graphData(graph).streams;
  requireUser<poplar_error>(
      std::none_of(streams.begin(), streams.end(),
                   [&](const auto &s) { return s.handle == data.handle; }),
      "[poplar::Graph::{}] a stream with handle '{}' already exists", operation,
      data.handle);
  const auto bytes =
      static_cast<std::uint64_t>(data.elements) * support::sizeOf(data.type);
  requireUser<stream_memory_allocation_error>(
      bytes <= maxStreamBytes ||
          (data.splitLimitBytes > 0 && data.splitLimitBytes <= maxStreamBytes),
      "[poplar::Graph::{}] stream '{}' needs a buffer of {} bytes; {} are "
      "allowed unless option splitLimit splits it",
      operation, data.handle, bytes, maxStreamBytes);
  streams.push_back(std::move(data));
  return Access::makeStream(internal::graphData(graph),
                            internal::StreamId(streams.size() - 1), mode);
}

// Handles know their graph by a number.
std::shared_ptr<GraphData> makeGraphData() {
  static std::atomic<unsigned> last = 0;
  auto data = std::make_shared<GraphData>();
  data->id = ++last;
  return data;
}

void addHostAccess(std::map<std::string, internal::HostAccess> &table,
                   StringRef handle, const TensorView &view,
                   const char *operation) {
  bool isNew =
      table.try_emplace(handle.cloneAsString(), internal::HostAccess{view})
          .second;
  requireUser<poplar_error>(isNew,
                            "[poplar::Graph::{}] handle '{}' is already in use",
                            operation, handle.cloneAsString());
}

} // namespace

StringRef versionString() {
  static const std::string text =
      fmt::format("{} ({})", internal::interfaceVersion, internal::packageHash);
  return text;
}
StringRef packageHash() {
  return internal::packageHash;
}

Graph::Graph() : data_(makeGraphData()) {}

Graph::Graph(const Target &target, replication_factor replicas)
    : data_(makeGraphData()) {
  requireUser<graph_replication_error>(
      replicas.value > 0 && target.getNumIPUs() % replicas.value == 0,
      "[poplar::Graph] {} replicas given for {} IPUs; each replica needs the "
      "same whole number of IPUs",
      replicas.value, target.getNumIPUs());
  target_ =
      replicas.value == 1
          ? target
          : target.createVirtualTarget(target.getNumIPUs() / replicas.value,
                                       target.getTilesPerIPU());
  data_->target = Access::data(target_);
  data_->replicationFactor = replicas.value;
}

Graph::Graph(const Device &device, replication_factor replicas)
    : Graph(device.getTarget(), replicas) {}

Graph::~Graph() = default;
Graph::Graph(Graph &&) noexcept = default;
Graph &Graph::operator=(Graph &&) noexcept = default;

const Target &Graph::getTarget() const {
  return target_;
}
unsigned Graph::getReplicationFactor() const {
  return data_->replicationFactor;
}

Tensor Graph::addVariable(const Type &type, ArrayRef<std::size_t> shape,
                          const DebugContext &debugContext) {
  Variable variable;
  variable.type = internal::toDataType(type);
  variable.shape = toShape(shape);
  variable.debugPath = debugContext.getPathName();
  data_->variables.push_back(std::move(variable));
  return wholeTensor(*this, VariableId(data_->variables.size() - 1));
}

Tensor Graph::addVariable(const Type &type, ArrayRef<std::size_t> shape,
                          VariableMappingMethod method,
                          const DebugContext &debugContext) {
  Tensor tensor = addVariable(type, shape, debugContext);
  if (method == VariableMappingMethod::LINEAR && tensor.numElements() > 0) {
    const std::int64_t elements = data_->variables.back().elements();
    internal::setLinearMapping(*this, tensor,
                               {0, elements, 0, target_.getNumTiles(), 1});
  }
  return tensor;
}

Tensor Graph::addConstantFrom(const Type &type, ArrayRef<std::size_t> shape,
                              const Type &hostType, const void *values,
                              std::size_t count, bool isFill,
                              const DebugContext &debugContext) {
  std::int64_t elements = support::elementCount(toShape(shape));
  if (!isFill) {
    checkCount("addConstant", count, elements);
  }
  auto bytes = internal::convertValues(internal::toDataType(type), hostType,
                                       values, count);
  if (isFill) {
    bytes = repeatBytes(bytes, static_cast<std::size_t>(elements));
  }
  return addConstantBytes(*this, type, shape, std::move(bytes), debugContext);
}

Tensor Graph::addConstantHalf(const Type &type, ArrayRef<std::size_t> shape,
                              std::uint16_t value,
                              const DebugContext &debugContext) {
  std::vector<std::uint16_t> values(countOf(shape), value);
  return addConstantHalf(type, shape, values.data(), debugContext);
}

Tensor Graph::addConstantHalf(const Type &type, ArrayRef<std::size_t> shape,
                              const std::uint16_t *values,
                              const DebugContext &debugContext) {
  requireUser<type_error>(
      type == HALF, "[poplar::Graph::addConstantHalf] {} given; HALF is needed",
      type.toString().cloneAsString());
  auto bytes = std::as_bytes(std::span(values, countOf(shape)));
  return addConstantBytes(*this, type, shape, {bytes.begin(), bytes.end()},
                          debugContext);
}

Tensor Graph::addReplicationIndexConstant(const DebugContext &debugContext) {
  const unsigned first = 0;
  Tensor tensor = addConstantFrom(UNSIGNED_INT, {}, UNSIGNED_INT, &first, 1,
                                  true, debugContext);
  data_->variables.back().isReplicaIndex = true;
  return tensor;
}

Tensor Graph::getVariable(VariableRef variable) const {
  if (variable.getId() >= data_->variables.size()) {
    throw index_error("the variables of the graph", variable.getId());
  }
  return wholeTensor(*this, VariableId(variable.getId()));
}

bool Graph::isConstant(VariableRef variable) const {
  return getVariable(variable).containsConstant();
}

void Graph::setInitialValueFrom(const Tensor &tensor, const Type &hostType,
                                const void *values, std::size_t count,
                                bool isFill) {
  const TensorView &view =
      ownData(*data_, tensor, "poplar::Graph::setInitialValue").view;
  requireUser<poplar_error>(
      !tensor.containsConstant(),
      "[poplar::Graph::setInitialValue] the tensor contains a constant");
  if (!isFill) {
    checkCount("setInitialValue", count, view.elements());
  }
  auto bytes = internal::convertValues(view.type, hostType, values, count);
  if (isFill) {
    bytes = repeatBytes(bytes, tensor.numElements());
  }
  storeInitialData(*data_, view, bytes);
}

void Graph::setInitialValueHalf(const Tensor &tensor, std::uint16_t value) {
  setInitialValueHalf(tensor,
                      std::vector<std::uint16_t>(tensor.numElements(), value));
}

void Graph::setInitialValueHalf(const Tensor &tensor,
                                ArrayRef<std::uint16_t> values) {
  requireUser<type_error>(
      tensor.elementType() == HALF,
      "[poplar::Graph::setInitialValueHalf] tensor of {} given; HALF is "
      "needed",
      tensor.elementType().toString().cloneAsString());
  setInitialValueFrom(tensor.reinterpret(UNSIGNED_SHORT), UNSIGNED_SHORT,
                      values.data(), values.size(), false);
}

ComputeSet Graph::addComputeSet(const DebugContext &debugContext) {
  data_->computeSets.push_back({debugContext.getPathName(), {}, {}});
  return Access::makeHandle<ComputeSet>(*data_, data_->computeSets.size() - 1);
}

void Graph::createHostWrite(StringRef handle, const Tensor &tensor, bool) {
  const TensorView &view =
      ownData(*data_, tensor, "poplar::Graph::createHostWrite").view;
  requireUser<tensor_io_state_error>(
      tensor.isParallelWriteable(),
      "[poplar::Graph::createHostWrite] the tensor of handle '{}' contains "
      "constants or aliases, which cannot be written",
      handle.cloneAsString());
  addHostAccess(data_->hostWrites, handle, view, "createHostWrite");
}

void Graph::createHostRead(StringRef handle, const Tensor &tensor, bool) {
  addHostAccess(data_->hostReads, handle,
                ownData(*data_, tensor, "poplar::Graph::createHostRead").view,
                "createHostRead");
}

DataStream Graph::addHostToDeviceFIFO(StringRef handle, const Type &elementType,
                                      std::size_t numElements,
                                      ReplicatedStreamMode mode,
                                      const OptionFlags &options) {
  return addStream(*this,
                   {handle.cloneAsString(), internal::toDataType(elementType),
                    static_cast<std::int64_t>(numElements), true},
                   mode, options, "addHostToDeviceFIFO");
}

DataStream Graph::addDeviceToHostFIFO(StringRef handle, const Type &elementType,
                                      std::size_t numElements,
                                      const OptionFlags &options) {
  return addStream(*this,
                   {handle.cloneAsString(), internal::toDataType(elementType),
                    static_cast<std::int64_t>(numElements), false},
                   ReplicatedStreamMode::REPLICATE, options,
                   "addDeviceToHostFIFO");
}

RemoteBuffer Graph::addRemoteBuffer(StringRef handle, const Type &elementType,
                                    std::size_t numElements,
                                    std::size_t repeats, bool rearrangeOnHost,
                                    bool optimiseMemory) {
  auto &buffers = data_->remoteBuffers;
  const std::string name = handle.cloneAsString();
  requireUser<poplar_error>(
      std::none_of(buffers.begin(), buffers.end(),
                   [&](const auto &b) { return b.handle == name; }),
      "[poplar::Graph::addRemoteBuffer] a remote buffer with handle '{}' "
      "already exists",
      name);
  requireUser<poplar_error>(
      repeats > 0,
      "[poplar::Graph::addRemoteBuffer] 0 repeats given for '{}'; at least 1 "
      "is needed",
      name);
  buffers.push_back({name, internal::toDataType(elementType),
                     static_cast<std::int64_t>(numElements),
                     static_cast<std::int64_t>(repeats)});
  return Access::makeRemoteBuffer(*data_,
                                  internal::RemoteBufferId(buffers.size() - 1),
                                  rearrangeOnHost, optimiseMemory);
}

} // namespace poplar
