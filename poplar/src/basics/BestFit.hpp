// Places blocks of memory that come and go: each in the smallest gap that is
// large enough, between those that must not overlap it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace poplar::internal {

// A block and when it is in use, both ends included.
struct TimedBlock {
  std::uint64_t bytes = 0;
  std::uint64_t firstUse = 0, lastUse = 0;
};

// Neighbours are kept in chunks with what they have in common: mostly a block
// must overlap none of a chunk or may overlap all of it, and is not compared
// with each.
class BestFit {
public:
  // Blocks keep apart for so many steps after the last use, unless said
  // otherwise.
  explicit BestFit(std::uint64_t distance) : distance_(distance) {}

  // The offset of the next block. `mayShare(i)`, with i the number of a block
  // placed before that is in use close to it, says whether they may overlap all
  // the same; it is not asked for blocks whose times of use meet.
  using MayShare = std::function<bool(std::size_t)>;
  std::uint64_t place(const TimedBlock &block, const MayShare &mayShare);

  std::uint64_t bytes() const { return bytes_; } // of all together

private:
  struct Placed {
    TimedBlock block;
    std::uint64_t offset;
    std::size_t number;
    std::uint64_t end() const { return offset + block.bytes; }
  };

  struct Chunk {
    std::vector<Placed> items; // by offset
    std::uint64_t end = 0, largestGap = 0;
    std::uint64_t leastFirst = 0, mostFirst = 0, leastLast = 0, mostLast = 0;

    std::uint64_t begin() const { return items.front().offset; }
    void sumUp();
  };
  struct Search;

  void insert(const Placed &placed);

  std::uint64_t distance_;
  std::uint64_t bytes_ = 0;
  std::size_t count_ = 0;
  std::vector<Chunk> chunks_; // by offset
};

} // namespace poplar::internal
