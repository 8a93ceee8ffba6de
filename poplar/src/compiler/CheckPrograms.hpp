// What must hold of a graph and its programs before they can be compiled.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::compiler {

// Programs that cannot work: control_program_error, graph_recursion_error,
// graph_replication_error or graph_connection_error, with the program's debug
// path. Other walks over programs rely on what is checked here.
void checkPrograms(const internal::GraphData &graph,
                   const std::vector<internal::ProgramPtr> &programs);

// Variables that the programs use but that are not on any tile:
// invalid_tile_mapping.
void checkTileMapping(const internal::GraphData &graph,
                      const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::compiler
