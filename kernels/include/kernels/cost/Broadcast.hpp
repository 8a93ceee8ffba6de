// Cycles of binary operators with one operand repeated (section 8.3): a single
// value, a value per row (VectorOuter), a row for all rows (VectorInner).
#pragma once

#include <kernels/Expression.hpp>
#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// Supervisor vertices, tile cycles.
//
// One operand is a single value.
Cycles broadcastScalar1D(const TileSpec &tile, const ElementwiseOpInfo &op,
                         DataType type, std::uint64_t n);
// One value for each of `rows` rows of `columns` elements. Workers take whole
// rows, or all of them a part of every row.
Cycles vectorOuterByRow(const TileSpec &tile, DataType type, std::uint64_t rows,
                        std::uint64_t columns, bool isAligned = true);
Cycles vectorOuterByColumn(const TileSpec &tile, DataType type,
                           std::uint64_t rows, std::uint64_t columns,
                           bool isAligned = true);

// A vector of `length`, repeated `repeats` times in each of `slices` runs.
struct VectorInnerShare {
  std::uint64_t length = 1;
  std::uint64_t repeats = 1;
  std::uint64_t slices = 1;
  bool isInPlace = false;
};
// True for the operators that have such a vertex: ADD, SUBTRACT, MULTIPLY and
// DIVIDE of floats and halves.
bool hasVectorInner(std::string_view op, DataType type);
Cycles vectorInner1D(const TileSpec &tile, std::string_view op, DataType type,
                     const VectorInnerShare &share);

// Worker vertices over `regions` runs of `n` elements.
Cycles broadcastScalar2D(const TileSpec &tile, const ElementwiseOpInfo &op,
                         DataType type, std::uint64_t regions, std::uint64_t n);
// Another value for each run.
Cycles broadcastScalars2D(const TileSpec &tile, const ElementwiseOpInfo &op,
                          DataType type, std::uint64_t regions,
                          std::uint64_t n);
// `repeats` counts those of one run.
Cycles vectorInner2D(const TileSpec &tile, std::string_view op, DataType type,
                     std::uint64_t regions, const VectorInnerShare &share);

} // namespace kernels::cost
