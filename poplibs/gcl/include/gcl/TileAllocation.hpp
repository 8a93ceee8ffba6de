// Which tiles to set aside for transfers and collectives.
#pragma once

#include <poplar/Graph.hpp>

#include <vector>

namespace gcl {

// `numTiles` tiles of an IPU, spread over it, after `offset` of the same order
// were left out: equal calls give equal tiles, calls for following ranges
// different ones. `tilePairs` gives both tiles of a shared bus together.
std::vector<unsigned> perIPUTiles(const poplar::Graph &graph, unsigned offset,
                                  unsigned numTiles, bool sorted = true,
                                  bool tilePairs = true);

// The fewest tiles that transfers should have, and the exchange blocks that
// those use.
unsigned getMinIoTiles(const poplar::Graph &graph);
unsigned getNumXBsUsed();

} // namespace gcl
