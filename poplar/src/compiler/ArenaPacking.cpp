#include "compiler/ArenaPacking.hpp"

#include <algorithm>
#include <numeric>

namespace poplar::compiler {
namespace {

// Large blocks are worked on in many shards, which keep cores busy anyway: they
// are reused at once.
constexpr std::size_t largeBytes = std::size_t{4} << 20;

class ArenaPacker {
public:
  ArenaPacker(const std::vector<ArenaBlock> &blocks,
              const Forerunners &forerunners)
      : blocks_(blocks), forerunners_(forerunners) {}

  // Best fit, in the given order: each takes the smallest gap between the
  // blocks that it must not overlap.
  ArenaPlan pack(const std::vector<std::size_t> &order) const {
    ArenaPlan plan;
    plan.offsets.resize(blocks_.size());
    std::vector<std::size_t> placed; // by offset
    for (std::size_t b : order) {
      plan.offsets[b] = findGap(b, placed, plan.offsets);
      plan.bytes = std::max(plan.bytes, plan.offsets[b] + blocks_[b].bytes);
      const auto isBefore = [&](std::size_t x, std::size_t y) {
        return plan.offsets[x] < plan.offsets[y];
      };
      placed.insert(std::upper_bound(placed.begin(), placed.end(), b, isBefore),
                    b);
    }
    return plan;
  }

private:
  std::size_t findGap(std::size_t block, const std::vector<std::size_t> &placed,
                      const std::vector<std::size_t> &offsets) const {
    const std::size_t bytes = blocks_[block].bytes;
    std::size_t best = ~std::size_t(0), bestSize = ~std::size_t(0), end = 0;
    for (std::size_t other : placed) {
      if (canOverlap(blocks_[block], blocks_[other])) {
        continue;
      }
      if (offsets[other] >= end + bytes && offsets[other] - end < bestSize) {
        best = end;
        bestSize = offsets[other] - end;
      }
      end = std::max(end, offsets[other] + blocks_[other].bytes);
    }
    return bestSize == ~std::size_t(0) ? end : best;
  }

  bool canOverlap(const ArenaBlock &a, const ArenaBlock &b) const {
    return a.uses.front() < b.uses.front() ? canFollow(a, b) : canFollow(b, a);
  }

  bool canFollow(const ArenaBlock &earlier, const ArenaBlock &later) const {
    if (earlier.uses.back() >= later.uses.front()) {
      return false;
    }
    const std::size_t bytes = std::min(earlier.bytes, later.bytes);
    if (bytes >= largeBytes ||
        later.uses.front() - earlier.uses.back() > reuseDistance) {
      return true;
    }
    return isForerunner(earlier, later);
  }

  // Whoever uses the later block must have waited for the users of the earlier.
  bool isForerunner(const ArenaBlock &earlier, const ArenaBlock &later) const {
    for (auto use = earlier.uses.rbegin(); use != earlier.uses.rend(); ++use) {
      if (later.uses.front() - *use > reuseDistance) {
        break;
      }
      for (std::uint32_t next : later.uses) {
        if (next - *use <= reuseDistance &&
            (forerunners_[next] >> (next - *use - 1) & 1) == 0) {
          return false;
        }
      }
    }
    return true;
  }

  const std::vector<ArenaBlock> &blocks_;
  const Forerunners &forerunners_;
};

} // namespace

ArenaPlan packArena(const std::vector<ArenaBlock> &blocks,
                    const Forerunners &forerunners) {
  const ArenaPacker packer(blocks, forerunners);
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto sortBy = [&](const auto &size) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) {
                       return size(blocks[a]) > size(blocks[b]);
                     });
  };
  sortBy([](const ArenaBlock &block) { return block.bytes; });
  ArenaPlan best = packer.pack(order);
  sortBy([](const ArenaBlock &block) {
    return block.bytes * (block.uses.back() - block.uses.front() + 1);
  });
  const ArenaPlan other = packer.pack(order);
  return other.bytes < best.bytes ? other : best;
}

} // namespace poplar::compiler
