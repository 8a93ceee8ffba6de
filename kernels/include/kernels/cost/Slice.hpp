// Cycles of the vertices that move elements: dynamic slices and transposes
// (section 8.11), gathers and scattered updates (8.12).
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// `slices` runs of `region` elements out of, or into, a tensor on the tile; a
// supervisor vertex.
Cycles dynamicSlice1D(const TileSpec &tile, DataType type, std::uint64_t region,
                      std::uint64_t slices);
// The same of `regions` separate ones; a worker.
Cycles dynamicSlice2D(DataType type, std::uint64_t regions,
                      std::uint64_t region, std::uint64_t slices,
                      bool isUpdate);

// `matrices` of `rows` x `columns`, transposed by one worker or by all.
Cycles transpose(DataType type, std::uint64_t matrices, std::uint64_t rows,
                 std::uint64_t columns);
Cycles transposeSupervisor(const TileSpec &tile, DataType type,
                           std::uint64_t matrices, std::uint64_t rows,
                           std::uint64_t columns);
// As one worker with its matrices in separate regions.
Cycles transpose2D(DataType type, std::uint64_t matrices, std::uint64_t rows,
                   std::uint64_t columns);

// `sequences` runs of `words` words altogether.
Cycles sequenceSlice(std::uint64_t sequences, std::uint64_t words);

// Lookups on one tile: `inRange` of `lookups` hit its part of the dictionary.
struct LookupShare {
  DataType type = DataType::Float;
  std::uint64_t lookups = 1;
  std::uint64_t inRange = 1;
  std::uint64_t elements = 1; // of a row on the tile
  bool isSorted = false;
  std::uint64_t entries = 1; // rows on the tile; only where sorted
};
// Supervisor vertices. Copies rows out of the dictionary, or into it.
Cycles multiSlice(const TileSpec &tile, const LookupShare &share,
                  bool isUpdate = false);
// Adds rows to those of the dictionary, or takes the maximum or product;
// `scaleType` is that of the factor, if there is one.
Cycles multiUpdateOp(const TileSpec &tile, const LookupShare &share,
                     bool isScaled, DataType scaleType = DataType::Float);

} // namespace kernels::cost
