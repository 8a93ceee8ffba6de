#include <kernels/cost/Reduction.hpp>

#include <bit>

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
                                std::uint64_t partials) {
  const bool isFloat = partialsType == DataType::Float;
  const auto width = accumulatorWidth(tile, partialsType, true);
  const Cycles store =
      outputType == DataType::Float ? (isFloat ? 8 : 10) : (isFloat ? 7 : 9);
  return 33 + tile.workers * (20 + perWorker(tile, outputs / width) *
                                       (2 * partials + store));
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
  const auto group =
      std::min(accumulatorWidth(tile, type, isSum), vectorWidth(tile, type));
  const Cycles post = type == DataType::Half
                          ? 1 + (outputType == DataType::Float && isSum ? 6 : 7)
                          : (isSum ? 3 : 2) + 2;
  const auto rest = partials > 0 ? partials - 1 : 0;
  return 16 + ceilDiv(outputs, group) * (3 + post + 3 + rest);
}

} // namespace kernels::cost
