// The variables' share of tile memory: what is always there, the peak of the
// rest over the schedule, and the gaps that packing the rest leaves.
#pragma once

#include "model/Liveness.hpp"
#include "model/MemorySums.hpp"
#include "model/Placement.hpp"
#include "model/StepTable.hpp"

#include <cstdint>
#include <vector>

namespace poplar::model {

void addVariables(StepTable &steps, const Liveness &liveness,
                  const std::vector<Placement> &placements, MemorySums &sums);

// The bytes that best-fit packing needs for allocations with these lifetimes:
// largest first, each in the smallest hole that fits, else on top.
struct Allocation {
  std::uint64_t bytes = 0;
  std::size_t begin = 0; // lifetime, both included
  std::size_t end = 0;
};
std::uint64_t packedBytes(std::vector<Allocation> allocations);

} // namespace poplar::model
