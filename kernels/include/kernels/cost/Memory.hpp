// Copies within a tile (section 4.6), exchange (4.3) and the size of codelets
// (6.3).
#pragma once

#include <kernels/cost/Tile.hpp>

#include <string_view>

namespace kernels::cost {

// Tile cycles to move `bytes` within a tile when runs are aligned to
// `alignment` bytes.
Cycles onTileCopy(std::uint64_t bytes, std::uint64_t alignment);

// Cycles to receive `bytes`, as the planners count them: rates are quantised to
// sixteenths of a byte a cycle. `sharing` is 2 when both tiles of a shared bus
// want the same data.
Cycles exchange(std::uint64_t bytes, double bytesPerCycle, unsigned sharing);

// Bytes of code that a vertex type takes on each tile that has one, by its name
// as profiles show it.
std::uint32_t codeBytes(std::string_view vertexType);

} // namespace kernels::cost
