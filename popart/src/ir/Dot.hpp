// Drawings of graphs in the language of Graphviz.
#pragma once

#include <popart/ir.hpp>

#include <string>

namespace popart {

// Writes the drawing `check` of a graph and those that it runs, if the options
// dotChecks or the environment's POPART_DOT_CHECKS ask for it:
// logDir/check.dot.
void drawGraph(const Ir &ir, const Graph &graph, const std::string &check);

} // namespace popart
