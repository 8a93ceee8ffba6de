#include <kernels/KernelEntry.hpp>

#include <algorithm>
#include <bit>

namespace kernels {

namespace {
// Handing a task over costs about 0.3 us: from 5 us of work on, two cores are
// faster than one, while more shards of less than 10 us each would mostly wait.
// 16 shards keep any core count up to 16 busy.
constexpr double nanosecondsForTwo = 5000;
constexpr double nanosecondsPerShard = 10000;
constexpr std::int64_t maxShards = 16;
} // namespace

std::int64_t shardCount(std::int64_t items, double work) {
  const auto wanted = static_cast<std::uint64_t>(
      std::clamp(work / nanosecondsPerShard,
                 work < nanosecondsForTwo ? 1.0 : 2.0, double(maxShards)));
  const auto possible =
      static_cast<std::uint64_t>(std::max<std::int64_t>(items, 1));
  // A power of two: the shards of a weight's gradient and of its update meet at
  // the same borders, so that both can stay on one core.
  return static_cast<std::int64_t>(std::bit_floor(std::min(wanted, possible)));
}

} // namespace kernels
