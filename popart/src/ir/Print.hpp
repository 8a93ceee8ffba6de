// The graph as text, one operation per line.
#pragma once

#include <popart/graph.hpp>

#include <string>

namespace popart {

std::string printGraph(const Graph &graph);

// What the class of a custom operator says of itself; empty for other
// operators.
std::string ownAttributes(const Op &op);

} // namespace popart
