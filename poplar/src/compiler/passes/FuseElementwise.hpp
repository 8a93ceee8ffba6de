// Joins chains of element-wise operations.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// An element-wise node whose only reader is another one becomes part of the
// reader's expression, so that values in between never reach memory.
void fuseElementwise(ValueProgram &program);

} // namespace poplar::compiler
