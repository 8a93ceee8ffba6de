// The matrix product, for the operators that have one inside.
#pragma once

#include <popart/tensorinfo.hpp>

#include <poplar/Tensor.hpp>

namespace popart {

class LoweringContext;
class Op;

// Of two matrices, or of as many in a first dimension, planned with the
// session's options for matrix products and those of `op`. The result has the
// operands' type unless another is named.
poplar::Tensor emitMatMul(LoweringContext &context, const Op &op,
                          const poplar::Tensor &a, const poplar::Tensor &b,
                          DataType outputType = DataType::UNDEFINED);

} // namespace popart
