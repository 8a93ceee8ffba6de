// The domains that operators are in, and the names of all that there are.
#pragma once

#include <popart/opidentifiers.hpp>

namespace popart {
namespace Domain {

constexpr const char *ai_onnx = "ai.onnx";
constexpr const char *ai_onnx_ml = "ai.onnx.ml";
constexpr const char *ai_graphcore = "ai.graphcore";

} // namespace Domain
} // namespace popart
