// Lowers the user vertices of a compute set: what they exchange before, what
// runs where, what they exchange after.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::model {

struct VertexSteps {
  std::vector<Step> before; // data from other IPUs
  // The exchange inside the IPUs and the vertices: runs of equal tiles.
  std::vector<internal::TileRun> runs;
  std::vector<Step> after; // data that is at home elsewhere, the exit status
};

VertexSteps lowerVertices(const internal::GraphData &graph,
                          const internal::ExecuteNode &execute);

} // namespace poplar::model
