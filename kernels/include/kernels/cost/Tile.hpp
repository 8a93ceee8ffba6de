// What cycle formulas need to know of a tile, and the arithmetic they share.
// Section numbers in this folder refer to docs/model.md; all results are
// cycles.
#pragma once

#include <support/DataType.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>

namespace kernels::cost {

using Cycles = std::uint64_t;
using support::DataType;

struct TileSpec {
  unsigned workers = 6;
  unsigned dataPathBytes = 8;
  unsigned fp16InFp16OutConvUnits = 16;
  unsigned fp16InFp32OutConvUnits = 8;
  unsigned fp32ConvUnits = 16;
  unsigned fp8InFp16OutConvUnits = 16;
  unsigned convUnitPipelineDepth = 4;
  unsigned convUnitCoeffLoadBytes = 8; // 64-bit loads, the libraries' default

  friend auto operator<=>(const TileSpec &, const TileSpec &) = default;
};

constexpr std::uint64_t ceilDiv(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

// Elements of a type in one access of the data path.
constexpr std::uint64_t vectorWidth(const TileSpec &tile, DataType type) {
  return std::max<std::uint64_t>(1, tile.dataPathBytes / support::sizeOf(type));
}

// Elements that the busiest worker takes of `n`.
constexpr std::uint64_t perWorker(const TileSpec &tile, std::uint64_t n) {
  return ceilDiv(n, tile.workers);
}

// Call and return of a supervisor vertex (section 8, S0).
constexpr Cycles supervisorOverhead = 11;

} // namespace kernels::cost
