#include "basics/BestFit.hpp"

#include <iterator>
#include <utility>

namespace poplar::internal {

namespace {

constexpr std::size_t mostItems = 128; // of a chunk
constexpr std::uint64_t none = ~std::uint64_t{0};

} // namespace

// The gap that a block looks for among those passed, by offset; what is behind
// all of them otherwise.
struct BestFit::Search {
  const TimedBlock &block;
  std::uint64_t distance;
  const MayShare &mayShare;
  std::uint64_t best = none, bestSize = none, end = 0;

  std::uint64_t offset() const { return bestSize == none ? end : best; }

  // Nothing is free from one offset to the other.
  void pass(std::uint64_t from, std::uint64_t to) {
    if (from >= end + block.bytes && from - end < bestSize) {
      best = end;
      bestSize = from - end;
    }
    end = std::max(end, to);
  }

  bool isFar(std::uint64_t first, std::uint64_t last) const {
    return last + distance < block.firstUse || block.lastUse + distance < first;
  }

  void pass(const Placed &other) {
    const TimedBlock &its = other.block;
    const bool meets =
        its.firstUse <= block.lastUse && block.firstUse <= its.lastUse;
    if (meets ||
        (!isFar(its.firstUse, its.lastUse) && !mayShare(other.number))) {
      pass(other.offset, other.end());
    }
  }

  void pass(const Chunk &chunk) {
    if (isFar(chunk.leastFirst, chunk.mostLast)) {
      return;
    }
    const bool meetsAll =
        block.firstUse <= chunk.leastLast && chunk.mostFirst <= block.lastUse;
    if (meetsAll && chunk.largestGap < block.bytes) {
      pass(chunk.begin(), chunk.end);
      return;
    }
    for (const Placed &other : chunk.items) {
      pass(other);
    }
  }
};

void BestFit::Chunk::sumUp() {
  end = begin();
  largestGap = 0;
  leastFirst = leastLast = none;
  mostFirst = mostLast = 0;
  for (const Placed &item : items) {
    largestGap =
        std::max(largestGap, item.offset > end ? item.offset - end : 0);
    end = std::max(end, item.end());
    leastFirst = std::min(leastFirst, item.block.firstUse);
    mostFirst = std::max(mostFirst, item.block.firstUse);
    leastLast = std::min(leastLast, item.block.lastUse);
    mostLast = std::max(mostLast, item.block.lastUse);
  }
}

std::uint64_t BestFit::place(const TimedBlock &block,
                             const MayShare &mayShare) {
  Search search{block, distance_, mayShare};
  for (const Chunk &chunk : chunks_) {
    search.pass(chunk);
  }
  const std::uint64_t offset = search.offset();
  bytes_ = std::max(bytes_, offset + block.bytes);
  insert({block, offset, count_++});
  return offset;
}

void BestFit::insert(const Placed &placed) {
  if (chunks_.empty()) {
    chunks_.emplace_back();
  }
  const auto after = std::upper_bound(
      std::next(chunks_.begin()), chunks_.end(), placed.offset,
      [](std::uint64_t at, const Chunk &chunk) { return at < chunk.begin(); });
  const auto chunk = std::prev(after);
  auto &items = chunk->items;
  items.insert(std::upper_bound(items.begin(), items.end(), placed.offset,
                                [](std::uint64_t at, const Placed &other) {
                                  return at < other.offset;
                                }),
               placed);
  if (items.size() < mostItems) {
    chunk->sumUp();
    return;
  }
  Chunk half;
  const auto middle = items.begin() + mostItems / 2;
  half.items.assign(middle, items.end());
  items.erase(middle, items.end());
  chunk->sumUp();
  half.sumUp();
  chunks_.insert(after, std::move(half));
}

} // namespace poplar::internal
