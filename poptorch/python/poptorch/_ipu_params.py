# `ipu_param` of an optimiser's state_dict(): the hyper-parameters that may change
# while the program runs, by the names and in the products that PopART has for
# them, one for each parameter.
import torch

from . import enums

_ADAM = {
    "learningRate": "learningRate",
    "weightDecay": "weightDecay",
    "beta1": "adamBeta1",
    "beta2": "adamBeta2",
    "eps": "adamEps",
    "maxWeightNorm": "maxWeightNorm",
}
_ADAPTIVE = {
    "learningRate": "learningRate",
    "weightDecay": "weightDecay",
    "alpha": "adaptiveAlpha",
    "momentum": "adaptiveMomentum",
    "eps": "adaptiveEps",
}


class _Scale:
    """How gradients of micro-batches and replicas become one."""

    def __init__(self, options):
        training = options.Training
        reduction = training.accumulation_and_replication_reduction_type
        strategy = training.meanAccumulationAndReplicationReductionStrategy
        self.accumulation = training.gradient_accumulation
        self.replicas = (
            options.replication_factor * options.Distributed.numProcesses
        )
        self.is_mean = reduction == enums.ReductionType.Mean
        is_late = strategy == enums.MeanReductionStrategy.Post
        # What is left for the optimiser to divide by.
        self.divisor = (
            self.accumulation * self.replicas
            if self.is_mean and is_late
            else 1
        )


def _withoutState(lr, wd, dm, ls, scale, **_):
    return {
        "scaledLearningRate0": (lr * (1 - dm) / (ls * scale.divisor), "lds"),
        "weightDecayScaleFactor0": (1 - lr * (1 - dm) * wd, "ldw"),
    }


def _combined(lr, wd, mm, dm, vs, ls, scale):
    """Gradients are added to the velocity as they come."""
    accumulates = scale.accumulation > 1
    share = scale.replicas if accumulates else 1
    damping = (1 - dm) * vs / ls
    if accumulates and not scale.is_mean:
        damping *= scale.replicas
    elif scale.is_mean:
        damping /= scale.accumulation if accumulates else scale.replicas
    return {
        "scaledLearningRate1": (lr / (vs * share), "lv"),
        "scaledWeightDecay1": ((1 - dm) * wd * vs, "dwv"),
        "dampeningScaleFactor1": (damping, "dvs"),
        "scaledMomentum1": (mm / share, "m"),
    }


def _separate(lr, wd, mm, dm, vs, ls, scale):
    return {
        "scaledLearningRate2": (lr / vs, "lv"),
        "scaledWeightDecay1": ((1 - dm) * wd * vs, "dwv"),
        "dampeningScaleFactor2": ((1 - dm) * vs / (ls * scale.divisor), "dvs"),
        "scaledMomentum2": (mm, "m"),
    }


# Letters of the products' factors above.
_SGD = {
    "l": "learningRate",
    "w": "weightDecay",
    "m": "momentum",
    "d": "dampening",
    "v": "velocityScaling",
    "s": "lossScaling",
}


def _ofSgd(values, combined, scale):
    """{name: (number, whether it is constant)}."""
    one = (1.0, True)
    momentum, is_constant = values["momentum"]
    if momentum == 0 and is_constant and scale.accumulation == 1:
        formula = _withoutState
    else:
        formula = _combined if combined else _separate
    products = formula(
        lr=values["learningRate"][0],
        wd=values["weightDecay"][0],
        mm=momentum,
        dm=values["dampening"][0],
        vs=values.get("velocityScaling", one)[0],
        ls=values["lossScaling"][0],
        scale=scale,
    )
    return {
        name: (number, all(values.get(_SGD[f], one)[1] for f in factors))
        for name, (number, factors) in products.items()
    }


def _ofAdaptive(kind, values, scale):
    is_adaptive = kind.startswith("RMSprop")
    names = _ADAPTIVE if is_adaptive else _ADAM
    scaling, is_constant = values["lossScaling"]
    gradient = "adaptive" if is_adaptive else "adam"
    return {
        **{names[key]: value for key, value in values.items() if key in names},
        f"{gradient}GradientScaling": (
            1 / (scaling * scale.divisor), is_constant,
        ),
    }  # fmt: skip


def _withoutPrefix(defaults):
    """{"defaultMomentum": ...} as {"momentum": ...}."""
    return {
        key[7:8].lower() + key[8:] if key.startswith("default") else key: value
        for key, value in defaults.items()
    }


def ipuParams(description, parameters, options):
    """`description` is that of _optimizer_values.py; `parameters` are names."""
    scale = _Scale(options)
    defaults = _withoutPrefix(description["defaults"])
    specific = {
        name: values
        for names, values in description["groups"]
        for name in names
    }
    params = {}
    for parameter in parameters:
        values = {**defaults, **specific.get(parameter, {})}
        found = (
            _ofSgd(values, description["use_combined_accum"], scale)
            if description["type"] == "SGD"
            else _ofAdaptive(description["type"], values, scale)
        )
        for name, (number, is_constant) in found.items():
            if not is_constant:
                params[f"{name}___specific___{parameter}"] = torch.tensor(number)
    return params
