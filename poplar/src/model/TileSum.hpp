// A sum over tiles that runs of equal tiles are added to: a difference array,
// so that adding costs the same whatever the number of tiles.
#pragma once

#include <cstdint>
#include <vector>

namespace poplar::model {

class TileSum {
public:
  explicit TileSum(unsigned tiles) : steps_(tiles + 1, 0) {}

  void add(unsigned firstTile, unsigned tileCount, std::uint64_t value) {
    steps_[firstTile] += value; // modulo 2^64: the differences cancel
    steps_[firstTile + tileCount] -= value;
  }

  std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> result(steps_.size() - 1);
    std::uint64_t sum = 0;
    for (std::size_t tile = 0; tile < result.size(); ++tile) {
      sum += steps_[tile];
      result[tile] = sum;
    }
    return result;
  }

private:
  std::vector<std::uint64_t> steps_;
};

} // namespace poplar::model
