// The gradient of a subgraph, as a subgraph of its own.
#pragma once

#include <popart/graph.hpp>

#include <vector>

namespace popart {

// A new graph of the IR. Its inputs are those of `body`, then the gradients of
// those of body's outputs that `arrives` names; its outputs are the gradients
// of those of body's inputs that `wanted` names, zeros where none depends on
// them. It computes what it needs of the forward pass again.
Graph &differentiateBody(const Graph &body, const std::vector<bool> &arrives,
                         const std::vector<bool> &wanted);

} // namespace popart
