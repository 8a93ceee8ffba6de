// Makes sharing of storage safe inside a node.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// A node that reads storage which it also overwrites reads a copy instead,
// unless its kind works in place there.
void resolveHazards(ValueProgram &program);

} // namespace poplar::compiler
