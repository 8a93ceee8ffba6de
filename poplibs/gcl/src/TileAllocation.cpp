#include <gcl/TileAllocation.hpp>

#include "Constants.hpp"

#include <poputil/exceptions.hpp>
#include <support/Error.hpp>

#include <algorithm>

namespace gcl {

using poputil::poplibs_error;

namespace {

// Every tile of an IPU, `group` at a time from each of `regions` stretches of
// it in turn.
std::vector<unsigned> spreadOrder(unsigned tiles, unsigned regions,
                                  unsigned group) {
  std::vector<unsigned> order;
  const unsigned length = (tiles + regions - 1) / regions;
  const unsigned wholeLength = (length + group - 1) / group * group;
  for (unsigned at = 0; at < wholeLength; at += group) {
    for (unsigned first = at; first < tiles; first += wholeLength) {
      for (unsigned tile = first; tile < std::min(first + group, tiles);
           ++tile) {
        order.push_back(tile);
      }
    }
  }
  return order;
}

} // namespace

std::vector<unsigned> perIPUTiles(const poplar::Graph &graph, unsigned offset,
                                  unsigned numTiles, bool sorted,
                                  bool tilePairs) {
  const auto &target = graph.getTarget();
  const unsigned tiles = target.getTilesPerIPU();
  support::requireUser<poplibs_error>(
      offset <= tiles && numTiles <= tiles - offset,
      "[gcl::perIPUTiles] tiles {} to {} given; an IPU has {}", offset,
      offset + numTiles, tiles);
  support::requireUser<poplibs_error>(
      !tilePairs || (numTiles % 2 == 0 && offset % 2 == 0),
      "[gcl::perIPUTiles] {} tiles after {} given; pairs need even numbers",
      numTiles, offset);
  const auto order = spreadOrder(tiles, exchangeBlocksUsed, tilePairs ? 2 : 1);
  std::vector<unsigned> result(order.begin() + offset,
                               order.begin() + offset + numTiles);
  if (sorted) {
    std::sort(result.begin(), result.end());
  }
  return result;
}

unsigned getMinIoTiles(const poplar::Graph &) {
  return exchangeBlocksUsed * tilesPerExchangeBlock;
}

unsigned getNumXBsUsed() {
  return exchangeBlocksUsed;
}

} // namespace gcl
