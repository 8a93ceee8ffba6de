// The memory of every tile by category, as the profile shows it.
#pragma once

#include "model/Liveness.hpp"
#include "model/StepTable.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace poplar::model {

// In the order of the profile's list.
enum class MemoryCategory : std::uint8_t {
  Variables,
  Constants,
  HostExchangePacketHeaders,
  GlobalExchangePacketHeaders,
  Stack,
  VertexInstances,
  CopyDescriptors,
  VectorListDescriptors,
  VertexFieldData,
  ControlTable,
  ControlCode,
  VertexCode,
  InternalExchangeCode,
  HostExchangeCode,
  GlobalExchangeCode,
  InstrumentationResults,
  SharedCodeStorage,
  SharedDataStorage,
};
inline constexpr std::size_t memoryCategories = 18;
std::string_view labelOf(MemoryCategory category);

// Bytes in each part of a tile's memory; what fits nowhere has overflowed.
struct MemoryRegions {
  std::uint64_t nonInterleaved = 0;
  std::uint64_t interleaved = 0;
  std::uint64_t overflowed = 0;
};

// Instances of vertices over all tiles.
struct VertexData {
  std::uint64_t internalState = 0;
  std::uint64_t edgePointers = 0;
  std::uint64_t copyPointers = 0;
  std::uint64_t padding = 0;
  std::uint64_t descriptors = 0;
  std::map<std::string, std::uint64_t> byType;

  std::uint64_t total() const {
    return internalState + edgePointers + copyPointers + padding + descriptors;
  }
};

struct MemoryUse {
  std::uint64_t bytesPerTile = 0;
  std::uint64_t interleavedOffset = 0; // where the interleaved region starts

  // Bytes by tile, one vector for each category.
  std::array<std::vector<std::uint64_t>, memoryCategories> byTile;
  std::vector<std::uint64_t> gaps;       // by tile
  std::vector<std::uint64_t> alwaysLive; // variables and constants, by tile
  std::vector<std::uint64_t> maxLive;    // other variables at their peak
  VertexData vertexData;
  Liveness liveness;

  // Of the graph, with the copies that the machine adds.
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t computeSets = 0;

  unsigned tiles() const { return static_cast<unsigned>(gaps.size()); }
  std::uint64_t of(MemoryCategory category, unsigned tile) const {
    return byTile[static_cast<std::size_t>(category)][tile];
  }
  std::uint64_t used(unsigned tile) const; // without gaps
  std::uint64_t usedWithGaps(unsigned tile) const;
  std::uint64_t code(unsigned tile) const;
  MemoryRegions regions(unsigned tile) const;
  // Too much in total, or more code than the region that can hold it.
  bool isOutOfMemory(unsigned tile) const;
  unsigned fullestTile() const; // with gaps; the first of equals
};

MemoryUse measureMemory(StepTable &steps,
                        const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::model
