// Makes the vertices of popnn known to a graph.
#pragma once

#include <poplar/Graph.hpp>

namespace popnn {

// Once per graph, before its operations; more calls do no harm.
void addCodelets(poplar::Graph &graph);

} // namespace popnn
