// A view as a list of stretches that each lie on one tile: for what is followed
// fragment by fragment.
#pragma once

#include "model/CopyTraffic.hpp"
#include <poplar/internal/GraphData.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace poplar::model {

// Views with more runs than this are priced as evenly spread.
inline constexpr std::int64_t maxFollowedRuns = 1 << 14;

// Consecutive elements of a view on one tile.
struct Extent {
  static constexpr unsigned unmapped = std::numeric_limits<unsigned>::max();

  unsigned tile = unmapped;
  std::int64_t elements = 0;
  bool isRepeat = false; // the view has had these elements before
};

std::vector<Extent> extentsOf(const internal::GraphData &graph,
                              const internal::TensorView &view);

// Moves what one list holds to the tiles of the other, cut wherever either
// changes its tile. What is repeated has been sent before: all listen to it.
void moveExtents(const std::vector<Extent> &from, const std::vector<Extent> &to,
                 std::size_t elementBytes, CopyTraffic &traffic);

} // namespace poplar::model
