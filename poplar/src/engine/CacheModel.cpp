#include "engine/CacheModel.hpp"

#include <algorithm>

namespace poplar::engine {

std::uint64_t CacheModel::foreignBytes(const std::vector<ByteAccess> &accesses,
                                       unsigned worker) const {
  std::uint64_t bytes = 0;
  for (const ByteAccess &access : accesses) {
    if (access.isScratch) {
      continue;
    }
    auto at = std::prev(segments_.upper_bound(access.begin));
    for (; at != segments_.end() && at->first < access.end; ++at) {
      const auto next = std::next(at);
      const std::byte *begin = std::max(at->first, access.begin);
      const std::byte *end = next == segments_.end()
                                 ? access.end
                                 : std::min(next->first, access.end);
      if (at->second != 0 && (at->second & bitOf(worker)) == 0 && begin < end) {
        bytes += static_cast<std::uint64_t>(end - begin);
      }
    }
  }
  return bytes;
}

void CacheModel::touch(const std::vector<ByteAccess> &accesses,
                       unsigned worker) {
  for (const ByteAccess &access : accesses) {
    if (access.begin >= access.end || access.isScratch) {
      continue;
    }
    cut(access.begin);
    cut(access.end);
    const auto first = segments_.find(access.begin);
    const auto last = segments_.find(access.end);
    for (auto at = first; at != last;) {
      at->second = (access.isWrite ? 0 : at->second) | bitOf(worker);
      // Segments that are in the same caches are one: memory that is used
      // again and again would be cut ever finer.
      const bool isOne = at != first && std::prev(at)->second == at->second;
      at = isOne ? segments_.erase(at) : std::next(at);
    }
  }
}

void CacheModel::cut(const std::byte *at) {
  const auto after = segments_.upper_bound(at);
  const auto segment = std::prev(after);
  if (segment->first != at) {
    segments_.emplace_hint(after, at, segment->second);
  }
}

} // namespace poplar::engine
