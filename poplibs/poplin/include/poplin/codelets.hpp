// Makes the vertices of poplin known to a graph.
#pragma once

#include <poplar/Graph.hpp>

namespace poplin {

// Once per graph, before its operations; more calls do no harm.
void addCodelets(poplar::Graph &graph);

} // namespace poplin
