#include "engine/RemoteBuffers.hpp"

#include <poplar/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>
#include <cstring>

namespace poplar::engine {

RemoteBuffers::RemoteBuffers(const internal::GraphData &graph) {
  for (const internal::RemoteBufferData &data : graph.remoteBuffers) {
    indexOf_.emplace(data.handle, buffers_.size());
    Buffer &buffer = buffers_.emplace_back();
    buffer.data = &data;
    buffer.rowBytes =
        static_cast<std::size_t>(data.elements) * support::sizeOf(data.type);
    const auto rows = static_cast<std::size_t>(data.repeats);
    for (unsigned i = 0; i < graph.replicationFactor; ++i) {
      // Zeroed memory of this size takes up room only once it is written.
      auto *bytes = static_cast<std::byte *>(
          std::calloc(std::max<std::size_t>(rows, 1),
                      std::max<std::size_t>(buffer.rowBytes, 1)));
      support::requireUser<stream_memory_allocation_error>(
          bytes != nullptr,
          "[Engine] there is no host memory for remote buffer '{}': {} rows of "
          "{} bytes for {} replicas",
          data.handle, rows, buffer.rowBytes, graph.replicationFactor);
      buffer.rows.emplace_back(bytes);
    }
  }
}

std::uint64_t RemoteBuffers::bytes() const {
  std::uint64_t bytes = 0;
  for (const Buffer &buffer : buffers_) {
    bytes += std::uint64_t(buffer.rowBytes) *
             static_cast<std::uint64_t>(buffer.data->repeats) *
             buffer.rows.size();
  }
  return bytes;
}

internal::RemoteBufferId RemoteBuffers::find(const std::string &handle) const {
  const auto found = indexOf_.find(handle);
  support::requireUser<tensor_io_state_error>(
      found != indexOf_.end(),
      "[Engine] there is no remote buffer '{}' in the graph", handle);
  return internal::RemoteBufferId(found->second);
}

std::byte *RemoteBuffers::rowAt(internal::RemoteBufferId id, unsigned replica,
                                std::uint64_t row) const {
  const Buffer &buffer = buffers_[id.index()];
  support::requireUser<application_runtime_error>(
      row < static_cast<std::uint64_t>(buffer.data->repeats),
      "[RemoteBuffer] '{}' was asked for row {}; it has {} rows",
      buffer.data->handle, row, buffer.data->repeats);
  support::requireUser<application_runtime_error>(
      replica < buffer.rows.size(),
      "[RemoteBuffer] '{}' was asked for replica {}; the graph has {}",
      buffer.data->handle, replica, buffer.rows.size());
  return buffer.rows[replica].get() + row * buffer.rowBytes;
}

void RemoteBuffers::read(internal::RemoteBufferId buffer, unsigned replica,
                         std::uint64_t row, std::byte *data) const {
  std::memcpy(data, rowAt(buffer, replica, row), rowBytes(buffer));
}

void RemoteBuffers::write(internal::RemoteBufferId buffer, unsigned replica,
                          std::uint64_t row, const std::byte *data) {
  std::memcpy(rowAt(buffer, replica, row), data, rowBytes(buffer));
}

} // namespace poplar::engine
