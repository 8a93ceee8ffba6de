// The variable behind poplar/RandomSeed.hpp, for operations that draw from the
// hardware seeds and move them on.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

namespace poplar::internal {

// The seeds of one tile of the graph, {workers, 4}; zero until they are set.
Tensor hwSeedsOfTile(Graph &graph, unsigned tile);

} // namespace poplar::internal
