# Nested containers of tensors: walking them in a fixed order with a name for
# each tensor, and rebuilding them. Types of the user's own have parsers, or are
# taken for their attributes.
import copy
import dataclasses
import types

import torch


class ICustomArgParser:
    """Teaches PopTorch to look into a type of the user's."""

    def yieldTensors(self, struct):
        raise NotImplementedError

    def reconstruct(self, original_structure, tensor_iterator):
        raise NotImplementedError


_parsers = {}


def registerCustomArgParser(arg_type, arg_parser):
    """Sets the parser of a type and its subclasses; None removes it."""
    if arg_parser is None:
        _parsers.pop(arg_type, None)
        return
    if not isinstance(arg_parser, ICustomArgParser):
        from ._errors import createPoptorchError

        raise createPoptorchError(
            "arg_parser must inherit from ICustomArgParser"
        )
    _parsers[arg_type] = arg_parser


def findParser(value):
    for base in type(value).__mro__:
        if base in _parsers:
            return _parsers[base]
    return None


class Slot:
    """Stands for the tensor at a position."""

    __slots__ = ("position",)

    def __init__(self, position):
        self.position = position


class Value:
    """A tensor that is the same for every call; each gets a copy."""

    __slots__ = ("tensor",)

    def __init__(self, tensor):
        self.tensor = tensor


def mapTensors(value, function, name=""):
    """A copy of `value` with each tensor t replaced by function(name, t);
    everything that is no container stays."""
    if isinstance(value, torch.Tensor):
        return function(name, value)
    if isinstance(value, TakenApart):
        return value.mapTensors(function, name)
    parser = findParser(value)
    if parser is not None:
        parts = list(parser.yieldTensors(value))
        return ParsedObject(parser, value, parts).mapTensors(function, name)
    if isinstance(value, dict):
        items = (
            (k, mapTensors(v, function, f"{name}[{k!r}]"))
            for k, v in value.items()
        )
        return _rebuildDict(value, items)
    if isinstance(value, (list, tuple)):
        items = [
            mapTensors(v, function, f"{name}[{i}]")
            for i, v in enumerate(value)
        ]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return type(value)(items)
    if _isLookedInto(value):
        parts = _attributes(value)
        return ObjectWithTensors(value, parts).mapTensors(function, name)
    return value


class TakenApart:
    """A value of a user's type, as its parts: a list or a dictionary."""

    __slots__ = ("original", "parts")

    def __init__(self, original, parts):
        self.original = original
        self.parts = parts


class ParsedObject(TakenApart):
    """One whose type has a parser: its tensors."""

    __slots__ = ("parser",)

    def __init__(self, parser, original, parts):
        super().__init__(original, parts)
        self.parser = parser

    def mapTensors(self, function, name):
        parts = mapTensors(self.parts, function, name)
        return ParsedObject(self.parser, self.original, parts)

    def partsOf(self, other):
        return list(self.parser.yieldTensors(other))

    def rebuild(self, tensors):
        parts = iter(rebuild(self.parts, tensors))
        return self.parser.reconstruct(self.original, parts)


class ObjectWithTensors(TakenApart):
    """One that is looked into by its attributes."""

    __slots__ = ()

    def mapTensors(self, function, name):
        parts = {
            key: mapTensors(value, function, f"{name}.{key}")
            for key, value in self.parts.items()
        }
        return ObjectWithTensors(self.original, parts)

    def partsOf(self, other):
        return _attributes(other)

    def rebuild(self, tensors):
        value = copy.copy(self.original)
        for key, part in self.parts.items():
            # Of frozen dataclasses, too.
            object.__setattr__(value, key, rebuild(part, tensors))
        return value


# What has attributes and is no container: tensors in them belong to the model
# or to the program.
_OPAQUE = (
    torch.nn.Module, type, types.ModuleType, types.FunctionType,
    types.MethodType, torch.optim.Optimizer,
)  # fmt: skip


def isOpaque(value):
    """Whether attributes of `value` are none of our business."""
    return isinstance(value, _OPAQUE)


def _attributes(value):
    fields = getattr(value, "__dataclass_fields__", ())
    slots = {n: getattr(value, n) for n in fields if hasattr(value, n)}
    return {**slots, **getattr(value, "__dict__", {})}


def _isLookedInto(value):
    """Whether `value` is a dataclass, or another object that has tensors."""
    if isOpaque(value):
        return False
    return dataclasses.is_dataclass(value) or _holdsTensors(
        getattr(value, "__dict__", None)
    )


def _holdsTensors(value):
    if isinstance(value, dict):
        return any(map(_holdsTensors, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holdsTensors, value))
    return isinstance(value, torch.Tensor)


def _rebuildDict(value, items):
    if type(value) is dict:
        return dict(items)
    try:
        return type(value)(items)
    except TypeError:  # transformers' ModelOutput takes keywords
        return type(value)(**dict(items))


def rebuild(structure, tensors):
    """`structure` with each slot replaced by the tensor at its position."""
    kind = type(structure)
    if kind is Slot:
        return tensors[structure.position]
    if kind is Value:
        return structure.tensor.clone()
    if isinstance(structure, TakenApart):
        return structure.rebuild(tensors)
    if isinstance(structure, dict):
        items = ((k, rebuild(v, tensors)) for k, v in structure.items())
        return _rebuildDict(structure, items)
    if isinstance(structure, (list, tuple)):
        items = [rebuild(v, tensors) for v in structure]
        return kind(*items) if hasattr(structure, "_fields") else kind(items)
    return structure

