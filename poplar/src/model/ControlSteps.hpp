// Lowers what steers programs, and what leaves the replica, to steps.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::model {

// Every tile of every IPU learns the value of a condition and branches by it.
std::vector<Step> lowerCondition(const internal::GraphData &graph,
                                 const internal::TensorView &condition);

Step lowerSync(const internal::SyncNode &sync);

// The replicas lie one after another on the ladder of IPUs.
Step lowerCrossReplicaCopy(const internal::GraphData &graph,
                           const internal::CrossReplicaCopyNode &copy);

} // namespace poplar::model
