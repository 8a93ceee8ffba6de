// What a program computes of variables that nothing changes while it runs,
// taken out of it: computed again only when those variables have changed.
#pragma once

#include "compiler/ValueIr.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace poplar::compiler {

struct ConstantPart {
  ValueProgram program;
  std::vector<internal::VariableId> sources; // what it reads
};

// Takes nodes out of the program's body that read nothing but such variables
// and each other. What the rest reads of them becomes a variable that
// `addVariable(bytes)` makes storage for; it may have any layout. Kernels must
// have been chosen.
std::optional<ConstantPart> splitConstants(
    ValueProgram &program,
    const std::function<internal::VariableId(std::size_t)> &addVariable);

} // namespace poplar::compiler
