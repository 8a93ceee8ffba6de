// A view as a list of stretches that each lie on one tile.
#include "model/Extents.hpp"

#include "model/ViewTiles.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace poplar::model {

using internal::GraphData;
using internal::TensorView;
using internal::VariableId;

std::vector<Extent> extentsOf(const GraphData &graph, const TensorView &view) {
  std::vector<Extent> extents;
  const bool hasRepeats = internal::containsAliases(view);
  std::set<std::tuple<VariableId, std::int64_t, std::int64_t>> seen;
  internal::forEachRun(view, [&](VariableId id, std::int64_t first,
                                 std::int64_t count) {
    std::int64_t at = first;
    const bool isRepeat = hasRepeats && !seen.emplace(id, first, count).second;
    const auto add = [&](unsigned tile, std::int64_t until) {
      if (at < until) {
        extents.push_back({tile, until - at, isRepeat});
        at = until;
      }
    };
    forEachTileRange(graph.variables[id.index()].mapping, first, first + count,
                     [&](unsigned tile, std::int64_t begin, std::int64_t end) {
                       add(Extent::unmapped, begin);
                       add(tile, end);
                     });
    add(Extent::unmapped, first + count);
  });
  return extents;
}

void moveExtents(const std::vector<Extent> &from, const std::vector<Extent> &to,
                 std::size_t elementBytes, CopyTraffic &traffic) {
  std::size_t i = 0;
  std::size_t j = 0;
  std::int64_t usedFrom = 0;
  std::int64_t usedTo = 0;
  while (i < from.size() && j < to.size()) {
    const std::int64_t elements =
        std::min(from[i].elements - usedFrom, to[j].elements - usedTo);
    if (from[i].tile != Extent::unmapped && to[j].tile != Extent::unmapped) {
      const auto bytes = static_cast<std::uint64_t>(elements) * elementBytes;
      traffic.move(from[i].tile, to[j].tile, bytes,
                   from[i].isRepeat ? 0 : bytes);
    }
    usedFrom += elements;
    usedTo += elements;
    if (usedFrom == from[i].elements) {
      ++i;
      usedFrom = 0;
    }
    if (usedTo == to[j].elements) {
      ++j;
      usedTo = 0;
    }
  }
}

} // namespace poplar::model
