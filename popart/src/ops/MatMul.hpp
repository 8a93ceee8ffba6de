// The matrix product, for the operators that have one inside.
#pragma once

#include <popart/names.hpp>
#include <popart/tensorinfo.hpp>

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <optional>
#include <string>

namespace popart {

class LoweringContext;
class Op;

// Of two matrices, or of as many in a first dimension, planned with the
// session's options for matrix products and those of `op`. The result has the
// operands' type unless another is named.
poplar::Tensor emitMatMul(LoweringContext &context, const Op &op,
                          const poplar::Tensor &a, const poplar::Tensor &b,
                          DataType outputType = DataType::UNDEFINED);

// A variable in `graph` for input `index` of a MatMul or Gemm, laid out as the
// plan of the product wants it. None for other operations and inputs, nor for
// products of more than two matrices.
std::optional<poplar::Tensor> createMatMulOperand(LoweringContext &context,
                                                  poplar::Graph &graph,
                                                  const Op &op, InIndex index,
                                                  const std::string &name);

} // namespace popart
