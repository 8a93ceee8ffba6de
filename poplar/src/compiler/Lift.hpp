// From the program tree to the value IR: variables become versions, views
// become windows, and what is not one window gets copied.
#pragma once

#include "compiler/ValueIr.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::compiler {

// `isPersistent[v]` says whether variable v keeps its value between runs.
ValueProgram lift(const internal::GraphData &graph,
                  const internal::ProgramPtr &program,
                  const std::vector<bool> &isPersistent);

} // namespace poplar::compiler
