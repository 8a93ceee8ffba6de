// Vertices and their cycles by vertex type.
#pragma once

#include "model/StepTable.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace poplar::model {

struct VertexTypeCost {
  std::uint64_t instances = 0; // in the compute sets that run
  std::uint64_t cycles = 0;    // of all executions, summed over the vertices
};

// `runs[i]` is how often programs[i] runs.
std::map<std::string, VertexTypeCost>
costByVertexType(StepTable &steps,
                 const std::vector<internal::ProgramPtr> &programs,
                 std::span<const std::uint64_t> runs);

} // namespace poplar::model
