// What the model says that one run of a program takes.
#pragma once

#include <poplar/internal/GraphData.hpp>
#include <poplar/internal/ProgramNode.hpp>

#include <cstdint>

namespace poplar::model {

// Cycles from the first tile's start to the last one's end. Data-dependent
// programs are taken to run as docs/model.md assumes.
std::uint64_t estimateCycles(const internal::GraphData &graph,
                             const internal::ProgramPtr &program);

} // namespace poplar::model
