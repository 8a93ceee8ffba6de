// Makes the vertices of popfloat known to a graph.
#pragma once

#include <poplar/Graph.hpp>

namespace popfloat {
namespace experimental {

// Once per graph; more calls do no harm.
void addCodelets(poplar::Graph &graph);

} // namespace experimental
} // namespace popfloat
