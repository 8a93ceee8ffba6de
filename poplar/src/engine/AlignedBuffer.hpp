// Zeroed bytes that start on a cache line: what arenas and variables are made
// of.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace poplar::engine {

class AlignedBuffer {
public:
  static constexpr std::size_t alignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t bytes) : size_(bytes) {
    // One spare line, so that an empty buffer has an address too.
    const std::size_t lines = bytes / alignment + 2;
    auto *raw = static_cast<std::byte *>(
        std::aligned_alloc(alignment, lines * alignment));
    if (raw == nullptr) {
      throw std::bad_alloc();
    }
    bytes_.reset(raw);
    std::memset(raw, 0, lines * alignment);
  }

  std::byte *data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

private:
  struct Free {
    void operator()(std::byte *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
};

} // namespace poplar::engine
