#include <kernels/cost/Reduction.hpp>

#include <bit>
#include <cmath>
#include <numeric>

namespace kernels::cost {

namespace {

// Elements that the accumulators take side by side.
std::uint64_t accumulatorWidth(const TileSpec &tile, DataType type,
                               bool isSum) {
  return isSum ? 2 * vectorWidth(tile, type) : vectorWidth(tile, type);
}

} // namespace

Cycles convReduceAdd(const TileSpec &tile, DataType partialsType,
                     DataType outputType, std::uint64_t outputs,
                     std::uint64_t partials) {
  const bool isFloat = partialsType == DataType::Float;
  const auto width = accumulatorWidth(tile, partialsType, true);
  const Cycles perPartial =
      width / std::min(width, vectorWidth(tile, partialsType)) + 1;
  const Cycles store =
      outputType == DataType::Float ? (isFloat ? 7 : 9) : (isFloat ? 6 : 8);
  const auto left = outputs % width;
  const auto loops =
      outputs / width + static_cast<std::uint64_t>(std::popcount(left));
  auto perWorkerLoops = loops / tile.workers;
  Cycles tail = 0;
  if (loops % tile.workers != 0) {
    if (left == 0) {
      ++perWorkerLoops;
    } else {
      tail = 2 * partials + (isFloat ? 13 : 11);
    }
  }
  return tile.workers *
         (32 + perWorkerLoops * (perPartial * partials + store) + tail);
}

Cycles convReduceAddSingleInput(const TileSpec &tile, DataType partialsType,
                                DataType outputType, std::uint64_t outputs,
                                std::uint64_t partials, bool isFast) {
  const bool isFloat = partialsType == DataType::Float;
  const auto width = accumulatorWidth(tile, partialsType, true);
  const Cycles store =
      outputType == DataType::Float ? (isFloat ? 8 : 10) : (isFloat ? 7 : 9);
  const Cycles perPartial = isFast ? 1 : 2;
  return 33 + tile.workers * (20 + perWorker(tile, outputs / width) *
                                       (perPartial * partials + store));
}

Cycles convReduceCast(const TileSpec &tile, DataType partialsType,
                      DataType outputType, std::uint64_t outputs) {
  const auto mine = perWorker(tile, outputs);
  return tile.workers *
         (26 + std::max(ceilDiv(mine, vectorWidth(tile, partialsType)),
                        ceilDiv(mine, vectorWidth(tile, outputType))));
}

Cycles reduceToScalar(const TileSpec &tile, DataType type, DataType outputType,
                      std::uint64_t n, bool isSum) {
  const auto width = accumulatorWidth(tile, type, isSum);
  const auto perGroup =
      std::max<std::uint64_t>(width / vectorWidth(tile, type), 1);
  return 17 + n * perGroup / width + n % width +
         (outputType == DataType::Float ? 0 : 5);
}

Cycles reduceContinuous(const TileSpec &tile, DataType type,
                        std::uint64_t outputs, std::uint64_t partials,
                        bool isSum) {
  const auto width =
      std::min(accumulatorWidth(tile, type, isSum), vectorWidth(tile, type));
  return 17 + outputs * (partials / width) + 12 * outputs +
         (partials % 2 != 0 ? 2 : 0);
}

Cycles reduceStrided(const TileSpec &tile, DataType type, DataType outputType,
                     std::uint64_t outputs, std::uint64_t partials,
                     bool isSum) {
  return reduceStrided(tile, StridedReduction{.type = type,
                                              .outputType = outputType,
                                              .outputs = outputs,
                                              .partials = partials,
                                              .isSum = isSum});
}

Cycles reduceStrided(const TileSpec &tile, const StridedReduction &reduction) {
  const bool isHalf = reduction.type == DataType::Half;
  const bool toFloat = reduction.outputType == DataType::Float;
  const bool isUpdate = reduction.isUpdate;
  const auto group =
      std::gcd(std::min(accumulatorWidth(tile, reduction.type, reduction.isSum),
                        vectorWidth(tile, reduction.type)),
               reduction.stride);
  Cycles post = 0;
  if (!isHalf) {
    post = (reduction.isSum ? 3 : 2) + (!isUpdate ? 2 : toFloat ? 5 : 4);
  } else if (!reduction.isSum) {
    post = 1 + (isUpdate ? 10 : 7);
  } else if (toFloat) {
    post = 1 + (isUpdate ? 11 : 6);
  } else {
    post = 1 + (isUpdate ? 9 : 7);
  }
  const Cycles perPartial = !reduction.isLogAdd ? 1 : isHalf ? 13 : 23;
  const auto rest = reduction.partials > 0 ? reduction.partials - 1 : 0;
  return 16 + ceilDiv(reduction.outputs, group) *
                  (3 + post + reduction.outerStrides * (3 + perPartial * rest));
}

Cycles reduceGeneral(const TileSpec &tile, const GeneralReduction &reduction) {
  const auto dataPath = vectorWidth(tile, reduction.type);
  const auto width = accumulatorWidth(tile, reduction.type, reduction.isSum);
  const Cycles sum = reduction.isSum ? 1 : 0;
  const auto store = [&](std::uint64_t n) {
    return (reduction.isUpdate ? 3 : 2) *
               std::min(n, vectorWidth(tile, reduction.outputType)) +
           sum;
  };
  const Cycles load = 2 * sum + 2 + width / std::min(width, dataPath);
  const auto vectors = reduction.outputs / width;
  Cycles results = 24 + 2 * static_cast<Cycles>(std::countr_zero(width)) +
                   vectors * ((reduction.isSum ? 6 : 4) + store(width)) +
                   10 * vectors * reduction.regions;
  Cycles perRow = vectors * (load + 3);
  for (std::uint64_t bit = 1; bit < width; bit *= 2) {
    if ((reduction.outputs & bit) != 0) {
      results +=
          (reduction.isSum ? 4 : 2) + store(bit) + 10 * reduction.regions;
      perRow += 5 + std::max<Cycles>(1, bit / dataPath);
    }
  }
  const auto rows =
      reduction.regionSize / std::max<std::uint64_t>(reduction.outputs, 1);
  return 33 +
         reduction.reductions * (results + reduction.regions * rows * perRow);
}

Cycles reduceCompiled(const GeneralReduction &reduction, bool isLogAdd) {
  const Cycles perPartial = 24 + (isLogAdd ? 12 : 1) +
                            (reduction.type != reduction.outputType ? 1 : 0);
  return 31 +
         reduction.reductions *
             (8 + reduction.regions * (22 + perPartial * reduction.regionSize));
}

Cycles reduceMaxClassGather(const TileSpec &tile, std::uint64_t n) {
  const auto share = std::max<std::uint64_t>(perWorker(tile, n), 1);
  return 9 + tile.workers * (30 + 3 * (share - 1));
}

Cycles reduceMaxClassSparse(std::uint64_t n) {
  return 27 + 3 * (std::max<std::uint64_t>(n, 1) - 1);
}

Cycles topKGather(std::uint64_t n, std::uint64_t k) {
  const double perElement =
      13 + 20 * std::log(static_cast<double>(std::max<std::uint64_t>(k, 1)));
  return static_cast<Cycles>(std::ceil(static_cast<double>(n) * perElement));
}

} // namespace kernels::cost
