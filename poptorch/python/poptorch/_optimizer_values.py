# What the backend is told about an optimiser: type, modes, and for each group of
# parameters the hyper-parameters with whether they may change later.
import math
import numbers

import torch

from . import optim
from ._errors import createPoptorchError
from ._logging import logger

_TYPES = {"torch.float32": "FLOAT", "torch.float16": "FLOAT16"}

# torch's attribute, PopART's name, and the value that a torch optimiser's
# attribute must have to be taken for a constant (None: never a constant,
# ALWAYS: always one).
_ALWAYS = object()
_SGD = (
    ("lr", "learningRate", None),
    ("momentum", "momentum", 0),
    ("dampening", "dampening", 0),
    ("weight_decay", "weightDecay", 0),
)
_ADAM = (
    ("lr", "learningRate", None),
    ("betas", ("beta1", "beta2"), _ALWAYS),
    ("eps", "eps", 1e-8),
    ("weight_decay", "weightDecay", 0),
)
_RMSPROP = (
    ("lr", "learningRate", None),
    ("momentum", "momentum", 0),
    ("weight_decay", "weightDecay", 0),
    ("alpha", "alpha", _ALWAYS),
    ("eps", "eps", 1e-8),
)
_ADAMW = (*_ADAM[:3], ("weight_decay", "weightDecay", 1e-2))
_LAMB = (*_ADAMW, ("max_weight_norm", "maxWeightNorm", 65500.0))


def _kind(optimizer):
    """(name, attributes) of the built-in class that `optimizer` is."""
    kinds = (
        (optim.LAMB, "LAMB", _LAMB),
        (torch.optim.SGD, "SGD", _SGD),
        (torch.optim.AdamW, "AdamW", _ADAMW),
        (torch.optim.Adam, "Adam", _ADAM),
        (torch.optim.RMSprop, "RMSprop", _RMSPROP),
    )
    for cls, name, attributes in kinds:
        if isinstance(optimizer, cls):
            return name, attributes
    raise AssertionError(
        "Unsupported optimizer type. Types supported "
        f"{[cls.__name__ for cls, _, _ in kinds]}"
    )


def _warnOfSubclass(optimizer):
    for cls in type(optimizer).__mro__:
        if cls.__module__.startswith(("torch.optim.", optim.__name__)):
            break
    if cls is not type(optimizer):
        logger.warning(
            "Optimizer `%s` subclassed from `%s`: its own Python code is not "
            "run", type(optimizer).__name__, cls.__name__,
        )  # fmt: skip


def kindOf(optimizer):
    """The name of the built-in class that `optimizer` is."""
    return _kind(optimizer)[0]


def trainedBy(optimizer):
    """The id() of each parameter that `optimizer` was given."""
    return {id(p) for group in optimizer.param_groups for p in group["params"]}


def describeOptimizer(optimizer, names, force_variable_loss_scaling=False):
    """The description that poptorch_core takes. `names` maps the id() of each
    parameter to its name."""
    kind, attributes = _kind(optimizer)
    _warnOfSubclass(optimizer)
    if any(g.get("amsgrad") for g in optimizer.param_groups):
        raise ValueError(
            "Only non-amsgrad Adam/AdamW optimizers are supported."
        )
    constness = _Constness(optimizer)
    if kind == "SGD" and getattr(optimizer, "use_combined_accum", False):
        attributes = (*attributes, ("velocity_scaling", "velocityScaling", 1.0))
    description = {
        "type": _mode(optimizer, kind),
        "use_combined_accum": getattr(optimizer, "use_combined_accum", False),
        "max_grad_norm": _clipping(optimizer),
        "use_tf_variant": getattr(optimizer, "use_tf_variant", False),
        "accum_type": _typeName(optimizer, "accum_type"),
        "first_order_type": _typeName(
            optimizer,
            "velocity_accum_type"
            if kind == "SGD"
            else "first_order_momentum_accum_type",
        ),
        "second_order_type": _typeName(
            optimizer, "second_order_momentum_accum_type"
        ),
    }
    # A single group needs no values of its own per parameter.
    groups = optimizer.param_groups
    source = groups[0] if len(groups) == 1 else optimizer.defaults
    defaults = _values(source, attributes, constness, "default")
    if kind == "SGD":
        nesterov = bool(source["nesterov"])
        defaults["nesterov"] = (float(nesterov), True)
    loss_scaling = getattr(optimizer, "loss_scaling", 1.0)
    is_constant = constness("loss_scaling", loss_scaling, 1.0)
    defaults["lossScaling"] = (
        _number("loss_scaling", loss_scaling),
        is_constant and not force_variable_loss_scaling,
    )
    description["defaults"] = defaults
    description["groups"] = [
        (
            [names[id(p)] for p in group["params"] if id(p) in names],
            _values(group, attributes, constness, ""),
        )
        for group in (groups if len(groups) > 1 else ())
    ]
    return description


def _clipping(optimizer):
    """The largest norm that gradients may have together, or None."""
    norm = getattr(optimizer, "max_grad_norm", math.inf)
    return None if math.isinf(norm) else float(norm)


def _mode(optimizer, kind):
    if kind == "LAMB" and not optimizer.bias_correction:
        return "LAMBNoBias"
    if kind == "RMSprop":
        centered = {bool(g["centered"]) for g in optimizer.param_groups}
        assert len(centered) == 1, (
            "All parameter groups must have the same value of centered"
        )
        return "RMSpropCentered" if centered.pop() else "RMSprop"
    return kind


class _Constness:
    """Decides which attributes are compiled into the program."""

    def __init__(self, optimizer):
        self._explicit = getattr(optimizer, "variable_attrs", None)

    def __call__(self, name, value, reference):
        if self._explicit is not None:
            return self._explicit.isConstant(name)
        if reference is _ALWAYS:
            return True
        return reference is not None and value == reference


def _values(group, attributes, constness, prefix):
    values = {}
    for name, popart_name, reference in attributes:
        if name not in group:
            raise createPoptorchError(
                f"Mandatory attribute {name} not found in optimizer group"
            )
        value = group[name]
        is_constant = constness(name, value, reference)
        if isinstance(popart_name, tuple):
            if not isinstance(value, (tuple, list)) or len(value) != 2:
                raise createPoptorchError(
                    f"Expected a pair of numbers for {name} but got {value!r}"
                )
            pairs = zip(popart_name, value)
        else:
            pairs = ((popart_name, value),)
        for key, number in pairs:
            if prefix:
                key = prefix + key[0].upper() + key[1:]
            values[key] = (_number(name, number), is_constant)
    return values


def _number(name, value):
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    if not isinstance(value, numbers.Number):
        raise createPoptorchError(
            f"Expected a number for {name} but got {value!r}"
        )
    return float(value)


def _typeName(optimizer, attribute):
    return _TYPES[str(getattr(optimizer, attribute, torch.float32))]
