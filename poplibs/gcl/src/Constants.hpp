// Figures of gcl's own that no source states; docs/model.md lists them.
#pragma once

namespace gcl {

// Blocks of the exchange through which transfers leave an IPU, and the tiles
// that each needs: the two of a bus.
inline constexpr unsigned exchangeBlocksUsed = 16;   // [A]
inline constexpr unsigned tilesPerExchangeBlock = 2; // [A]

} // namespace gcl
