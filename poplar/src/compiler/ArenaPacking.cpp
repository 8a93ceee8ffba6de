#include "compiler/ArenaPacking.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace poplar::compiler {
namespace {

// Large blocks are worked on in many shards, which keep cores busy anyway: they
// are reused at once.
constexpr std::size_t largeBytes = std::size_t{4} << 20;

struct Placed {
  std::size_t begin, end; // bytes
  std::uint32_t firstUse, lastUse;
  const ArenaBlock *block;
};

// A gap that is looked for among blocks in the order of their offsets: the
// smallest that is large enough, or what is behind all of them.
struct Gap {
  std::size_t bytes;
  std::size_t best = none, bestSize = none, end = 0;
  static constexpr std::size_t none = ~std::size_t(0);

  // There is nothing free from `begin` to `blockEnd`.
  void pass(std::size_t begin, std::size_t blockEnd) {
    if (begin >= end + bytes && begin - end < bestSize) {
      best = end;
      bestSize = begin - end;
    }
    end = std::max(end, blockEnd);
  }
  std::size_t offset() const { return bestSize == none ? end : best; }
};

// Neighbours, and what they have in common: mostly, a block must overlap all of
// them or none, and need not be compared with each.
class Chunk {
public:
  static constexpr std::size_t mostItems = 128;

  explicit Chunk(std::vector<Placed> items) : items_(std::move(items)) {
    sumUp();
  }

  std::size_t begin() const { return items_.front().begin; }
  bool isFull() const { return items_.size() == mostItems; }

  void insert(const Placed &placed) {
    const auto after = std::upper_bound(
        items_.begin(), items_.end(), placed.begin,
        [](std::size_t at, const Placed &other) { return at < other.begin; });
    items_.insert(after, placed);
    sumUp();
  }
  Chunk takeHalf() {
    const auto middle =
        items_.begin() + static_cast<std::ptrdiff_t>(items_.size() / 2);
    Chunk half(std::vector<Placed>(middle, items_.end()));
    items_.erase(middle, items_.end());
    sumUp();
    return half;
  }

  template <typename CanOverlap>
  void search(const ArenaBlock &block, Gap &gap,
              const CanOverlap &canOverlap) const {
    const std::uint32_t first = block.uses.front(), last = block.uses.back();
    if (isFar(first, last, {0, 0, leastFirst_, mostLast_, nullptr})) {
      return;
    }
    const bool meetsAll = first <= leastLast_ && mostFirst_ <= last;
    if (meetsAll && largestGap_ < gap.bytes) {
      gap.pass(begin(), end_);
      return;
    }
    for (const Placed &other : items_) {
      if (!isFar(first, last, other) && !canOverlap(block, *other.block)) {
        gap.pass(other.begin, other.end);
      }
    }
  }

private:
  static bool isFar(std::uint32_t first, std::uint32_t last,
                    const Placed &other) {
    return other.lastUse + reuseDistance < first ||
           last + reuseDistance < other.firstUse;
  }

  void sumUp() {
    end_ = begin();
    largestGap_ = 0;
    leastFirst_ = leastLast_ = ~0U;
    mostFirst_ = mostLast_ = 0;
    for (const Placed &item : items_) {
      largestGap_ =
          std::max(largestGap_, item.begin > end_ ? item.begin - end_ : 0);
      end_ = std::max(end_, item.end);
      leastFirst_ = std::min(leastFirst_, item.firstUse);
      mostFirst_ = std::max(mostFirst_, item.firstUse);
      leastLast_ = std::min(leastLast_, item.lastUse);
      mostLast_ = std::max(mostLast_, item.lastUse);
    }
  }

  std::vector<Placed> items_; // by offset
  std::size_t end_ = 0, largestGap_ = 0;
  std::uint32_t leastFirst_ = 0, mostFirst_ = 0, leastLast_ = 0, mostLast_ = 0;
};

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
    std::vector<Chunk> placed; // by offset
    for (std::size_t b : order) {
      const ArenaBlock &block = blocks_[b];
      Gap gap{block.bytes};
      for (const Chunk &chunk : placed) {
        chunk.search(block, gap, [this](const auto &x, const auto &y) {
          return canOverlap(x, y);
        });
      }
      plan.offsets[b] = gap.offset();
      plan.bytes = std::max(plan.bytes, gap.offset() + block.bytes);
      insert(placed, {gap.offset(), gap.offset() + block.bytes,
                      block.uses.front(), block.uses.back(), &block});
    }
    return plan;
  }

private:
  static void insert(std::vector<Chunk> &chunks, const Placed &placed) {
    if (chunks.empty()) {
      chunks.emplace_back(std::vector{placed});
      return;
    }
    auto after = std::upper_bound(
        chunks.begin(), chunks.end(), placed.begin,
        [](std::size_t at, const Chunk &chunk) { return at < chunk.begin(); });
    auto chunk = after == chunks.begin() ? after : std::prev(after);
    chunk->insert(placed);
    if (chunk->isFull()) {
      Chunk half = chunk->takeHalf();
      chunks.insert(std::next(chunk), std::move(half));
    }
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
