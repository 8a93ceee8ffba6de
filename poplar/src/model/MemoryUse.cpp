// The memory of every tile by category: look-up and regions.
#include "model/MemoryUse.hpp"

#include <algorithm>

namespace poplar::model {

const TileMemory &MemoryUse::at(unsigned tile) const {
  return *std::prev(std::partition_point(
      runs.begin(), runs.end(),
      [&](const TileMemory &run) { return run.firstTile <= tile; }));
}

MemoryRegions MemoryUse::regions(const TileMemory &tile) const {
  MemoryRegions result;
  // Code lives in the first region only, some data in the second only.
  const std::uint64_t codeBytes = tile.code();
  const std::uint64_t fittingCode = std::min(codeBytes, interleavedOffset);
  const std::uint64_t anyData = tile.used() - codeBytes - tile.interleavedOnly;
  const std::uint64_t lowData =
      std::min(anyData, interleavedOffset - fittingCode);
  const std::uint64_t highData = anyData - lowData + tile.interleavedOnly;
  result.nonInterleaved = fittingCode + lowData;
  result.interleaved = std::min(highData, bytesPerTile - interleavedOffset);
  result.overflowed = codeBytes - fittingCode + highData - result.interleaved;
  return result;
}

double MemoryUse::fill(const TileMemory &tile) const {
  const auto share = [](std::uint64_t bytes, std::uint64_t limit) {
    return bytes == 0 ? 0
                      : static_cast<double>(bytes) / static_cast<double>(limit);
  };
  return std::max(
      {share(tile.usedWithGaps(), bytesPerTile),
       share(tile.code(), interleavedOffset),
       share(tile.interleavedOnly, bytesPerTile - interleavedOffset)});
}

} // namespace poplar::model
