// Rows of elements in host memory that programs copy to and from by number.
#pragma once

#include <poplar/Type.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace poplar {

namespace internal {
struct Access;
} // namespace internal

class RemoteBuffer {
public:
  RemoteBuffer() = default;

  std::string handle() const { return handle_; }
  std::size_t numElements() const { return numElements_; } // of a row
  std::size_t getRepeats() const { return repeats_; }      // rows
  Type elementType() const { return elementType_; }
  bool isRearrangeOnHost() const { return isRearrangedOnHost_; }
  bool isOptimisedForMemory() const { return isOptimisedForMemory_; }

  friend bool operator==(const RemoteBuffer &a, const RemoteBuffer &b) {
    return a.id_ == b.id_ && a.handle_ == b.handle_;
  }
  friend bool operator!=(const RemoteBuffer &a, const RemoteBuffer &b) {
    return !(a == b);
  }

private:
  friend struct internal::Access;

  unsigned id_ = std::numeric_limits<unsigned>::max();
  unsigned graph_ = 0;
  std::string handle_;
  std::size_t numElements_ = 0;
  std::size_t repeats_ = 1;
  Type elementType_;
  bool isRearrangedOnHost_ = false;
  bool isOptimisedForMemory_ = false;
};

} // namespace poplar
