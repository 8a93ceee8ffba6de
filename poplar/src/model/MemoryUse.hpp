// The memory of every tile by category, as the profile shows it.
#pragma once

#include "model/Liveness.hpp"
#include "model/MemoryOptions.hpp"
#include "model/Placement.hpp"
#include "model/StepTable.hpp"
#include "model/TileMemory.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace poplar::model {

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

  std::vector<TileMemory> runs; // all tiles in order, none across IPUs
  VertexData vertexData;
  Liveness liveness;
  std::vector<Placement> placements; // by variable

  // Of the graph, with the copies that the machine adds.
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t computeSets = 0;

  unsigned tiles() const {
    return runs.empty() ? 0 : runs.back().firstTile + runs.back().tileCount;
  }
  const TileMemory &at(unsigned tile) const; // the run of the tile
  MemoryRegions regions(const TileMemory &tile) const;
  // How full a tile is with gaps, 1 at its limit: its memory, or the region
  // that alone may hold code.
  double fill(const TileMemory &tile) const;
  bool isOutOfMemory(const TileMemory &tile) const { return fill(tile) > 1; }
};

MemoryUse measureMemory(StepTable &steps,
                        const std::vector<internal::ProgramPtr> &programs,
                        const MemoryOptions &options = {});

} // namespace poplar::model
