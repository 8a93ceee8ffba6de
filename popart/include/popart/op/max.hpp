// The greatest of any number of operands.
#pragma once

#include <popart/op/variadic.hpp>

namespace popart {

POPART_PLAIN_OP(MaxOp, VariadicOp, "ai.onnx", "Max")

} // namespace popart
