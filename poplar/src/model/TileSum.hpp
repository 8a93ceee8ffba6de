// A sum over tiles that runs of equal tiles are added to: a difference array,
// so that adding costs the same whatever the number of tiles.
#pragma once

#include <cstdint>
#include <vector>

namespace poplar::model {

class TileSum {
public:
  explicit TileSum(unsigned tiles) : tiles_(tiles) {}

  void add(unsigned firstTile, unsigned tileCount, std::uint64_t value) {
    if (value == 0) {
      return;
    }
    changes_.resize(tiles_ + 1);  // many sums stay empty
    changes_[firstTile] += value; // modulo 2^64: the differences cancel
    changes_[firstTile + tileCount] -= value;
  }

  bool isEmpty() const { return changes_.empty(); }
  // By how much the sum of a tile is more than that of the tile before, modulo
  // 2^64. Not for an empty sum.
  std::uint64_t change(unsigned tile) const { return changes_[tile]; }

private:
  unsigned tiles_;
  std::vector<std::uint64_t> changes_; // empty while nothing was added
};

} // namespace poplar::model
