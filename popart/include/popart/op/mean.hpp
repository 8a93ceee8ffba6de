// The mean of any number of operands.
#pragma once

#include <popart/op/variadic.hpp>

namespace popart {

POPART_PLAIN_OP(MeanOp, VariadicOp, "ai.onnx", "Mean")

} // namespace popart
