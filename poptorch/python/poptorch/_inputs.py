# The arguments of a wrapper's call: bound to forward()'s parameters, cut to one
# micro-batch for tracing, checked against the first call afterwards.
import inspect

import torch

from . import _structure, enums
from ._dtypes import deviceDtype, deviceType
from ._errors import createPoptorchError
from ._input_match import InputMatch, TensorSpec
from ._logging import logger

_Kind = inspect.Parameter
_POSITIONAL = (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)


def _anything(*args, **kwargs):
    """The signature of functions that have none."""


class ArgumentBinder:
    """Turns a call's arguments into forward()'s, defaults filled in."""

    def __init__(self, function):
        try:
            self._signature = inspect.signature(function)
        except ValueError:  # a function of torch's C++ has none
            self._signature = inspect.signature(_anything)
        parameters = list(self._signature.parameters.values())
        kinds = [p.kind for p in parameters]
        self._has_args = _Kind.VAR_POSITIONAL in kinds
        self._has_kwargs = _Kind.VAR_KEYWORD in kinds
        # By position, and by name alone.
        self._parameters = [p for p in parameters if p.kind in _POSITIONAL]
        self._keywords = [p for p in parameters if p.kind == _Kind.KEYWORD_ONLY]
        self._names = [p.name for p in self._parameters]

    def bind(self, args, kwargs):
        """(args, kwargs) with every parameter that has a position in args."""
        if len(args) > len(self._names) and not self._has_args:
            raise AssertionError(
                f"Too many arguments provided: expected {self._names} "
                f"({len(self._names)}) but got {len(args)}"
            )
        names = self._names + [p.name for p in self._keywords]
        if not self._has_kwargs:
            for name in kwargs:
                assert name in names, (
                    f"{name} is not a valid parameter.Allowed values are "
                    f"{names}"
                )
        for name in self._names[: len(args)]:
            if name in kwargs:
                raise createPoptorchError(
                    f"Parameter {name} was passed more than once"
                )
        for parameter in self._parameters[len(args) :] + self._keywords:
            if (
                parameter.default is parameter.empty
                and parameter.name not in kwargs
            ):
                raise createPoptorchError(
                    f"Mandatory parameter {parameter.name} missing"
                )
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def name(self, position):
        if position < len(self._names):
            return self._names[position]
        return f"args[{position - len(self._names)}]"

    def mapTensors(self, args, kwargs, function):
        """Applies function(name, tensor) to each, in a fixed order."""
        args = tuple(
            _structure.mapTensors(a, function, self.name(i))
            for i, a in enumerate(args)
        )
        kwargs = {
            k: _structure.mapTensors(v, function, k)
            for k, v in kwargs.items()
        }
        return args, kwargs


def collectTensors(binder, args, kwargs):
    """All tensors of a call, as (name, tensor)."""
    tensors = []

    def collect(name, tensor):
        tensors.append((name, tensor))
        return tensor

    binder.mapTensors(args, kwargs, collect)
    return tensors


def checkBatch(name, tensor, options, accumulation):
    """The rows of one micro-batch of `tensor`."""
    iterations = options.device_iterations
    groups = options.replication_factor // options.input_group_size
    steps = iterations * groups * accumulation
    rows = tensor.shape[0] if tensor.dim() else 1
    assert rows % steps == 0, (
        f"Invalid batch dimension: In the input {name} {tuple(tensor.shape)}, "
        f"the batch dimension ({rows}) must be a multiple of "
        f"Options.deviceIterations({iterations}) * "
        f"(Options.replicationFactor({options.replication_factor}) / "
        f"Options.inputReplicaGrouping({options.input_group_size})) * "
        f"Options.Training.gradientAccumulation({accumulation}) = {steps} "
        "because it is used to calculate the batch size which will be "
        "executed on the device in any given iteration. For a full "
        "explanation see the batching semantics page of the documentation."
    )
    return rows // steps


def microBatch(name, tensor, options, accumulation):
    """What forward() sees of an input: its first micro-batch."""
    if tensor.numel() == 0:
        raise createPoptorchError(
            "Zero-sized tensors are unsupported (Got shape "
            f"{list(tensor.shape)})."
        )
    deviceType(tensor.dtype)
    if tensor.requires_grad:
        logger.warning(
            "Input tensor %s has requires_grad=True set: it is detached", name
        )
        tensor = tensor.detach()
    if not tensor.is_contiguous():
        logger.warning(
            "At least one input tensor is not contiguous: it is copied"
        )
    rows = checkBatch(name, tensor, options, accumulation)
    return tensor.narrow(0, 0, rows) if tensor.dim() else tensor


class InputPlan:
    """The inputs that a model was compiled for, and the way from a call's
    arguments to the addresses that the device reads."""

    def __init__(self, binder, args, kwargs, options, accumulation):
        if any(isinstance(a, dict) for a in (*args, *kwargs.values())):
            logger.warning(
                "Dicts as inputs only have partial support: they must have the "
                "same keys in every call"
            )
        self._binder = binder
        self._groups = _groupOfEachReplica(options)
        self._steps = options.device_iterations * accumulation
        self._match = InputMatch(
            binder,
            *binder.mapTensors(
                args, kwargs, lambda _, t: TensorSpec(t.shape, t.dtype)
            ),
        )
        tensors = [t for _, t in collectTensors(binder, args, kwargs)]
        self._tensors = [(t.shape, t.dtype) for t in tensors]
        # The usual call: tensors by position and nothing else.
        self._is_flat = not kwargs and all(
            isinstance(a, torch.Tensor) for a in args
        )
        self._converted = [deviceDtype(t.dtype) for t in tensors]

    def tensors(self, args, kwargs):
        """The tensors of a call, as the device takes them. Raises the
        documented error when they are not those of the compilation."""
        if self._is_flat and not kwargs and len(args) == len(self._tensors):
            tensors = args
            for tensor, (shape, dtype) in zip(tensors, self._tensors):
                if (
                    not isinstance(tensor, torch.Tensor)
                    or tensor.shape != shape
                    or tensor.dtype != dtype
                ):
                    break
            else:
                return self._prepare(tensors)
        return self._prepare(self.originalTensors(args, kwargs))

    def tensorCount(self):
        return len(self._tensors)

    def originalTensors(self, args, kwargs):
        """The caller's own tensors, in the order of the compilation's."""
        return self._match.tensors(*self._binder.bind(args, kwargs))

    def _prepare(self, tensors):
        prepared = []
        for tensor, dtype in zip(tensors, self._converted):
            if tensor.dtype != dtype:
                tensor = tensor.to(dtype)
            if self._groups is not None:
                tensor = self._forEachReplica(tensor)
            prepared.append(
                tensor if tensor.is_contiguous() else tensor.contiguous()
            )
        return prepared

    def _forEachReplica(self, tensor):
        """Rows of [step, group, row] as the replicas take them: [step,
        replica, row]."""
        rest = tensor.shape[1:]
        count = max(self._groups) + 1
        steps = tensor.reshape(self._steps, count, -1, *rest)
        return steps[:, self._groups].reshape(-1, *rest)


def _groupOfEachReplica(options):
    """By replica, with inputReplicaGrouping(); otherwise None."""
    replicas, size = options.replication_factor, options.input_group_size
    if size == 1:
        return None
    if options.input_cgt == enums.CommGroupType.Consecutive:
        return [replica // size for replica in range(replicas)]
    return [replica % (replicas // size) for replica in range(replicas)]
