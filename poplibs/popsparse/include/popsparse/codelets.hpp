// Makes the vertices of popsparse known to a graph.
#pragma once

#include <poplar/Graph.hpp>

namespace popsparse {

// Once per graph; more calls do no harm.
void addCodelets(poplar::Graph &graph);

} // namespace popsparse
