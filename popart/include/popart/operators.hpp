// The domains that operators are in, and the names of all that there are.
#pragma once

#include <popart/operatoridentifier.hpp>
#include <popart/opidentifiers.hpp>

namespace popart {
namespace Domain {

constexpr const char *ai_onnx = "ai.onnx";
constexpr const char *ai_onnx_ml = "ai.onnx.ml";
constexpr const char *ai_graphcore = "ai.graphcore";

} // namespace Domain

// An operator of ai.graphcore in its only version.
struct AiGraphcoreOpIdV1 : OperatorIdentifier {
  // NOLINTNEXTLINE(google-explicit-constructor): as the documentation has it
  AiGraphcoreOpIdV1(const char *type, NumInputs inputs = {}, int outputs = 0)
      : OperatorIdentifier(Domain::ai_graphcore, type, 1, inputs, outputs) {}
};

} // namespace popart
