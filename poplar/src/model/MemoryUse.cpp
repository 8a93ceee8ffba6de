// The memory of every tile by category: sums and regions.
#include "model/MemoryUse.hpp"

#include <algorithm>

namespace poplar::model {

std::string_view labelOf(MemoryCategory category) {
  static constexpr std::array<std::string_view, memoryCategories> labels = {
      "Variables",
      "Constants",
      "Host Exchange Packet Headers",
      "Global Exchange Packet Headers",
      "Stack",
      "Vertex Instances",
      "Copy Descriptors",
      "VectorList Descriptors",
      "Vertex Field Data",
      "Control Table",
      "Control Code",
      "Vertex Code",
      "Internal Exchange Code",
      "Host Exchange Code",
      "Global Exchange Code",
      "Instrumentation Results",
      "Shared Code Storage",
      "Shared Data Storage",
  };
  return labels[static_cast<std::size_t>(category)];
}

std::uint64_t MemoryUse::used(unsigned tile) const {
  std::uint64_t sum = 0;
  for (const std::vector<std::uint64_t> &category : byTile) {
    sum += category[tile];
  }
  return sum;
}

std::uint64_t MemoryUse::usedWithGaps(unsigned tile) const {
  return used(tile) + gaps[tile];
}

std::uint64_t MemoryUse::code(unsigned tile) const {
  using enum MemoryCategory;
  std::uint64_t sum = 0;
  for (const MemoryCategory category :
       {ControlCode, VertexCode, InternalExchangeCode, HostExchangeCode,
        GlobalExchangeCode, SharedCodeStorage}) {
    sum += of(category, tile);
  }
  return sum;
}

MemoryRegions MemoryUse::regions(unsigned tile) const {
  MemoryRegions result;
  // Code lives in the first region only.
  const std::uint64_t codeBytes = code(tile);
  const std::uint64_t fittingCode = std::min(codeBytes, interleavedOffset);
  const std::uint64_t data = used(tile) - codeBytes;
  const std::uint64_t lowData = std::min(data, interleavedOffset - fittingCode);
  result.nonInterleaved = fittingCode + lowData;
  result.interleaved =
      std::min(data - lowData, bytesPerTile - interleavedOffset);
  result.overflowed =
      codeBytes - fittingCode + (data - lowData - result.interleaved);
  return result;
}

bool MemoryUse::isOutOfMemory(unsigned tile) const {
  return usedWithGaps(tile) > bytesPerTile || code(tile) > interleavedOffset;
}

unsigned MemoryUse::fullestTile() const {
  unsigned fullest = 0;
  for (unsigned tile = 1; tile < tiles(); ++tile) {
    if (usedWithGaps(tile) > usedWithGaps(fullest)) {
      fullest = tile;
    }
  }
  return fullest;
}

} // namespace poplar::model
