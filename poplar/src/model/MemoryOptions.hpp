// What engine options say about the memory of tiles.
#pragma once

#include "model/Constants.hpp"

#include <cstdint>

namespace poplar::model {

// What has a counter of cycles in the compute steps: each vertex, each tile
// with vertices, or one tile for each IPU or for all.
enum class ComputeCounters : std::uint8_t { None, Vertex, Tile, Ipu, Device };

struct MemoryOptions {
  std::uint64_t supervisorStackBytes = model::supervisorStackBytes;
  std::uint64_t workerStackBytes = model::workerStackBytes; // per context
  ComputeCounters computeCounters = ComputeCounters::None;
  bool countsControlFlow = false;      // a counter for each program with parts
  bool countsExternalExchange = false; // and for each transfer beyond the IPU
};

} // namespace poplar::model
