// Lowers the execution of a compute set to steps.
#pragma once

#include "model/Step.hpp"
#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::model {

// Phase k of all vertex groups is one step; user vertices run with the first.
std::vector<Step> lowerExecute(const internal::GraphData &graph,
                               const internal::ExecuteNode &execute);

} // namespace poplar::model
