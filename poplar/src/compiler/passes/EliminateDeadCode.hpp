// Removes what nothing observes.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// Keeps streams, what they send, what bound variables hold at the end and
// whatever those need; drops other nodes and values that loops carry for
// nobody.
void eliminateDeadCode(ValueProgram &program);

} // namespace poplar::compiler
