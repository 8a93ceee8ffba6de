// What must hold of a graph and its programs before they can be compiled.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::compiler {

// Copies and vertices that cannot work: control_program_error or
// graph_connection_error, with the program's debug path.
void checkPrograms(const internal::GraphData &graph,
                   const std::vector<internal::ProgramPtr> &programs);

// Variables that the programs use but that are not on any tile:
// invalid_tile_mapping.
void checkTileMapping(const internal::GraphData &graph,
                      const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::compiler
