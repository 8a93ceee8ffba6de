#include <kernels/cost/Random.hpp>

#include <bit>

namespace kernels::cost {

namespace {

bool isHalf(DataType type) {
  return type == DataType::Half;
}

std::uint64_t vectors(const TileSpec &tile, DataType type, std::uint64_t n) {
  return ceilDiv(n, vectorWidth(tile, type));
}

} // namespace

Cycles uniformRandom(const TileSpec &tile, DataType type, std::uint64_t n) {
  if (!isHalf(type) && type != DataType::Float) {
    return 136 + 3 * n;
  }
  const bool hasRest = n % vectorWidth(tile, type) != 0;
  const Cycles rest = !hasRest ? 0 : isHalf(type) ? 12 : 4;
  // The published estimator divides by more than a vector; a vector takes 4.
  return 4 + (isHalf(type) ? 144 : 132) + 4 * vectors(tile, type, n) + rest;
}

Cycles normalRandom(const TileSpec &tile, DataType type, std::uint64_t n) {
  return 4 + tile.workers * (isHalf(type) ? 24 : 22) +
         4 * vectors(tile, type, n);
}

Cycles truncatedNormalRandom(const TileSpec &tile, DataType type,
                             std::uint64_t n, unsigned iterations) {
  const Cycles perVector = Cycles{isHalf(type) ? 12u : 11u} * iterations + 5;
  return 4 + tile.workers * (isHalf(type) ? 28 : 26) +
         perVector * vectors(tile, type, n);
}

Cycles bernoulliRandom(const TileSpec &tile, DataType type, std::uint64_t n) {
  return 4 + tile.workers * (isHalf(type) ? 23 : 21) + vectors(tile, type, n);
}

Cycles dropoutRandom(const TileSpec &tile, DataType type, std::uint64_t n) {
  return 6 + 144 + 2 * vectors(tile, type, n);
}

Cycles setSeed() {
  return 176;
}

Cycles heapSort(std::uint64_t n, bool hasValues) {
  const auto levels =
      n == 0 ? 0 : static_cast<std::uint64_t>(std::bit_width(n)) - 1;
  return (hasValues ? 16 : 8) * (19 * n * levels + 6 * n + 2);
}

Cycles compareAndSwap(const TileSpec &tile, DataType keyType, std::uint64_t n,
                      bool hasValues) {
  const bool isReal = isHalf(keyType) || keyType == DataType::Float;
  const Cycles each = hasValues ? (isReal ? 11 : 17) : (isReal ? 13 : 12);
  return 19 + tile.workers * each * perWorker(tile, n);
}

Cycles histogramByLimit(const TileSpec &tile, DataType type, std::uint64_t n,
                        std::uint64_t bins) {
  const auto limits = bins - 1;
  return tile.workers *
         (22 +
          perWorker(tile, limits) *
              ((isHalf(type) ? 17 : 11) + 3 * vectors(tile, type, n)) +
          8 + 2 * limits);
}

Cycles histogramByData(const TileSpec &tile, DataType type, std::uint64_t n,
                       std::uint64_t bins) {
  return tile.workers *
         (28 +
          (bins - 1) * ((isHalf(type) ? 19 : 17) +
                        3 * perWorker(tile, vectors(tile, type, n))) +
          10);
}

Cycles choleskyBlock(std::uint64_t n) {
  return n * n * n + 102 * n * n + 101 * n + 102;
}

Cycles triangularInverseBlock(std::uint64_t n) {
  return 6 * n * n * n + 51 * n * n + 213 * n + 12;
}

Cycles triangularSolveBlock(std::uint64_t n) {
  return n == 0 ? 0 : 3 * n * n / 2 + 180 * n - 126;
}

Cycles sparseDense(DataType type, std::uint64_t rows, std::uint64_t nonZeros,
                   std::uint64_t columns) {
  const Cycles call = 29; // the middle of 25 to 33
  return call +
         rows * (13 + 3 * nonZeros * ceilDiv(columns, isHalf(type) ? 8 : 4));
}

Cycles blockSparseDense(DataType type, std::uint64_t blocks,
                        std::uint64_t blockSize, std::uint64_t columns) {
  const Cycles bucket = 51; // the middle of 46 to 56
  const Cycles load =
      blockSize * blockSize / (isHalf(type) ? 4 : 2); // coefficients
  const Cycles perColumn = isHalf(type) ? 2 : 8;
  return bucket + blocks * (12 + load + perColumn * columns);
}

} // namespace kernels::cost
