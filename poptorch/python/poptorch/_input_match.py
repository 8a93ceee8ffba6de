# The arguments of a call beside those of the compilation: whether they agree,
# and where the tensors are.
import copy
import math

import numpy
import torch

from . import _structure
from ._errors import createPoptorchError

_MISMATCH = (
    "\nThis error occurred because the inputs passed at runtime don't match "
    "the inputs used to compile the model. To recompile the model either "
    "create a new inferenceModel/trainingModel wrapper or call destroy() on "
    "the current one and try again."
)


class TensorSpec:
    """What a tensor of every call has in common with the compilation's."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype):
        self.shape = shape
        self.dtype = dtype


class InputMatch:
    """The arguments of the compilation, with a TensorSpec for each tensor."""

    def __init__(self, binder, args, kwargs):
        self._binder = binder
        self._args = [_snapshot(a) for a in args]
        self._kwargs = _snapshot(kwargs)

    def tensors(self, args, kwargs):
        """The tensors of a call, in the order of the compilation's. Raises the
        documented error where the arguments are others."""
        if len(self._args) != len(args):
            raise createPoptorchError(
                "Number of positional arguments mismatch: expected "
                f"{len(self._args)} arguments but got {len(args)}." + _MISMATCH
            )
        found = []
        for i, (a, b) in enumerate(zip(self._args, args)):
            _match(self._binder.name(i), a, b, found)
        _matchKeys("kwargs", self._kwargs, kwargs, found)
        return found


def _snapshot(value):
    """`value` as it is now: a program may change an object and pass it
    again."""
    if type(value) is dict:
        return {k: _snapshot(v) for k, v in value.items()}
    if type(value) is list:
        return [_snapshot(v) for v in value]
    if isinstance(value, numpy.ndarray):
        return value.copy()
    return copy.copy(value) if _isPlainObject(value) else value


def _isPlainObject(value):
    """Whether its attributes are all there is to it."""
    return (
        type(value).__eq__ is object.__eq__
        and hasattr(value, "__dict__")
        and not _structure.isOpaque(value)
    )


def _match(name, expected, got, found):
    """Appends the tensors of `got` in the order that `expected` has them."""
    if isinstance(expected, TensorSpec):
        _matchTensors(name, expected, got, found)
    elif isinstance(expected, _structure.TakenApart):
        _matchObjects(name, expected, got, found)
    elif type(expected) is not type(got):
        raise _mismatch("Type", name, type(expected), type(got))
    elif isinstance(expected, dict):
        _matchKeys(name, expected, got, found)
    elif isinstance(expected, (list, tuple)):
        _matchItems(name, expected, got, found)
    elif not _isSame(expected, got):
        raise _mismatch("Value", name, expected, got)


def _matchTensors(name, expected, got, found):
    if not isinstance(got, torch.Tensor):
        raise _mismatch("Type", name, torch.Tensor, type(got))
    if expected.dtype != got.dtype:
        raise _mismatch("Data type", name, expected.dtype, got.dtype)
    if expected.shape != got.shape:
        raise _mismatch("Shape", name, expected.shape, got.shape)
    found.append(got)


def _matchObjects(name, expected, got, found):
    if type(expected.original) is not type(got):
        raise _mismatch("Type", name, type(expected.original), type(got))
    match = _matchKeys if isinstance(expected.parts, dict) else _matchItems
    match(name, expected.parts, expected.partsOf(got), found)


def _matchItems(name, expected, got, found):
    if len(expected) != len(got):
        raise createPoptorchError(
            f"Length mismatch for {name}: expected {len(expected)} "
            f"elements but got {len(got)}." + _MISMATCH
        )
    for i, (a, b) in enumerate(zip(expected, got)):
        _match(f"{name}[{i}]", a, b, found)


def _matchKeys(name, expected, got, found):
    unexpected = [k for k in got if k not in expected]
    missing = [k for k in expected if k not in got]
    if unexpected or missing:
        raise createPoptorchError(
            f"Keys mismatch for {name}: Unexpected arguments: {unexpected}. "
            f"Missing arguments: {missing}." + _MISMATCH
        )
    for key, value in expected.items():
        item = f"{name}[{key!r}]" if name != "kwargs" else key
        _match(item, value, got[key], found)


def _isSame(expected, got):
    """Whether two values that are no tensors are equal. Objects that do not
    know are if their attributes are."""
    if expected is got:
        return True
    if isinstance(expected, numpy.ndarray):
        return numpy.array_equal(expected, got)
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(got)
    if type(expected) is type(got) and _isPlainObject(expected):
        ours, theirs = vars(expected), vars(got)
        return ours.keys() == theirs.keys() and all(
            _isSame(value, theirs[key]) for key, value in ours.items()
        )
    return bool(expected == got)


def _mismatch(what, name, expected, got):
    return createPoptorchError(
        f"{what} mismatch for {name}: expected {expected} but got {got}."
        + _MISMATCH
    )
