// A replicated graph as a plain one: every variable, vertex and program once
// for each replica, so that the rest of the compiler need not know of replicas
// and their work overlaps like any other independent work.
#pragma once

#include <poplar/internal/ProgramNode.hpp>

#include <unordered_map>
#include <vector>

namespace poplar::compiler {

// The replicas that one engine runs, `first` and those after it; others are
// run by other engines, each with as many.
struct RuntimeReplicas {
  unsigned first = 0;
  unsigned count = 1;

  bool has(unsigned replica) const {
    return first <= replica && replica < first + count;
  }
  // Whether some of the replicas are run by another engine than the others.
  bool areApart(const std::vector<unsigned> &replicas) const;
};

struct ExpandedGraph {
  internal::GraphData graph;
  std::vector<internal::ProgramPtr> programs;
  // What each program whose course depends on data was made from.
  std::unordered_map<const internal::ProgramNode *,
                     const internal::ProgramNode *>
      origins;
};

// Variables of the first replica keep their ids; constants are shared. Control
// that depends on data is followed by each replica for itself, except around
// copies between replicas, where all follow the first. Host access covers all
// replicas, one after another. Costs (phases) are left out. What replicas of
// other engines have is exchanged through streams of the host
// (ExchangeReplicas.hpp).
ExpandedGraph expandReplicas(const internal::GraphData &graph,
                             const std::vector<internal::ProgramPtr> &programs,
                             const RuntimeReplicas &runtime);

} // namespace poplar::compiler
