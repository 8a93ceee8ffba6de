// The reserved prefixes of tensor names that PopART makes.
#pragma once

#include <popart/names.hpp>

namespace popart {

inline const char *reservedGradientPrefix() {
  return "Gradient___";
}
inline const char *reservedUpdatedVarPrefix() {
  return "UpdatedVar___";
}
inline const char *reservedAccumPrefix() {
  return "Accum___";
}
inline const char *reservedAcclPrefix() {
  return "Accl___";
}
inline const char *reservedAccl1Prefix() {
  return "Accl1___";
}
inline const char *reservedAccl2Prefix() {
  return "Accl2___";
}
inline const char *reservedAccl3Prefix() {
  return "Accl3___";
}
inline const char *reservedStepPrefix() {
  return "Step___";
}
inline const char *reservedCounterPrefix() {
  return "Counter___";
}
// A velocity after the step that it made.
inline const char *reservedAcclFinalOutPrefix() {
  return "AcclOutOfAcclUpdate___";
}
inline const char *reservedStashedPrefix() {
  return "Stashed___";
}
inline const char *reservedRestoredPrefix() {
  return "Restored___";
}
inline const char *reservedAnchorSumPrefix() {
  return "anchorSum___";
}
// The variable that the random numbers of a model start from: UINT32, two
// words of the session's seed.
inline const char *reservedRandomSeedId() {
  return "randomSeed___fromHost";
}
// How many gradients are too large, for automatic loss scaling.
inline const char *reservedGradientCountPrefix() {
  return "gradientCount___";
}
inline const char *reservedLossScalingPrefix() {
  return "lossScaling_";
}
// Between a scalar's name and its data type or the weight's id.
inline const char *reservedDefaultInfix() {
  return "___default___";
}
inline const char *reservedSpecificInfix() {
  return "___specific___";
}

// The gradient of a tensor.
inline TensorId getGradId(const TensorId &id) {
  return reservedGradientPrefix() + id;
}

} // namespace popart
