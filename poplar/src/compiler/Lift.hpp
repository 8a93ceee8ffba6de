// From the program tree to the value IR: variables become versions, views
// become windows, and what is not one window gets copied.
#pragma once

#include "compiler/Coverage.hpp"
#include "compiler/ValueIr.hpp"

#include <poplar/internal/ProgramNode.hpp>

#include <vector>

namespace poplar::compiler {

ValueProgram lift(const internal::GraphData &graph,
                  const internal::ProgramPtr &program,
                  const VariableRoles &roles);

} // namespace poplar::compiler
