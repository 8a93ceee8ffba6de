// A choice of the reduction planner (section 7.7): whether partials go straight
// to the tiles of the results. These spread the results evenly, so that there
// is no gain in balancing them first.
#pragma once

#include <cstdint>

namespace popops::internal {

// What the tiles hold after each reduced its own share.
struct PartialSpread {
  std::uint64_t partials = 0; // in all
  std::uint64_t outputs = 1;
  std::uint64_t fanIn = 1; // most partials of a result
  unsigned tilesUsed = 0;  // that hold partials
  unsigned tiles = 1;      // of the IPU
};
// Into how many pieces an intermediate stage should gather the partials of each
// result; 1 to go straight to the results.
std::uint64_t intermediatePieces(const PartialSpread &spread);

} // namespace popops::internal
