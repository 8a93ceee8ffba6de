// The memory of tiles while it is added up.
#pragma once

#include "model/TileMemory.hpp"
#include "model/TileSum.hpp"

#include <vector>

namespace poplar::model {

class MemorySums {
public:
  MemorySums(unsigned tiles, unsigned tilesPerIpu);

  // `bytes` more on each of `tileCount` tiles from `firstTile`.
  void add(MemoryCategory category, unsigned firstTile, unsigned tileCount,
           std::uint64_t bytes) {
    byCategory_[static_cast<std::size_t>(category)].add(firstTile, tileCount,
                                                        bytes);
  }
  // Variables at their peak, on top of those that are always live.
  void addMaxLive(unsigned firstTile, unsigned tileCount, std::uint64_t bytes);
  void addInterleavedOnly(unsigned firstTile, unsigned tileCount,
                          std::uint64_t bytes) {
    interleavedOnly_.add(firstTile, tileCount, bytes);
  }
  void addGaps(unsigned firstTile, unsigned tileCount, std::uint64_t bytes) {
    gaps_.add(firstTile, tileCount, bytes);
  }

  // All tiles in order: runs of equal ones, none across IPUs.
  std::vector<TileMemory> runs() const;

private:
  unsigned tiles_;
  unsigned tilesPerIpu_;
  std::vector<TileSum> byCategory_;
  TileSum maxLive_;
  TileSum interleavedOnly_;
  TileSum gaps_;
};

} // namespace poplar::model
