// The rules that every graph keeps between passes.
#pragma once

#include <popart/graph.hpp>

namespace popart {

// Throws support::InternalError, naming the operation, when
// - an operation reads a tensor that is not there or comes later,
// - producers and consumers do not agree with inputs and outputs,
// - a variable is read in an old version, after an operation updated it,
// - a pipeline stage reads from a later one.
void verifyGraph(const Graph &graph);

} // namespace popart
