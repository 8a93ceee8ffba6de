// Which worker's cache holds which bytes, as far as a schedule can know.
// Scratch memory is left out: nobody knows who uses which part of it.
#pragma once

#include "engine/TaskList.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace poplar::engine {

class CacheModel {
public:
  // Bytes that another worker's cache holds and this one's does not. Bytes that
  // nobody touched are no one's.
  std::uint64_t foreignBytes(const std::vector<ByteAccess> &accesses,
                             unsigned worker) const;

  // Reading adds a copy, writing leaves the only one.
  void touch(const std::vector<ByteAccess> &accesses, unsigned worker);

private:
  using Holders = std::uint64_t; // a bit for each of the first 64 workers

  static Holders bitOf(unsigned worker) { return Holders{1} << (worker % 64); }
  void cut(const std::byte *at);

  // By first byte, up to the next entry.
  std::map<const std::byte *, Holders> segments_ = {{nullptr, 0}};
};

} // namespace poplar::engine
