// The memory of tiles while it is added up.
#include "model/MemorySums.hpp"

#include <utility>

namespace poplar::model {

MemorySums::MemorySums(unsigned tiles, unsigned tilesPerIpu)
    : tiles_(tiles), tilesPerIpu_(tilesPerIpu),
      byCategory_(memoryCategories, TileSum(tiles)), maxLive_(tiles),
      interleavedOnly_(tiles), gaps_(tiles) {}

void MemorySums::addMaxLive(unsigned firstTile, unsigned tileCount,
                            std::uint64_t bytes) {
  add(MemoryCategory::Variables, firstTile, tileCount, bytes);
  maxLive_.add(firstTile, tileCount, bytes);
}

std::vector<TileMemory> MemorySums::runs() const {
  TileMemory now;
  std::vector<std::pair<const TileSum *, std::uint64_t *>> sums;
  const auto use = [&](const TileSum &sum, std::uint64_t &bytes) {
    if (!sum.isEmpty()) {
      sums.emplace_back(&sum, &bytes);
    }
  };
  for (std::size_t i = 0; i < memoryCategories; ++i) {
    use(byCategory_[i], now.byCategory[i]);
  }
  use(maxLive_, now.maxLive);
  use(interleavedOnly_, now.interleavedOnly);
  use(gaps_, now.gaps);

  std::vector<TileMemory> runs;
  for (unsigned tile = 0; tile < tiles_; ++tile) {
    bool isNew = tile % tilesPerIpu_ == 0;
    for (const auto &[sum, bytes] : sums) {
      const std::uint64_t change = sum->change(tile);
      *bytes += change;
      isNew |= change != 0;
    }
    if (isNew) {
      now.firstTile = tile;
      runs.push_back(now);
    }
    runs.back().tileCount += 1;
  }
  return runs;
}

} // namespace poplar::model
