// Which variables a program looks at before it has written them: those keep
// their values from one run, or one iteration, to the next.
#pragma once

#include "compiler/ControlTree.hpp"

#include <vector>

namespace poplar::compiler {

struct VariableUse {
  bool isWritten = false;
  // Some element is read before it is surely written.
  bool isExposed = false;
  // Every element is surely written.
  bool isCovered = false;
};

// One entry for each variable of the graph.
std::vector<VariableUse> findVariableUses(const internal::GraphData &graph,
                                          const internal::ProgramPtr &program);

// What variables are to the value IR, by variable.
struct VariableRoles {
  // Values are kept from one stretch of a program to the next: exposed ones,
  // those that control depends on, those with an initial value, those the host
  // reads or writes, and pinned ones.
  std::vector<bool> isPersistent;
  // Every version lies in the variable's own storage: vertices' fields hold
  // its address.
  std::vector<bool> isPinned;
  std::vector<bool> isDecision; // control depends on it
};
VariableRoles findRoles(const internal::GraphData &graph,
                        const ControlProgram &control);

} // namespace poplar::compiler
