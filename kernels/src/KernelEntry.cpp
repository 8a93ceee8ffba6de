#include <kernels/KernelEntry.hpp>

#include <algorithm>

namespace kernels {

namespace {
// Handing a task over costs about 0.3 us; 10 us of work hides it well, and 16
// shards keep any core count up to 16 busy.
constexpr double nanosecondsPerShard = 10000;
constexpr std::int64_t maxShards = 16;
} // namespace

std::int64_t shardCount(std::int64_t items, double work) {
  const auto wanted = static_cast<std::int64_t>(
      std::clamp(work / nanosecondsPerShard, 1.0, double(maxShards)));
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(items, 1));
}

} // namespace kernels
