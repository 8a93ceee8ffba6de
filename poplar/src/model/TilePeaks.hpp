// The most that every tile has held while bytes came and went. Tiles that no
// boundary of a run separates are kept as one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace poplar::model {

class TilePeaks {
public:
  explicit TilePeaks(unsigned tiles) : groupOf_(tiles + 1, 0) {}

  // First all runs are announced, then they may come and go.
  void announce(unsigned firstTile, unsigned tileCount) {
    groupOf_[firstTile] = 1;
    groupOf_[firstTile + tileCount] = 1;
  }
  void begin() {
    groupOf_.front() = 0; // the first group is 0
    std::uint32_t group = 0;
    for (std::uint32_t &tile : groupOf_) {
      group += tile;
      tile = group;
    }
    live_.assign(group + 1, 0);
    peak_.assign(group + 1, 0);
  }

  void add(unsigned firstTile, unsigned tileCount, std::uint64_t bytes) {
    const std::uint32_t end = groupOf_[firstTile + tileCount];
    for (std::uint32_t i = groupOf_[firstTile]; i < end; ++i) {
      live_[i] += bytes;
      peak_[i] = std::max(peak_[i], live_[i]);
    }
  }
  void remove(unsigned firstTile, unsigned tileCount, std::uint64_t bytes) {
    const std::uint32_t end = groupOf_[firstTile + tileCount];
    for (std::uint32_t i = groupOf_[firstTile]; i < end; ++i) {
      live_[i] -= bytes;
    }
  }

  // Calls f(firstTile, tileCount, peak) for all tiles in order.
  template <typename F> void forEachPeak(F &&f) const {
    const auto tiles = static_cast<unsigned>(groupOf_.size() - 1);
    for (unsigned first = 0; first < tiles;) {
      unsigned end = first + 1;
      while (end < tiles && groupOf_[end] == groupOf_[first]) {
        ++end;
      }
      f(first, end - first, peak_[groupOf_[first]]);
      first = end;
    }
  }

private:
  std::vector<std::uint32_t> groupOf_; // by tile; before begin(): 1 at cuts
  std::vector<std::uint64_t> live_;    // by group
  std::vector<std::uint64_t> peak_;
};

} // namespace poplar::model
