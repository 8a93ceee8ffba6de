// The reserved prefixes of tensor names that PopART makes.
#pragma once

#include <popart/names.hpp>

// X(Name, prefix): reserved<Name>Prefix() is the prefix.
#define POPART_RESERVED_PREFIXES(X)                                            \
  X(Gradient, "Gradient___")                                                   \
  X(UpdatedVar, "UpdatedVar___")                                               \
  X(Accum, "Accum___")                                                         \
  X(Accl, "Accl___")                                                           \
  X(Accl1, "Accl1___")                                                         \
  X(Accl2, "Accl2___")                                                         \
  X(Accl3, "Accl3___")                                                         \
  X(Step, "Step___")                                                           \
  X(Counter, "Counter___")                                                     \
  X(AcclToReduce, "AcclIntoReduce___")                                         \
  X(AcclToUpdate, "AcclIntoUpdate___")                                         \
  X(AcclFinalOut, "AcclOutOfAcclUpdate___")                                    \
  X(FinalReducedGrad, "FinalReducedGradient___")                               \
  X(AdamUpdater, "AdamUpdater___")                                             \
  X(AdaptiveUpdater, "AdaptiveUpdater___")                                     \
  X(LambR1Sq, "LambR1Sq___")                                                   \
  X(LambR2Sq, "LambR2Sq___")                                                   \
  X(Stashed, "Stashed___")                                                     \
  X(Restored, "Restored___")                                                   \
  X(RemoteArg, "RemoteArg___")                                                 \
  X(GlobalNorm, "GlobalNorm___")                                               \
  X(Index, "Index___")                                                         \
  X(Init, "Init___")                                                           \
  X(ConcatInit, "ConcatInit___")                                               \
  X(ConstValue, "ConstValue___")                                               \
  X(LoopIterator, "Iterator___")                                               \
  X(LoopCond, "LoopCond___")                                                   \
  X(CycleCount, "cycleCount___")                                               \
  X(AnchorSum, "anchorSum___")                                                 \
  X(AnchorFinal, "anchorFinal___")                                             \
  X(LossScaling, "lossScaling_")                                               \
  X(AutomaticLossScaleProxy, "AutomaticLossScaleProxy___")                     \
  X(LossScaleUpdateFactor, "lossScaleUpdateFactor")                            \
  X(RandomSeed, "randomSeed___")                                               \
  X(SeedModifier, "randomSeedModifier___")

// X(Name, scalar): an optimiser's scalar that all weights share has
// reservedDefault<Name>Prefix() and its type as a name, that of one weight
// reservedSpecific<Name>Prefix() and the weight's id.
#define POPART_RESERVED_SCALARS(X)                                             \
  X(ScaledLearningRate0, "scaledLearningRate0")                                \
  X(ScaledLearningRate1, "scaledLearningRate1")                                \
  X(ScaledLearningRate2, "scaledLearningRate2")                                \
  X(WeightDecayScaleFactor0, "weightDecayScaleFactor0")                        \
  X(ScaledWeightDecay1, "scaledWeightDecay1")                                  \
  X(DampeningScaleFactor1, "dampeningScaleFactor1")                            \
  X(DampeningScaleFactor2, "dampeningScaleFactor2")                            \
  X(ScaledMomentum1, "scaledMomentum1")                                        \
  X(ScaledMomentum2, "scaledMomentum2")                                        \
  X(SgdWeightDecay, "sgdWeightDecay")                                          \
  X(SgdMomentum, "sgdMomentum")                                                \
  X(NesterovGradScaleFactor1, "nesterovGradScaleFactor1")                      \
  X(NesterovGradScaleFactor2, "nesterovGradScaleFactor2")                      \
  X(NesterovDampeningScaleFactor1, "nesterovDampeningScaleFactor1")            \
  X(NesterovDampeningScaleFactor2, "nesterovDampeningScaleFactor2")            \
  X(LearningRate, "learningRate")                                              \
  X(WeightDecay, "weightDecay")                                                \
  X(AdamBeta1, "adamBeta1")                                                    \
  X(AdamBeta2, "adamBeta2")                                                    \
  X(AdamEps, "adamEps")                                                        \
  X(AdamGradientScaling, "adamGradientScaling")                                \
  X(MaxWeightNorm, "maxWeightNorm")                                            \
  X(AdaptiveAlpha, "adaptiveAlpha")                                            \
  X(AdaptiveMomentum, "adaptiveMomentum")                                      \
  X(AdaptiveEps, "adaptiveEps")                                                \
  X(AdaptiveGradientScaling, "adaptiveGradientScaling")                        \
  X(LossScaling, "lossScaling")                                                \
  X(Step, "step")

namespace popart {

#define POPART_PREFIX_FUNCTION(NAME, PREFIX)                                   \
  inline const char *reserved##NAME##Prefix() {                                \
    return PREFIX;                                                             \
  }
#define POPART_SCALAR_FUNCTIONS(NAME, SCALAR)                                  \
  POPART_PREFIX_FUNCTION(Default##NAME, SCALAR "___default___")                \
  POPART_PREFIX_FUNCTION(Specific##NAME, SCALAR "___specific___")
POPART_RESERVED_PREFIXES(POPART_PREFIX_FUNCTION)
POPART_RESERVED_SCALARS(POPART_SCALAR_FUNCTIONS)
#undef POPART_SCALAR_FUNCTIONS
#undef POPART_PREFIX_FUNCTION

// How many gradients are too large, for automatic loss scaling.
inline const char *reservedGradientCountPrefix() {
  return "gradientCount___";
}
// Between a scalar's name and its data type or the weight's id.
inline const char *reservedDefaultInfix() {
  return "___default___";
}
inline const char *reservedSpecificInfix() {
  return "___specific___";
}
// The variable that the random numbers of a model start from: UINT32, two
// words of the session's seed, and the micro-batches that have been drawn for.
// Other pipeline stages have variables whose names start with it.
inline const char *reservedRandomSeedId() {
  return "randomSeed___fromHost";
}
inline bool isRandomSeed(const TensorId &id) {
  return id.rfind(reservedRandomSeedId(), 0) == 0;
}

// The gradient of a tensor.
inline TensorId getGradId(const TensorId &id) {
  return reservedGradientPrefix() + id;
}

} // namespace popart
