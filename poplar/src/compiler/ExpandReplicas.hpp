// A replicated graph as a plain one: every variable, vertex and program once
// for each replica, so that the rest of the compiler need not know of replicas
// and their work overlaps like any other independent work.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <unordered_map>
#include <vector>

namespace poplar::compiler {

struct ExpandedGraph {
  internal::GraphData graph;
  std::vector<internal::ProgramPtr> programs;
  // What each program whose course depends on data was made from.
  std::unordered_map<const internal::ProgramNode *,
                     const internal::ProgramNode *>
      origins;
};

// Variables of replica 0 keep their ids; constants are shared. Control that
// depends on data is followed by each replica for itself, except around copies
// between replicas, where all follow replica 0. Host access covers all
// replicas, one after another. Costs (phases) are left out.
ExpandedGraph expandReplicas(const internal::GraphData &graph,
                             const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::compiler
