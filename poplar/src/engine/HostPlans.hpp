// Plans of the value-IR nodes that are not kernels: streams, what the host
// serves, and users' vertices.
#pragma once

#include "compiler/ValueIr.hpp"
#include "engine/FloatTraps.hpp"
#include "engine/HostServices.hpp"
#include "engine/VertexSet.hpp"

#include <kernels/KernelEntry.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace poplar::engine {

// A transfer between the host and one operand.
std::unique_ptr<kernels::Plan> makeStreamPlan(HostServices &host,
                                              const compiler::Node &node);

std::unique_ptr<kernels::Plan>
makeHostPlan(HostServices &host, const compiler::Node &node,
             const compiler::ValueProgram &program);

std::unique_ptr<kernels::Plan>
makeVertexPlan(const internal::GraphData &graph, HostServices &host,
               const compiler::Node &node,
               const compiler::ValueProgram &program,
               const VertexSet &vertices);

// The same calculation, watched.
std::shared_ptr<const kernels::Plan>
makeTrappingPlan(std::shared_ptr<const kernels::Plan> plan,
                 const FloatTraps &traps, const std::string &name);

} // namespace poplar::engine
