// Lets readers and writers see through copies.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// Readers of a copy read what was copied, through a composed window, where that
// is still intact. Copies that lose all readers are dead code.
void forwardCopies(ValueProgram &program);

// A node whose only reader copies its result elsewhere defines that place
// itself; the copy goes.
void forwardResults(ValueProgram &program);

} // namespace poplar::compiler
