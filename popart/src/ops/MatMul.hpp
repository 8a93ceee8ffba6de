// The matrix product, for the operators that have one inside.
#pragma once

#include <poplar/Tensor.hpp>

namespace popart {

class LoweringContext;

// Of two matrices, or of as many in a first dimension, with the session's
// options for matrix products.
poplar::Tensor emitMatMul(LoweringContext &context, const poplar::Tensor &a,
                          const poplar::Tensor &b);

} // namespace popart
