// The rows of remote buffers: host memory that programs read and write by row
// number, separate for each replica. They start as zeros and outlive loading.
#pragma once

#include <poplar/internal/GraphData.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace poplar::engine {

class RemoteBuffers {
public:
  explicit RemoteBuffers(const internal::GraphData &graph);

  // One row, packed. A row that the buffer does not have is an
  // application_runtime_error. Different rows may be used at the same time.
  void read(internal::RemoteBufferId buffer, unsigned replica,
            std::uint64_t row, std::byte *data) const;
  void write(internal::RemoteBufferId buffer, unsigned replica,
             std::uint64_t row, const std::byte *data);

  std::size_t rowBytes(internal::RemoteBufferId buffer) const {
    return buffers_[buffer.index()].rowBytes;
  }
  std::uint64_t bytes() const; // of all rows of all replicas
  // Throws tensor_io_state_error when there is no such buffer.
  internal::RemoteBufferId find(const std::string &handle) const;

private:
  struct Free {
    void operator()(std::byte *bytes) const { std::free(bytes); }
  };
  struct Buffer {
    const internal::RemoteBufferData *data = nullptr;
    std::size_t rowBytes = 0;
    std::vector<std::unique_ptr<std::byte[], Free>> rows; // by replica
  };

  std::byte *rowAt(internal::RemoteBufferId id, unsigned replica,
                   std::uint64_t row) const;

  std::vector<Buffer> buffers_; // by id
  std::map<std::string, std::size_t> indexOf_;
};

} // namespace poplar::engine
