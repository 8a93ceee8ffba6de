// What vertices and transfers ask of the memory of a variable.
#pragma once

#include "model/Constants.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <cstdint>
#include <vector>

namespace poplar::model {

struct Placement {
  std::uint32_t alignment = allocationBytes; // of each contiguous share
  bool isInterleaved = false;                // only in interleaved memory
};

// By variable. Fields of user vertices ask for alignment and interleaving,
// streams and remote buffers for the alignment of their packets.
std::vector<Placement>
placementsOf(const internal::GraphData &graph,
             const std::vector<const internal::ProgramNode *> &schedule);

} // namespace poplar::model
