// The tiles of a virtual graph: its own numbers and those of the whole graph.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/internal/TileMapping.hpp>
#include <poplar/internal/VertexGroup.hpp>

#include <limits>
#include <vector>

namespace poplar::internal {

class TileSelection {
public:
  static constexpr unsigned none = std::numeric_limits<unsigned>::max();

  // `tiles` of a graph of `total` tiles, in the order of the virtual graph.
  TileSelection(std::vector<unsigned> tiles, unsigned total);

  const std::vector<unsigned> &tiles() const { return tiles_; }
  unsigned toTopLevel(unsigned tile) const { return tiles_[tile]; }
  // none for a tile that is not selected.
  unsigned fromTopLevel(unsigned tile) const { return own_[tile]; }
  // Whether top-level tiles [first, first + count) are selected, in this order.
  bool areConsecutive(unsigned first, unsigned count) const;

private:
  std::vector<unsigned> tiles_; // top-level, by own number
  std::vector<unsigned> own_;   // by top-level number
};

// The selection of a graph; null for all tiles.
const TileSelection *tileSelection(const Graph &graph);

// From a graph's own tile numbers to those of the whole graph.
unsigned topLevelTile(const Graph &graph, unsigned tile);
std::vector<MappingPiece> topLevelPieces(const Graph &graph,
                                         const MappingPiece &piece);
void translateToTopLevel(const Graph &graph, VertexGroup &group);

} // namespace poplar::internal
