// poputil has no vertices of its own; programs may still ask for them.
#pragma once

namespace poplar {
class Graph;
} // namespace poplar

namespace poputil {

void addCodelets(poplar::Graph &graph);

} // namespace poputil
