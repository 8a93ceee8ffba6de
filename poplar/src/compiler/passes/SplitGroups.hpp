// Cuts dimensions in two where that lets a node do without a copy.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// Heads of attention, for example: a product over batch times heads as one
// dimension of groups reads a copy of what a projection left elsewhere, since
// no one stride leads from group to group. With two dimensions of groups it can
// read, and write, where the copy does. Element-wise nodes are cut alike. The
// copies that are then useless are for forwardCopies and forwardResults.
void splitGroups(ValueProgram &program);

} // namespace poplar::compiler
