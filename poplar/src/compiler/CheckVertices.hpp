// What must hold of user vertices before a graph can be compiled.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::compiler {

// Looks at the vertices that the programs execute. Throws
// graph_connection_error for a field that is not connected, and for two
// vertices of a compute set of which one writes an element that the other reads
// or writes: they run in no order. Library operations of a compute set count as
// one more vertex. Throws no_size_specified for a vector without a size and
// invalid_tile_mapping for a vertex without a tile.
void checkVertices(const internal::GraphData &graph,
                   const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::compiler
