// Graph: tile mappings.
#include <poplar/Graph.hpp>

#include "FieldTarget.hpp"
#include "Handles.hpp"
#include "PieceSelect.hpp"
#include "TileSelection.hpp"
#include "ViewSets.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <map>

namespace poplar {

using internal::ElementRun;
using internal::GraphData;
using internal::MappingPiece;
using internal::ownData;
using internal::Piece;
using internal::TensorView;
using internal::TileSelection;
using internal::Variable;
using internal::VariableId;
using support::requireUser;

namespace {

// New mapping pieces, collected per variable and applied at once.
using MappingChanges = std::map<VariableId, std::vector<MappingPiece>>;

void addChange(MappingChanges &changes, const std::vector<Piece> &pieces,
               unsigned tile) {
  for (const ElementRun &run : internal::elementRuns(pieces)) {
    changes[run.variable].push_back(
        {run.begin, run.end, tile, 1, run.end - run.begin});
  }
}

// Pieces of a view with aliases may overlap: then the last one wins.
void applyChanges(GraphData &graph, MappingChanges &changes, bool hasAliases) {
  for (auto &[variable, pieces] : changes) {
    auto &mapping = graph[variable].mapping;
    if (!hasAliases) {
      mapping.set(std::move(pieces));
      continue;
    }
    for (const MappingPiece &piece : pieces) {
      mapping.set(piece);
    }
  }
}

void checkTile(const Target &target, std::size_t tile) {
  requireUser<invalid_tile_mapping>(
      tile < target.getNumTiles(),
      "[poplar::Graph::setTileMapping] tile {} given; the target has {} tiles",
      tile, target.getNumTiles());
}

void checkIntervals(const Graph::TileToTensorMapping &mapping,
                    std::size_t elements) {
  std::vector<Interval> all;
  for (const auto &intervals : mapping) {
    for (const Interval &interval : intervals) {
      requireUser<invalid_tile_mapping>(
          interval.begin() <= interval.end() && interval.end() <= elements,
          "[poplar::Graph::setTileMapping] interval [{},{}) given; the tensor "
          "has {} elements",
          interval.begin(), interval.end(), elements);
      if (interval.size() > 0) {
        all.push_back(interval);
      }
    }
  }
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    requireUser<invalid_tile_mapping>(
        all[i - 1].end() <= all[i].begin(),
        "[poplar::Graph::setTileMapping] intervals [{},{}) and [{},{}) "
        "overlap; an element lies on one tile",
        all[i - 1].begin(), all[i - 1].end(), all[i].begin(), all[i].end());
  }
}

void addInterval(std::vector<Interval> &intervals, std::size_t begin,
                 std::size_t end) {
  if (!intervals.empty() && intervals.back().end() == begin) {
    intervals.back() = Interval(intervals.back().begin(), end);
  } else {
    intervals.emplace_back(begin, end);
  }
}

// Adds the mapped part of the view to `mapping`; returns the first unmapped run
// of elements, or one of an invalid variable.
ElementRun collectMapping(const GraphData &graph, const TensorView &view,
                          Graph::TileToTensorMapping &mapping) {
  ElementRun firstUnmapped;
  std::int64_t position = 0;
  internal::forEachRun(
      view, [&](VariableId id, std::int64_t begin, std::int64_t count) {
        const auto &tiles = graph[id].mapping;
        for (const auto &range : tiles.ranges(begin, begin + count)) {
          addInterval(mapping[range.tile],
                      static_cast<std::size_t>(position + range.begin - begin),
                      static_cast<std::size_t>(position + range.end - begin));
        }
        std::int64_t unmapped = tiles.firstUnmapped(begin, begin + count);
        if (unmapped >= 0 && !firstUnmapped.variable.isValid()) {
          firstUnmapped = {id, unmapped, begin + count};
        }
        position += count;
      });
  return firstUnmapped;
}

// Renumbers a mapping of all tiles to those of a virtual graph.
Graph::TileToTensorMapping selectTiles(const TileSelection &tiles,
                                       Graph::TileToTensorMapping topLevel,
                                       bool allowExternal) {
  for (std::size_t tile = 0; tile < topLevel.size() && !allowExternal; ++tile) {
    requireUser<invalid_tile_mapping>(
        topLevel[tile].empty() || tiles.fromTopLevel(static_cast<unsigned>(
                                      tile)) != TileSelection::none,
        "[poplar::Graph::getTileMapping] element {} of the tensor lies on "
        "top-level tile {}, which is not in the virtual graph",
        topLevel[tile].empty() ? 0 : topLevel[tile][0].begin(), tile);
  }
  Graph::TileToTensorMapping own;
  for (unsigned tile : tiles.tiles()) {
    own.push_back(std::move(topLevel[tile]));
  }
  return own;
}

} // namespace

