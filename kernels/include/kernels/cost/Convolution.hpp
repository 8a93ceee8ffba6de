// Cycles of the convolution vertices: AMP nx1 (section 8.6), AMP 1x1 (8.7) and
// horizontal multiply-accumulate (8.9). A matrix product is a 1x1 convolution.
#pragma once

#include <kernels/cost/Tile.hpp>

namespace kernels::cost {

// The AMP units that a pair of types may use: never more than
// outChansPerGroup asks for.
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

// One tile's share by horizontal multiply-accumulate.
struct HmacShare {
  DataType inputType = DataType::Float;
  DataType partialsType = DataType::Float;
  std::uint64_t convGroups = 1;
  std::uint64_t inChans = 1;
  std::uint64_t outChans = 1;
  std::uint64_t rows = 1;
  std::uint64_t rowLength = 1;
  std::uint64_t kernelElements = 1;
};
Cycles convPartialHorizontalMac(const TileSpec &tile, const HmacShare &share);

} // namespace kernels::cost
