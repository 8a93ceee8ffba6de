// The least of any number of operands.
#pragma once

#include <popart/op/variadic.hpp>

namespace popart {

POPART_PLAIN_OP(MinOp, VariadicOp, "ai.onnx", "Min")

} // namespace popart
