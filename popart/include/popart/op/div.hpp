// Quotients.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

POPART_PLAIN_OP(DivOp, ElementWiseBinaryOp, "ai.onnx", "Div")

} // namespace popart
