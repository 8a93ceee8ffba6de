// Cycles of the vertices of a compute set on one tile.
#pragma once

#include <poplar/internal/VertexGroup.hpp>

#include <cstdint>
#include <span>

namespace poplar::model {

struct TileCompute {
  std::uint64_t cycles = 0;  // until the last worker context is done
  std::uint64_t threads = 0; // without the contexts' idle time
};

// Supervisor vertices run one after another. Worker vertices are dealt in
// order, each to the context with the least work; a context issues every
// `workerContexts`-th cycle.
TileCompute tileCompute(std::span<const internal::TileRun *const> runs,
                        unsigned workerContexts);

} // namespace poplar::model
