"""The prefixes of tensor names that PopART makes itself, as functions."""

_PREFIXES = {
    "Gradient": "Gradient___",
    "UpdatedVar": "UpdatedVar___",
    "Accum": "Accum___",
    "Accl": "Accl___",
    "Accl1": "Accl1___",
    "Accl2": "Accl2___",
    "Accl3": "Accl3___",
    "Step": "Step___",
    "Counter": "Counter___",
    "AcclToReduce": "AcclIntoReduce___",
    "AcclToUpdate": "AcclIntoUpdate___",
    "AcclFinalOut": "AcclOutOfAcclUpdate___",
    "FinalReducedGrad": "FinalReducedGradient___",
    "AdamUpdater": "AdamUpdater___",
    "AdaptiveUpdater": "AdaptiveUpdater___",
    "LambR1Sq": "LambR1Sq___",
    "LambR2Sq": "LambR2Sq___",
    "Stashed": "Stashed___",
    "Restored": "Restored___",
    "RemoteArg": "RemoteArg___",
    "GlobalNorm": "GlobalNorm___",
    "Index": "Index___",
    "Init": "Init___",
    "ConcatInit": "ConcatInit___",
    "ConstValue": "ConstValue___",
    "LoopIterator": "Iterator___",
    "LoopCond": "LoopCond___",
    "CycleCount": "cycleCount___",
    "AnchorSum": "anchorSum___",
    "AnchorFinal": "anchorFinal___",
    "LossScaling": "lossScaling_",
    "AutomaticLossScaleProxy": "AutomaticLossScaleProxy___",
    "LossScaleUpdateFactor": "lossScaleUpdateFactor",
    "RandomSeed": "randomSeed___",
    "SeedModifier": "randomSeedModifier___",
}

# Each has a value for all weights and values for single ones.
_SCALARS = (
    "scaledLearningRate0", "scaledLearningRate1", "scaledLearningRate2",
    "weightDecayScaleFactor0", "scaledWeightDecay1", "dampeningScaleFactor1",
    "dampeningScaleFactor2", "scaledMomentum1", "scaledMomentum2",
    "sgdWeightDecay", "sgdMomentum", "nesterovGradScaleFactor1",
    "nesterovGradScaleFactor2", "nesterovDampeningScaleFactor1",
    "nesterovDampeningScaleFactor2", "learningRate", "weightDecay",
    "adamBeta1", "adamBeta2", "adamEps", "adamGradientScaling",
    "maxWeightNorm", "adaptiveAlpha", "adaptiveMomentum", "adaptiveEps",
    "adaptiveGradientScaling", "lossScaling", "step",
)  # fmt: skip


def _define(name: str, prefix: str) -> str:
    def function() -> str:
        return prefix

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"'{prefix}'"
    globals()[name] = function
    return name


__all__ = [_define(f"reserved{name}Prefix", prefix)
           for name, prefix in _PREFIXES.items()]
for _scalar in _SCALARS:
    _title = _scalar[0].upper() + _scalar[1:]
    for _kind in ("Default", "Specific"):
        __all__.append(_define(f"reserved{_kind}{_title}Prefix",
                               f"{_scalar}___{_kind.lower()}___"))
