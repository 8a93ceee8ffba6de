// What a tile holds, by category as the profile shows it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

// `tileCount` consecutive tiles of one IPU that hold the same. Bytes are those
// of each.
struct TileMemory {
  unsigned firstTile = 0;
  unsigned tileCount = 0;
  std::array<std::uint64_t, memoryCategories> byCategory = {};
  std::uint64_t maxLive = 0;         // at their peak: variables not always live
  std::uint64_t interleavedOnly = 0; // variables that vertices want interleaved
  std::uint64_t gaps = 0;

  std::uint64_t of(MemoryCategory category) const {
    return byCategory[static_cast<std::size_t>(category)];
  }
  std::uint64_t used() const; // without gaps
  std::uint64_t usedWithGaps() const { return used() + gaps; }
  std::uint64_t code() const;
  std::uint64_t alwaysLive() const; // variables and constants
};

} // namespace poplar::model
