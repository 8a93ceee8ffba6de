// Zeroed bytes that start on a cache line: what arenas and variables are made
// of. Large ones ask for huge pages: kernels that stream through megabytes
// spend up to a third of their time on misses of the TLB otherwise.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace poplar::engine {

class AlignedBuffer {
public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t hugePage = std::size_t{2} << 20;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t bytes) : size_(bytes) {
    // One spare line, so that an empty buffer has an address too.
    const std::size_t allocated = (bytes / alignment + 2) * alignment;
    const bool isLarge = bytes >= hugePage;
    void *raw = nullptr; // std::aligned_alloc would want whole huge pages
    if (posix_memalign(&raw, isLarge ? hugePage : alignment, allocated) != 0) {
      throw std::bad_alloc();
    }
    if (isLarge) { // where the system has none, nothing is lost
      madvise(raw, allocated, MADV_HUGEPAGE);
    }
    bytes_.reset(static_cast<std::byte *>(raw));
    std::memset(raw, 0, allocated);
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
