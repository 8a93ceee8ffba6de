// Cycles of the convolution vertices: AMP nx1 (section 8.6), AMP 1x1 (8.7),
// SLIC (8.8), horizontal and vertical multiply-accumulate and outer product
// (8.9). A matrix product is a 1x1 convolution. All are supervisor vertices.
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// The AMP units that a pair of types may use; blocks of fewer output channels
// use as many as they have.
unsigned convUnits(const TileSpec &tile, DataType inputType,
                   DataType partialsType);
// Input channels that one pass through the units takes: 16 half, 8 float.
unsigned weightsPerConvUnit(const TileSpec &tile, DataType inputType);

// One tile's share of a convolution by the AMP.
struct AmpShare {
  DataType inputType = DataType::Float;
  DataType partialsType = DataType::Float;
  std::uint64_t convGroups = 1;
  std::uint64_t inChanGroups = 1;  // of inChansPerGroup
  std::uint64_t outChanGroups = 1; // of outChansPerGroup
  std::uint64_t outChansPerGroup = 16;
  std::uint64_t rows = 1;      // batch x outer field positions
  std::uint64_t rowLength = 1; // innermost field positions
  // nx1 only: kernel rows taken in one pass (1, 2 or 4), the kernel's extent
  // along that dimension and its other elements.
  unsigned kernelHeightPerPass = 1;
  std::uint64_t kernelHeight = 1;
  std::uint64_t kernelRest = 1;
};

Cycles convPartialNx1(const TileSpec &tile, const AmpShare &share);
// Kernel 1x1, one range of positions per worker: rows * rowLength.
Cycles convPartial1x1Out(const TileSpec &tile, const AmpShare &share);

// One tile's share by SLIC: short rows of a kernel on few channels.
struct SlicShare {
  DataType inputType = DataType::Half;
  DataType partialsType = DataType::Half;
  unsigned convGroupsPerGroup = 1;   // 1, 2, 4, 8 or 16
  unsigned chansPerGroup = 4;        // 4, 2 or 1
  std::uint64_t convGroupGroups = 1; // of convGroupsPerGroup
  std::uint64_t subKernels = 1;      // ceil(width / 4) x other kernel elements
  std::uint64_t rows = 1;
  std::uint64_t rowLength = 1;
  unsigned stride = 1; // 1 or 2, of the innermost dimension
};
Cycles convPartialSlic(const TileSpec &tile, const SlicShare &share);

// One tile's share by horizontal multiply-accumulate: dot products along the
// input channels.
struct HmacShare {
  DataType inputType = DataType::Float;
  DataType partialsType = DataType::Float;
  std::uint64_t convGroups = 1;
  std::uint64_t inChanGroups = 1;
  std::uint64_t outChanGroups = 1;
  std::uint64_t inChansPerGroup = 1;
  std::uint64_t outChansPerGroup = 1;
  std::uint64_t rows = 1;
  std::uint64_t rowLength = 1;
  std::uint64_t kernelElements = 1;
};
Cycles convPartialHorizontalMac(const TileSpec &tile, const HmacShare &share);

// One tile's share by vertical multiply-accumulate: one channel in and out of
// each of many groups.
struct VmacShare {
  DataType partialsType = DataType::Float;
  unsigned convGroupsPerGroup = 4; // 4, 8 or 16
  std::uint64_t convGroupGroups = 1;
  std::uint64_t inChanGroups = 1;
  std::uint64_t rows = 1;
  std::uint64_t rowLength = 1;
  std::uint64_t kernelElements = 1;
};
Cycles convPartialVerticalMac(const TileSpec &tile, const VmacShare &share);

// `width` values times `chanGroups` groups of `chansPerGroup` others.
Cycles outerProduct(const TileSpec &tile, DataType type, std::uint64_t width,
                    std::uint64_t chanGroups, std::uint64_t chansPerGroup);

// The pieces that a worker's contiguous range of positions falls into: runs
// within a row. All workers of a tile get equal ranges.
template <typename RowCycles>
Cycles rangeCycles(std::uint64_t first, std::uint64_t end,
                   std::uint64_t rowLength, const RowCycles &rowCycles) {
  Cycles cycles = 0;
  if (first < end && first % rowLength != 0) {
    const auto piece = std::min(end - first, rowLength - first % rowLength);
    cycles += rowCycles(piece);
    first += piece;
  }
  if (const auto full = (end - first) / rowLength; full > 0) {
    cycles += full * rowCycles(rowLength);
  }
  const auto rest = (end - first) % rowLength;
  return rest == 0 ? cycles : cycles + rowCycles(rest);
}

// Cycles of the slowest and of the fastest worker; the fastest has none when
// some have no work.
struct WorkerCycles {
  Cycles most = 0;
  Cycles least = 0;
};
template <typename RowCycles>
WorkerCycles workerCycles(const TileSpec &tile, std::uint64_t rows,
                          std::uint64_t rowLength, Cycles call,
                          const RowCycles &rowCycles) {
  const auto positions = rows * rowLength;
  WorkerCycles result{0, ~Cycles{0}};
  for (std::uint64_t worker = 0; worker < tile.workers; ++worker) {
    const auto first = positions * worker / tile.workers;
    const auto end = positions * (worker + 1) / tile.workers;
    const auto cycles =
        first == end ? 0 : call + rangeCycles(first, end, rowLength, rowCycles);
    result.most = std::max(result.most, cycles);
    result.least = std::min(result.least, cycles);
  }
  return result;
}

} // namespace kernels::cost
