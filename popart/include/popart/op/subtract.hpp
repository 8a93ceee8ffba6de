// Differences.
#pragma once

#include <popart/op/elementwise.hpp>

namespace popart {

POPART_PLAIN_OP(SubtractOp, ElementWiseBinaryOp, "ai.onnx", "Sub")

} // namespace popart
