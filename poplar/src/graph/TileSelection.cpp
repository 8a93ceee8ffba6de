#include "TileSelection.hpp"

#include "Handles.hpp"

#include <support/Error.hpp>

#include <algorithm>
#include <numeric>

namespace poplar {

using internal::Access;
using internal::MappingPiece;
using internal::TileRun;
using internal::TileSelection;
using support::requireUser;

namespace internal {

TileSelection::TileSelection(std::vector<unsigned> tiles, unsigned total)
    : tiles_(std::move(tiles)), own_(total, none) {
  for (unsigned tile = 0; tile < tiles_.size(); ++tile) {
    own_[tiles_[tile]] = tile;
  }
}

bool TileSelection::areConsecutive(unsigned first, unsigned count) const {
  const unsigned own = own_[first];
  if (own == none || own + count > tiles_.size()) {
    return false;
  }
  for (unsigned i = 1; i < count; ++i) {
    if (tiles_[own + i] != first + i) {
      return false;
    }
  }
  return true;
}

const TileSelection *tileSelection(const Graph &graph) {
  return Access::tiles(graph).get();
}

unsigned topLevelTile(const Graph &graph, unsigned tile) {
  const TileSelection *tiles = tileSelection(graph);
  return tiles == nullptr ? tile : tiles->toTopLevel(tile);
}

namespace {

// Calls f(first, count) for the longest stretches of own tiles [first, end)
// that are consecutive in the whole graph, too.
template <typename F>
void forEachStretch(const TileSelection &tiles, unsigned first, unsigned end,
                    F &&f) {
  while (first < end) {
    unsigned count = 1;
    while (first + count < end &&
           tiles.toTopLevel(first + count) == tiles.toTopLevel(first) + count) {
      ++count;
    }
    f(first, count);
    first += count;
  }
}

} // namespace

std::vector<MappingPiece> topLevelPieces(const Graph &graph,
                                         const MappingPiece &piece) {
  const TileSelection *tiles = tileSelection(graph);
  if (tiles == nullptr) {
    return {piece};
  }
  std::vector<MappingPiece> pieces;
  forEachStretch(*tiles, piece.firstTile, piece.firstTile + piece.parts,
                 [&](unsigned first, unsigned count) {
                   if (count == piece.parts) {
                     pieces.push_back(piece);
                     pieces.back().firstTile = tiles->toTopLevel(first);
                     return;
                   }
                   // A formula for some of the parts would cut them in other
                   // places.
                   for (unsigned tile = first; tile < first + count; ++tile) {
                     const auto range = piece.partRange(tile - piece.firstTile);
                     pieces.push_back({range.begin, range.end,
                                       tiles->toTopLevel(tile), 1,
                                       range.end - range.begin});
                   }
                 });
  return pieces;
}

void translateToTopLevel(const Graph &graph, VertexGroup &group) {
  const TileSelection *tiles = tileSelection(graph);
  if (tiles == nullptr) {
    return;
  }
  for (GroupPhase &phase : group.phases) {
    std::vector<TileRun> runs;
    for (const TileRun &run : phase.runs) {
      forEachStretch(*tiles, run.firstTile, run.firstTile + run.tileCount,
                     [&](unsigned first, unsigned count) {
                       runs.push_back(run);
                       runs.back().firstTile = tiles->toTopLevel(first);
                       runs.back().tileCount = count;
                     });
    }
    phase.runs = std::move(runs);
  }
}

} // namespace internal

Graph Graph::withTiles(const std::vector<unsigned> &tiles,
                       const Target &target) const {
  Graph graph;
  graph.data_ = data_;
  graph.target_ = target;
  std::vector<unsigned> topLevel;
  for (unsigned tile : tiles) {
    topLevel.push_back(internal::topLevelTile(*this, tile));
  }
  graph.tiles_ = std::make_shared<const TileSelection>(
      std::move(topLevel), data_->target->numTiles());
  return graph;
}

Graph Graph::createVirtualGraph(unsigned numTilesPerIPU) {
  requireUser<poplar_error>(
      numTilesPerIPU > 0 && numTilesPerIPU <= target_.getTilesPerIPU(),
      "[poplar::Graph::createVirtualGraph] {} tiles for each IPU given; the "
      "graph has {}",
      numTilesPerIPU, target_.getTilesPerIPU());
  std::vector<unsigned> perIpu(numTilesPerIPU);
  std::iota(perIpu.begin(), perIpu.end(), 0U);
  return createVirtualGraph(perIpu);
}

Graph Graph::createVirtualGraph(unsigned lowerTile, unsigned upperTile) {
  const unsigned perIpu = target_.getTilesPerIPU();
  requireUser<poplar_error>(
      lowerTile < upperTile && upperTile <= target_.getNumTiles(),
      "[poplar::Graph::createVirtualGraph] tiles [{},{}) given; the graph has "
      "{} tiles",
      lowerTile, upperTile, target_.getNumTiles());
  const unsigned count = upperTile - lowerTile;
  const bool isInOneIpu = lowerTile / perIpu == (upperTile - 1) / perIpu;
  requireUser<poplar_error>(
      isInOneIpu || (lowerTile % perIpu == 0 && count % perIpu == 0),
      "[poplar::Graph::createVirtualGraph] tiles [{},{}) given; tiles of one "
      "IPU, or whole IPUs of {} tiles, are needed",
      lowerTile, upperTile, perIpu);
  std::vector<unsigned> tiles(count);
  std::iota(tiles.begin(), tiles.end(), lowerTile);
  return withTiles(tiles,
                   target_.createVirtualTarget(isInOneIpu ? 1 : count / perIpu,
                                               isInOneIpu ? count : perIpu));
}

Graph Graph::createVirtualGraph(const std::vector<unsigned> &perIPUTiles) {
  const unsigned perIpu = target_.getTilesPerIPU();
  std::vector<bool> isUsed(perIpu);
  for (unsigned tile : perIPUTiles) {
    requireUser<poplar_error>(
        tile < perIpu && !isUsed[tile],
        "[poplar::Graph::createVirtualGraph] tile {} given; each of the {} "
        "tiles of an IPU may be given once",
        tile, perIpu);
    isUsed[tile] = true;
  }
  requireUser<poplar_error>(
      !perIPUTiles.empty(),
      "[poplar::Graph::createVirtualGraph] no tiles were given");
  std::vector<unsigned> tiles;
  for (unsigned ipu = 0; ipu < target_.getNumIPUs(); ++ipu) {
    for (unsigned tile : perIPUTiles) {
      tiles.push_back(ipu * perIpu + tile);
    }
  }
  return withTiles(tiles, target_.createVirtualTarget(
                              target_.getNumIPUs(),
                              static_cast<unsigned>(perIPUTiles.size())));
}

Graph Graph::getTopLevelGraph() const {
  Graph graph;
  graph.data_ = data_;
  graph.target_ = Access::makeTarget(data_->target);
  return graph;
}

unsigned Graph::convertTileToTopLevelGraphTile(unsigned tile) const {
  if (tile >= target_.getNumTiles()) {
    throw index_error("the tiles of the graph", tile);
  }
  return internal::topLevelTile(*this, tile);
}

unsigned Graph::convertTopLevelGraphTileToTile(unsigned tile) const {
  const unsigned own = tile >= data_->target->numTiles() ? TileSelection::none
                       : tiles_ == nullptr               ? tile
                                           : tiles_->fromTopLevel(tile);
  if (own == TileSelection::none) {
    throw index_error("the top-level tiles of the graph", tile);
  }
  return own;
}

} // namespace poplar
