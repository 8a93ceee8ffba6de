// Joins what attention is made of, so that its scores are never stored.
#pragma once

#include "compiler/ValueIr.hpp"

namespace poplar::compiler {

// Two products with a softmax between them become one "attention" where nobody
// else reads the scores. Scores or queries that one number multiplies or
// divides, and a mask that is added to scores, are part of it. A training step
// keeps the softmax's result for the gradient and stays as it is.
void fuseAttention(ValueProgram &program);

} // namespace poplar::compiler
