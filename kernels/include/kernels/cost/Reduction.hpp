// Cycles of the reduction vertices (section 8.5).
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// poplin's sum of `partials` tensors of `outputs` elements each; a supervisor
// vertex that reads each partial from where it arrived.
Cycles convReduceAdd(const TileSpec &tile, DataType partialsType,
                     DataType outputType, std::uint64_t outputs,
                     std::uint64_t partials);
// The same with all partials in one region, in interleaved memory where
// `isFast` (enableFastReduce).
Cycles convReduceAddSingleInput(const TileSpec &tile, DataType partialsType,
                                DataType outputType, std::uint64_t outputs,
                                std::uint64_t partials, bool isFast = false);
// One partial: only the type changes.
Cycles convReduceCast(const TileSpec &tile, DataType partialsType,
                      DataType outputType, std::uint64_t outputs);

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

// The general strided form: `outerStrides` groups of `partials` rows, each row
// `stride` elements after the other.
struct StridedReduction {
  DataType type = DataType::Float;
  DataType outputType = DataType::Float;
  std::uint64_t outputs = 1;
  std::uint64_t partials = 1;
  std::uint64_t outerStrides = 1;
  std::uint64_t stride = 8;
  bool isSum = true;
  bool isLogAdd = false;
  bool isUpdate = false;
};
Cycles reduceStrided(const TileSpec &tile, const StridedReduction &reduction);

// A worker that makes `reductions` times `outputs` results out of `regions`
// regions of `regionSize` partials each: a multiple of `outputs`.
struct GeneralReduction {
  DataType type = DataType::Float;
  DataType outputType = DataType::Float;
  std::uint64_t reductions = 1;
  std::uint64_t outputs = 1;
  std::uint64_t regions = 1;
  std::uint64_t regionSize = 1;
  bool isSum = true;
  bool isUpdate = false;
};
Cycles reduceGeneral(const TileSpec &tile, const GeneralReduction &reduction);
// LOGICAL_AND, LOGICAL_OR and LOG_ADD, which are compiled.
Cycles reduceCompiled(const GeneralReduction &reduction, bool isLogAdd);

// Index of the largest of n classes on a tile; a supervisor vertex.
Cycles reduceMaxClassGather(const TileSpec &tile, std::uint64_t n);
// The stage after it, over the n candidates that are left; a worker.
Cycles reduceMaxClassSparse(std::uint64_t n);
// The k largest of n, by a heap; a worker.
Cycles topKGather(std::uint64_t n, std::uint64_t k);

} // namespace kernels::cost
