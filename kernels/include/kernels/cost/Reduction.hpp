// Cycles of the reduction vertices (section 8.5).
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// poplin's sum of `partials` tensors of `outputs` elements each; a supervisor
// vertex that reads each partial from where it arrived.
Cycles convReduceAdd(const TileSpec &tile, DataType partialsType,
                     DataType outputType, std::uint64_t outputs,
                     std::uint64_t partials);
// The same with all partials in one region.
Cycles convReduceAddSingleInput(const TileSpec &tile, DataType partialsType,
                                DataType outputType, std::uint64_t outputs,
                                std::uint64_t partials);

// A worker that reduces `n` adjacent elements to one; `isSum` for ADD and
// SQUARE_ADD, which have wide accumulators.
Cycles reduceToScalar(const TileSpec &tile, DataType type, DataType outputType,
                      std::uint64_t n, bool isSum);
// A worker with `outputs` results of `partials` adjacent elements each.
Cycles reduceContinuous(const TileSpec &tile, DataType type,
                        std::uint64_t outputs, std::uint64_t partials,
                        bool isSum);
// A worker with `outputs` adjacent results, partials one row apart.
Cycles reduceStrided(const TileSpec &tile, DataType type, DataType outputType,
                     std::uint64_t outputs, std::uint64_t partials, bool isSum);

} // namespace kernels::cost
