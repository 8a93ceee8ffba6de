// The graph as text, one operation per line.
#pragma once

#include <popart/graph.hpp>

#include <string>

namespace popart {

std::string printGraph(const Graph &graph);

} // namespace popart
