// Makes the vertices of poprand known to a graph.
#pragma once

#include <poplar/Graph.hpp>

namespace poprand {

// Once per graph, before its operations; more calls do no harm.
void addCodelets(poplar::Graph &graph);

} // namespace poprand
