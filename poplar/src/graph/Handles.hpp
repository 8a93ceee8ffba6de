// The way through the private parts of the public handles; the free functions
// of poplar/internal/Access.hpp are what other components use.
#pragma once

#include <poplar/VertexIntrospector.hpp>
#include <poplar/internal/Access.hpp>

#include <memory>
#include <utility>

namespace poplar::internal {

class DeviceUse;

struct Access {
  using TensorDataPtr = std::shared_ptr<const TensorData>;

  static const TensorDataPtr &data(const Tensor &tensor) {
    return tensor.data_;
  }
  static Tensor makeTensor(TensorDataPtr data) {
    return Tensor(std::move(data));
  }

  static const std::shared_ptr<GraphData> &data(const Graph &graph) {
    return graph.data_;
  }

  static const std::shared_ptr<const TileSelection> &tiles(const Graph &graph) {
    return graph.tiles_;
  }

  static const ProgramPtr &node(const program::Program &program) {
    return program.node_;
  }
  static program::Program makeProgram(ProgramPtr node) {
    return program::Program(std::move(node));
  }

  static const std::shared_ptr<const TargetData> &data(const Target &target) {
    return target.data_;
  }
  static Target makeTarget(std::shared_ptr<const TargetData> data) {
    return Target(std::move(data));
  }

  // Device.cpp
  static Device makeDevice(std::unique_ptr<DeviceImpl> impl);
  static std::shared_ptr<DeviceUse> use(const Device &device); // may be null

  static StreamId id(const DataStream &stream) { return StreamId(stream.id_); }
  static DataStream makeStream(const GraphData &graph, StreamId id,
                               ReplicatedStreamMode mode) {
    const StreamData &data = graph.streams[id.index()];
    DataStream stream;
    stream.id_ = id.value;
    stream.graph_ = graph.id;
    stream.handle_ = data.handle;
    stream.numElements_ = static_cast<std::size_t>(data.elements);
    stream.replicationFactor_ = graph.replicationFactor;
    stream.mode_ = mode;
    stream.streamType_ = data.isHostToDevice ? DataStreamType::HostToDeviceFIFO
                                             : DataStreamType::DeviceToHostFIFO;
    stream.elementType_ = toType(data.type);
    return stream;
  }

  static RemoteBufferId id(const RemoteBuffer &buffer) {
    return RemoteBufferId(buffer.id_);
  }
  static RemoteBuffer makeRemoteBuffer(const GraphData &graph,
                                       RemoteBufferId id,
                                       bool isRearrangedOnHost,
                                       bool isOptimisedForMemory) {
    const RemoteBufferData &data = graph.remoteBuffers[id.index()];
    RemoteBuffer buffer;
    buffer.id_ = id.value;
    buffer.graph_ = graph.id;
    buffer.handle_ = data.handle;
    buffer.numElements_ = static_cast<std::size_t>(data.elements);
    buffer.repeats_ = static_cast<std::size_t>(data.repeats);
    buffer.elementType_ = toType(data.type);
    buffer.isRearrangedOnHost_ = isRearrangedOnHost;
    buffer.isOptimisedForMemory_ = isOptimisedForMemory;
    return buffer;
  }

  // ComputeSet, Function and VertexRef.
  template <typename Handle>
  static Handle makeHandle(const GraphData &graph, std::size_t id) {
    Handle handle(static_cast<unsigned>(id));
    handle.graph_ = graph.id;
    return handle;
  }
  // The graph that made a handle; 0 if that is not known.
  template <typename Handle>
  static unsigned graphOf(const GraphHandle<Handle> &handle) {
    return handle.graph_;
  }
  static unsigned graphOf(const DataStream &stream) { return stream.graph_; }
  static unsigned graphOf(const RemoteBuffer &buffer) { return buffer.graph_; }
  static unsigned graphOf(const Tensor &tensor) {
    return tensor.data_ == nullptr ? 0 : tensor.data_->graph->id;
  }

  static VertexRef vertexOf(const FieldRef &field) { return field.vertex_; }
  static const std::string &nameOf(const FieldRef &field) {
    return field.name_;
  }
  static VertexIntrospector introspect(const VertexTable &table, VertexId id) {
    return VertexIntrospector(table, id.value);
  }
};

// The data of a tensor, or an error in the name of `operation` when it is
// invalid.
const TensorData &validData(const Tensor &tensor, const char *operation);
// The same for a tensor that must belong to this graph.
const TensorData &ownData(const GraphData &graph, const Tensor &tensor,
                          const char *operation);

} // namespace poplar::internal
