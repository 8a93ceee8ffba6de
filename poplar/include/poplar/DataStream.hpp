// A stream between the host and the device, made by Graph and used by Copy.
#pragma once

#include <poplar/ReplicatedStreamMode.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace poplar {

namespace internal {
struct Access;
} // namespace internal

enum class DataStreamType { HostToDeviceFIFO, DeviceToHostFIFO };

class DataStream {
public:
  DataStream() = default;

  std::string handle() const { return handle_; }
  std::size_t numElements() const { return numElements_; } // per Copy
  unsigned replicationFactor() const { return replicationFactor_; }
  ReplicatedStreamMode replicatedMode() const { return mode_; }
  DataStreamType type() const { return streamType_; }
  Type elementType() const { return elementType_; }

  friend bool operator==(const DataStream &a, const DataStream &b) {
    return a.id_ == b.id_ && a.handle_ == b.handle_;
  }
  friend bool operator!=(const DataStream &a, const DataStream &b) {
    return !(a == b);
  }

private:
  friend struct internal::Access;

  unsigned id_ = std::numeric_limits<unsigned>::max();
  unsigned graph_ = 0;
  std::string handle_;
  std::size_t numElements_ = 0;
  unsigned replicationFactor_ = 1;
  ReplicatedStreamMode mode_ = ReplicatedStreamMode::REPLICATE;
  DataStreamType streamType_ = DataStreamType::HostToDeviceFIFO;
  Type elementType_;
};

} // namespace poplar
