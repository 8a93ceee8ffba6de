// Cycles of vertices that move elements through a simple function: cast, fill,
// scaled add, select and the like (section 8.4).
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// Supervisor vertices, tile cycles; n counts the elements on the tile.
Cycles cast1D(const TileSpec &tile, DataType from, DataType to,
              std::uint64_t n);
Cycles scaledAdd(const TileSpec &tile, DataType type, DataType scaledType,
                 std::uint64_t n, bool isSubtract, bool scalesBoth);
Cycles hasNanOrInf1D(const TileSpec &tile, DataType type, std::uint64_t n);

// Worker vertices: cycles of one context for `regions` runs of `n` elements.
Cycles cast2D(const TileSpec &tile, DataType from, DataType to,
              std::uint64_t regions, std::uint64_t n);
Cycles fill(const TileSpec &tile, DataType type, std::uint64_t n);
Cycles fill2D(const TileSpec &tile, DataType type, std::uint64_t regions,
              std::uint64_t n);
Cycles scaledAdd2D(const TileSpec &tile, DataType type, DataType scaledType,
                   std::uint64_t regions, std::uint64_t n, bool isSubtract,
                   bool scalesBoth);
Cycles select2D(std::uint64_t regions, std::uint64_t n);
// The predicate is one value for a run.
Cycles broadcastSelect2D(std::uint64_t regions, std::uint64_t n);
Cycles clamp2D(const TileSpec &tile, DataType type, std::uint64_t regions,
               std::uint64_t n);
Cycles hadamardProduct2D(const TileSpec &tile, DataType type,
                         std::uint64_t regions, std::uint64_t n);
Cycles iota2D(const TileSpec &tile, DataType type, std::uint64_t regions,
              std::uint64_t n);
Cycles encodeOneHot(DataType type, std::uint64_t indices);

} // namespace kernels::cost
