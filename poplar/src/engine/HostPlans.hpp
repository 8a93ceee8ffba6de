// Plans of the value-IR nodes that are not kernels: streams, what the host
// serves, and users' vertices.
#pragma once

#include "compiler/ValueIr.hpp"
#include "engine/HostServices.hpp"

#include <kernels/KernelEntry.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace poplar::engine {

// A transfer between the host and one operand.
std::unique_ptr<kernels::Plan> makeStreamPlan(HostServices &host,
                                              const compiler::Node &node);

std::unique_ptr<kernels::Plan>
makeHostPlan(HostServices &host, const compiler::Node &node,
             const compiler::ValueProgram &program);

// `operands` are the addresses of the node's inputs and outputs: the vertices'
// fields hold them.
std::unique_ptr<kernels::Plan>
makeVertexPlan(const internal::GraphData &graph, HostServices &host,
               const compiler::Node &node,
               const compiler::ValueProgram &program,
               const std::vector<std::byte *> &operands);

} // namespace poplar::engine
