// When the variables of a graph hold values that are still needed, over the
// leaves and decisions of all its programs in order: bodies of loops once,
// branches one after another, functions at each call.
#pragma once

#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <cstddef>
#include <vector>

namespace poplar::model {

// Alive from leaf `begin` to leaf `end`, both included.
struct LiveRange {
  internal::VariableId variable;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Liveness {
  std::vector<const internal::ProgramNode *> schedule; // in order
  // Variables that keep their memory all the time: constants, initial values,
  // host access, used by several programs, read before written.
  std::vector<internal::VariableId> alwaysLive;
  std::vector<LiveRange> ranges; // of the others, ascending begin
};

Liveness analyseLiveness(const internal::GraphData &graph,
                         const std::vector<internal::ProgramPtr> &programs);

} // namespace poplar::model
