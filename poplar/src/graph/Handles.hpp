// The way through the private parts of the public handles; the free functions
// of poplar/internal/Access.hpp are what other components use.
#pragma once

#include <poplar/internal/Access.hpp>

#include <memory>
#include <utility>

namespace poplar::internal {

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

  static const ProgramPtr &node(const program::Program &program) {
    return program.node_;
  }

  static const std::shared_ptr<const TargetData> &data(const Target &target) {
    return target.data_;
  }
  static Target makeTarget(std::shared_ptr<const TargetData> data) {
    return Target(std::move(data));
  }

  static Device makeDevice(std::unique_ptr<DeviceImpl> impl); // Device.cpp

  static StreamId id(const DataStream &stream) { return StreamId(stream.id_); }
  static DataStream makeStream(StreamId id, const StreamData &data,
                               ReplicatedStreamMode mode,
                               unsigned replicationFactor) {
    DataStream stream;
    stream.id_ = id.value;
    stream.handle_ = data.handle;
    stream.numElements_ = static_cast<std::size_t>(data.elements);
    stream.replicationFactor_ = replicationFactor;
    stream.mode_ = mode;
    stream.streamType_ = data.isHostToDevice ? DataStreamType::HostToDeviceFIFO
                                             : DataStreamType::DeviceToHostFIFO;
    stream.elementType_ = toType(data.type);
    return stream;
  }
};

// The data of a tensor, or an error in the name of `operation` when it is
// invalid.
const TensorData &validData(const Tensor &tensor, const char *operation);

} // namespace poplar::internal
