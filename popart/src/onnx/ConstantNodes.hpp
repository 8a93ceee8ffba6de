// Nodes of type Constant, which are tensors of the IR and no operations.
#pragma once

#include <onnx/Proto.hpp>
#include <popart/graph.hpp>

#include <string>

namespace popart {

// `where` names the node in messages.
void addConstantNode(Graph &graph, const onnx::NodeProto &node,
                     const std::string &where);

} // namespace popart
