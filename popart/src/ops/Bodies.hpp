// What operations that run subgraphs share. Their last inputs, as many as the
// attribute "captured" says, are tensors that the subgraphs read besides their
// own inputs.
#pragma once

#include <popart/graph.hpp>

#include <string>

namespace popart {

const Graph &bodyOf(const Op &op, const std::string &attribute);

// How many inputs the operation has of its own, left-out ones included.
int ownInputs(const Op &op);

// Types and shapes of what the subgraph returns.
std::vector<TensorInfo> outputInfos(const Graph &body);

} // namespace popart
