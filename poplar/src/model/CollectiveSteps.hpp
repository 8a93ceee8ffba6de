// Lowers collectives between replicas to steps.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::model {

// Rings of neighbours are one step that stands for all of their rounds;
// all-to-all and broadcast are copies between IPUs.
std::vector<Step> lowerCollective(const internal::GraphData &graph,
                                  const internal::CollectiveNode &node);

} // namespace poplar::model
