#include "compiler/ArenaPacking.hpp"

#include "basics/BestFit.hpp"

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

  // In the given order.
  ArenaPlan pack(const std::vector<std::size_t> &order) const {
    ArenaPlan plan;
    plan.offsets.resize(blocks_.size());
    internal::BestFit placed(reuseDistance);
    for (std::size_t b : order) {
      const ArenaBlock &block = blocks_[b];
      plan.offsets[b] =
          placed.place({block.bytes, block.uses.front(), block.uses.back()},
                       [&](std::size_t other) {
                         return canOverlap(block, blocks_[order[other]]);
                       });
    }
    plan.bytes = placed.bytes();
    return plan;
  }

private:
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
