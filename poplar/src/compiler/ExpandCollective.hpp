// A collective between replicas as operations and copies of the graph in which
// every replica has variables of its own.
#pragma once

#include "compiler/ExpandReplicas.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <functional>

namespace poplar::compiler {

// The view of a replica; of one that another engine runs, what was exchanged.
using ReplicaView = std::function<internal::TensorView(
    const internal::TensorView &view, unsigned replica)>;

// Adds what it needs to `graph`. Elements are combined in the order of the
// group's members, whatever the number of threads; one copy at the end writes
// all destinations, which are those of the replicas that the engine runs.
internal::ProgramPtr expandCollective(internal::GraphData &graph,
                                      const internal::CollectiveNode &node,
                                      const std::string &debugPath,
                                      const RuntimeReplicas &runtime,
                                      const ReplicaView &viewOf);

} // namespace poplar::compiler
