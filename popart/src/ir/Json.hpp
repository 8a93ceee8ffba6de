// The IR for other programs.
#pragma once

#include <popart/graph.hpp>

#include <string>

namespace popart {

// {"maingraph": [...]}, an object for each operation in schedule order: type,
// name, attributes, and inputs and outputs with name, index, type and shape.
std::string toJson(const Graph &graph);

} // namespace popart
