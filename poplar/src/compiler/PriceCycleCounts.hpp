// Programs that count cycles learn what the model says of them.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::compiler {

// Fills in the cycles of every CycleCountNode of the programs and of the
// graph's functions. Programs without one stay the same nodes.
void priceCycleCounts(internal::GraphData &graph,
                      std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::compiler
