// Cuts overlapping runs of tiles into segments on which every tile does the
// same, so that nothing is computed tile by tile.
#pragma once

#include <poplar/internal/VertexGroup.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace poplar::model {

// Calls f(firstTile, tileCount, activeRuns) in ascending order for the maximal
// segments with the same runs. Segments never cross a multiple of
// `tilesPerIpu`, and active runs keep the order of `runs`.
template <typename F>
void forEachSegment(std::span<const internal::TileRun *const> runs,
                    unsigned tilesPerIpu, F &&f) {
  using Run = const internal::TileRun *;
  struct Entry {
    Run run;
    std::size_t order;
  };
  std::vector<Entry> sorted;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i]->tileCount != 0) {
      sorted.push_back({runs[i], i});
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Entry &a, const Entry &b) {
                     return a.run->firstTile < b.run->firstTile;
                   });
  std::vector<Entry> active;
  std::vector<Run> activeRuns;
  std::size_t next = 0;
  unsigned tile = 0;
  while (next < sorted.size() || !active.empty()) {
    if (active.empty()) {
      tile = sorted[next].run->firstTile;
    }
    while (next < sorted.size() && sorted[next].run->firstTile == tile) {
      const Entry entry = sorted[next++];
      const auto place =
          std::find_if(active.begin(), active.end(), [&](const Entry &other) {
            return other.order > entry.order;
          });
      active.insert(place, entry);
    }
    unsigned end = (tile / tilesPerIpu + 1) * tilesPerIpu;
    if (next < sorted.size()) {
      end = std::min(end, sorted[next].run->firstTile);
    }
    activeRuns.clear();
    for (const Entry &entry : active) {
      end = std::min(end, entry.run->firstTile + entry.run->tileCount);
      activeRuns.push_back(entry.run);
    }
    f(tile, end - tile, std::span<const Run>(activeRuns));
    tile = end;
    std::erase_if(active, [&](const Entry &entry) {
      return entry.run->firstTile + entry.run->tileCount == end;
    });
  }
}

} // namespace poplar::model
