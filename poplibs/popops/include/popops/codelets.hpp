// Makes the vertices of popops known to a graph.
#pragma once

#include <poplar/Graph.hpp>

namespace popops {

// Once per graph, before its operations; more calls do no harm.
void addCodelets(poplar::Graph &graph);

} // namespace popops
