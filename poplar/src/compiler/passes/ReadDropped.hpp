// Lets gradients of activations look at what dropout made of them.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// The gradient of dropout(relu(x)) is dropout(g) * step(relu(x)). Where an
// element was dropped, dropout(g) is zero already; elsewhere dropout(relu(x))
// has the sign of relu(x). Reading the former, which the next layer's gradients
// need anyway, frees the latter as soon as it has been dropped.
void readDropped(ValueProgram &program);

} // namespace poplar::compiler
