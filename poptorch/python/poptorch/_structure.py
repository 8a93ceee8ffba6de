# Nested containers of tensors: walking them in a fixed order with a name for
# each tensor, and rebuilding them. Types of the user's own have parsers.
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
    if isinstance(value, dict):
        items = (
            (k, mapTensors(v, function, _join(name, f"[{k!r}]")))
            for k, v in value.items()
        )
        return _rebuildDict(value, items)
    if isinstance(value, (list, tuple)):
        items = [
            mapTensors(v, function, _join(name, f"[{i}]"))
            for i, v in enumerate(value)
        ]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return type(value)(items)
    parser = findParser(value)
    if parser is not None:
        tensors = [
            function(_join(name, f"[{i}]"), t)
            for i, t in enumerate(parser.yieldTensors(value))
        ]
        return _Custom(parser, value, tensors)
    return value


class _Custom:
    """A value of a user's type, taken apart."""

    __slots__ = ("parser", "original", "tensors")

    def __init__(self, parser, original, tensors):
        self.parser = parser
        self.original = original
        self.tensors = tensors


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
    if kind is _Custom:
        parts = (rebuild(t, tensors) for t in structure.tensors)
        return structure.parser.reconstruct(structure.original, parts)
    if isinstance(structure, dict):
        items = ((k, rebuild(v, tensors)) for k, v in structure.items())
        return _rebuildDict(structure, items)
    if isinstance(structure, (list, tuple)):
        items = [rebuild(v, tensors) for v in structure]
        return kind(*items) if hasattr(structure, "_fields") else kind(items)
    return structure


def _join(prefix, suffix):
    return prefix + suffix
