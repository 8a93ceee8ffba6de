// Schedules of graphs that patterns have changed.
#pragma once

#include <popart/graph.hpp>

#include <vector>

namespace popart {

// Producers first, and what the graph's constraints and these say; where that
// leaves a choice, in the order they have. Throws popart::error for operations
// that need each other.
std::vector<Op *> scheduleOf(const Graph &graph,
                             const OpMap<std::vector<Op *>> &befores = {});

} // namespace popart