void Graph::setTileMapping(const VertexRef &vertex, unsigned tile) {
  checkTile(target_, tile);
  data_->vertices[internal::findVertex(*data_, vertex, "setTileMapping")].tile =
      internal::topLevelTile(*this, tile);
}

void Graph::setTileMapping(const Tensor &tensor, unsigned tile) {
  const TensorView &view =
      ownData(*data_, tensor, "poplar::Graph::setTileMapping").view;
  checkTile(target_, tile);
  if (internal::isOneRun(view)) {
    const std::int64_t begin = view.pieces[0].offset;
    const std::int64_t count = view.elements();
    (*data_)[view.pieces[0].variable].mapping.set(MappingPiece{
        begin, begin + count, internal::topLevelTile(*this, tile), 1, count});
    return;
  }
  MappingChanges changes;
  addChange(changes, view.pieces, internal::topLevelTile(*this, tile));
  applyChanges(*data_, changes, internal::containsAliases(view));
}

void Graph::setTileMapping(const Tensor &tensor,
                           const TileToTensorMapping &mapping) {
  const TensorView &view =
      ownData(*data_, tensor, "poplar::Graph::setTileMapping").view;
  checkIntervals(mapping, tensor.numElements());
  MappingChanges changes;
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    for (const Interval &interval : mapping[tile]) {
      checkTile(target_, tile);
      auto begin = static_cast<std::int64_t>(interval.begin());
      auto count = static_cast<std::int64_t>(interval.size());
      addChange(changes, selectPieces(view.pieces, {begin, {count}, {1}}),
                internal::topLevelTile(*this, static_cast<unsigned>(tile)));
    }
  }
  applyChanges(*data_, changes, internal::containsAliases(view));
}

Graph::TileToTensorMapping Graph::getTileMapping(const Tensor &tensor,
                                                 bool requireComplete,
                                                 bool allowExternal) const {
  const TensorView &view =
      ownData(*data_, tensor, "poplar::Graph::getTileMapping").view;
  TileToTensorMapping mapping(data_->target->numTiles());
  const ElementRun unmapped = collectMapping(*data_, view, mapping);
  if (requireComplete && unmapped.variable.isValid()) {
    throw invalid_tile_mapping(fmt::format(
        "[poplar::Graph::getTileMapping] element {} of variable '{}' is not "
        "mapped to a tile; call setTileMapping first",
        unmapped.begin, (*data_)[unmapped.variable].debugPath));
  }
  return tiles_ == nullptr
             ? mapping
             : selectTiles(*tiles_, std::move(mapping), allowExternal);
}

Graph::TileToTensorMapping Graph::getTileMapping(const Tensor &tensor,
                                                 bool *isComplete,
                                                 bool allowExternal) const {
  if (isComplete != nullptr) {
    TileToTensorMapping mapping(data_->target->numTiles());
    const TensorView &view =
        ownData(*data_, tensor, "poplar::Graph::getTileMapping").view;
    *isComplete = !collectMapping(*data_, view, mapping).variable.isValid();
  }
  return getTileMapping(tensor, false, allowExternal);
}

Graph::TileToTensorMapping
Graph::getVariableTileMapping(const Tensor &tensor) const {
  auto mapping = getTileMapping(tensor, false);
  if (!tensor.containsConstant()) {
    return mapping;
  }
  const Tensor flat = tensor.flatten();
  for (auto &intervals : mapping) {
    std::vector<Interval> variable;
    for (const Interval &interval : intervals) {
      const Tensor part = flat.slice(interval);
      for (const Interval &region : part.getContiguousRegions()) {
        if (!part.slice(region).containsConstant()) {
          addInterval(variable, interval.begin() + region.begin(),
                      interval.begin() + region.end());
        }
      }
    }
    intervals = std::move(variable);
  }
  return mapping;
}

} // namespace poplar
