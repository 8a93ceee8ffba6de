#include <popops/internal/ReduceStages.hpp>

#include <cmath>

namespace popops::internal {

std::uint64_t intermediatePieces(const PartialSpread &spread) {
  const double most = 2 * std::sqrt(static_cast<double>(spread.tiles));
  const bool isWide = 4 * spread.tilesUsed > 3 * spread.tiles;
  if (static_cast<double>(spread.fanIn) < most && isWide) {
    return 1;
  }
  constexpr std::uint64_t fewPerOutput = 64;
  if (spread.partials <= fewPerOutput * spread.outputs) {
    return 1;
  }
  const double tilesPerOutput = static_cast<double>(spread.partials) /
                                static_cast<double>(spread.outputs);
  return static_cast<std::uint64_t>(std::lround(std::sqrt(tilesPerOutput)));
}

} // namespace popops::internal
