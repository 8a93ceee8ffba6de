// Cycles of random numbers, sorting, histograms, linear algebra and sparse
// products (section 8.13). n counts elements on the tile; tile cycles unless a
// comment says worker.
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// Integers where the type is one.
Cycles uniformRandom(const TileSpec &tile, DataType type, std::uint64_t n);
Cycles normalRandom(const TileSpec &tile, DataType type, std::uint64_t n);
// Each element is drawn again up to `iterations` times.
Cycles truncatedNormalRandom(const TileSpec &tile, DataType type,
                             std::uint64_t n, unsigned iterations);
Cycles bernoulliRandom(const TileSpec &tile, DataType type, std::uint64_t n);
Cycles dropoutRandom(const TileSpec &tile, DataType type, std::uint64_t n);
Cycles setSeed();

// A worker.
Cycles heapSort(std::uint64_t n, bool hasValues);
// One step of a bitonic sort: n pairs compared and swapped.
Cycles compareAndSwap(const TileSpec &tile, DataType keyType, std::uint64_t n,
                      bool hasValues);

// Workers share the bins, or the data.
Cycles histogramByLimit(const TileSpec &tile, DataType type, std::uint64_t n,
                        std::uint64_t bins);
Cycles histogramByData(const TileSpec &tile, DataType type, std::uint64_t n,
                       std::uint64_t bins);

// One block of order n.
Cycles choleskyBlock(std::uint64_t n);
Cycles triangularInverseBlock(std::uint64_t n);
Cycles triangularSolveBlock(std::uint64_t n);

// A worker: `rows` sparse rows of `nonZeros` each times dense ones of
// `columns`.
Cycles sparseDense(DataType type, std::uint64_t rows, std::uint64_t nonZeros,
                   std::uint64_t columns);
// The same of blocks of `blockSize` squared, all workers.
Cycles blockSparseDense(DataType type, std::uint64_t blocks,
                        std::uint64_t blockSize, std::uint64_t columns);

} // namespace kernels::cost
