// The constants' share of tile memory: equal ones of a tile are there once.
#pragma once

#include "model/MemorySums.hpp"
#include "model/Placement.hpp"
#include <poplar/internal/GraphData.hpp>

#include <vector>

namespace poplar::model {

// Adds those of `variables` that are constants.
void addConstants(const internal::GraphData &graph,
                  const std::vector<internal::VariableId> &variables,
                  const std::vector<Placement> &placements, MemorySums &sums);

} // namespace poplar::model
