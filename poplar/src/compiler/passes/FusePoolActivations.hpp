// Lets max pools and their gradients do the RELU next to them.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// A "maxPool" with `activation` RELU marks, in its indices, the windows that
// the RELU blocks, and "maxPoolGrad" lets no gradient through there. So
// - where a pool reads the result of a RELU, the RELU's gradient behind the
//   pool's is left to the pool's gradient;
// - where a RELU reads the result of a pool, the pool applies it and the pool's
//   gradient does the RELU's as well.
void fusePoolActivations(ValueProgram &program);

} // namespace poplar::compiler
