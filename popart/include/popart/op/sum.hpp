// The sum of any number of operands.
#pragma once

#include <popart/op/variadic.hpp>

namespace popart {

POPART_PLAIN_OP(SumOp, VariadicOp, "ai.onnx", "Sum")

} // namespace popart
