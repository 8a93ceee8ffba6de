// How often a node of the program tree runs each of its parts: as counted, or
// as the model assumes.
#pragma once

#include "model/StepTable.hpp"

#include <cstdint>
#include <vector>

namespace poplar::model {

// times / of, for each run of the node.
struct Frequency {
  std::uint64_t times = 1;
  std::uint64_t of = 1;
};

struct Part {
  internal::ProgramPtr program; // never null
  Frequency frequency;
};

// The programs that a node runs, in order. Without counts a branch is the one
// that takes longest.
std::vector<Part> partsOf(StepTable &steps, const internal::ProgramNode &node);

// Iterations of a Repeat or While. Without counts one that nothing bounds runs
// once.
Frequency iterationsOf(const StepTable &steps,
                       const internal::ProgramNode &loop);

} // namespace poplar::model
