# Tensor[...] and Tensor[...] = value with all that Python lets one write there:
# sequences and arrays are constants, a mask that is known names its places, and
# a start or a place that only the run knows is a slice that it takes.
import torch

from ._errors import createPoptorchError
from ._traced_tensor import TracedTensor

_MOST_ITEMS = 32  # of a sequence that torch may take for a tuple


def getItem(tracer, func, args, kwargs):
    """Tensor.__getitem__"""
    tensor, index = args
    if not isinstance(tensor, TracedTensor):
        return func(*args, **kwargs)
    return func(*_prepared(tracer, tensor, index))


def setItem(tracer, func, args, kwargs):
    """Tensor.__setitem__"""
    tensor, index, value = args
    if not isinstance(tensor, TracedTensor):
        return func(*args, **kwargs)
    if not isinstance(value, (bool, int, float, torch.Tensor)):
        raise TypeError(f"can't assign a {type(value).__name__} to a tensor")
    return func(*_prepared(tracer, tensor, index), value)


def maskedSelect(tracer, func, args, kwargs):
    """torch.masked_select(), by a mask that is known."""
    arguments = dict(zip(("input", "mask"), args), **kwargs)
    tensor, mask = arguments.get("input"), arguments.get("mask")
    if not isinstance(tensor, TracedTensor) or _isUnknown(mask):
        return func(*args, **kwargs)
    tensor, mask = torch.broadcast_tensors(tensor, mask)
    return torch.Tensor.__getitem__(*_prepared(tracer, tensor, mask))


def _prepared(tracer, tensor, index):
    """The view of a tensor and the items to index it with: numbers, slices,
    None, Ellipsis, and tensors of places or masks."""
    items = [_asTensor(tracer, item) for item in _itemsOf(index)]
    if not any(map(_isDynamic, items)):
        return tensor, tuple(items)
    dim = 0
    for position, item in enumerate(items):
        if item is Ellipsis:
            dim = tensor.dim() - sum(map(_width, items[position + 1 :]))
            continue
        # torch goes one dimension on, whatever a mask has.
        if isinstance(item, slice) and _isDynamic(item):
            tensor = _dynamicSlice(tracer, tensor, dim, item)
            items[position] = slice(None, None, item.step)
        elif _isDynamic(item) and item.dtype == torch.bool:
            tensor = tensor.unsqueeze(dim)
            items[position] = item.reshape(1)
        elif _isDynamic(item):
            tensor = _dynamicSelect(tensor, dim, item)
            items[position] = 0
        dim += min(_width(items[position]), 1)
    return tensor, tuple(items)


def _itemsOf(index):
    """The items of an index. torch takes a short sequence for a tuple if it
    holds anything but numbers."""
    if isinstance(index, tuple):
        return index
    if (
        _isSequence(index)
        and len(index) < _MOST_ITEMS
        and any(
            i is None
            or i is Ellipsis
            or isinstance(i, (torch.Tensor, slice))
            or _isSequence(i)
            for i in index
        )
    ):
        return tuple(index)
    return (index,)


def _isSequence(value):
    """Lists, ranges, arrays; not tensors, which are indices by themselves."""
    if isinstance(value, (torch.Tensor, str, dict)):
        return False
    hasItems = hasattr(value, "__getitem__") and hasattr(value, "__len__")
    return hasItems and getattr(value, "ndim", 1) > 0


def _asTensor(tracer, item):
    """A sequence or a CPU tensor among the items as a constant, a mask of
    bytes as one of booleans."""
    if _isSequence(item):
        item = stacked(tracer, item)
        if item.dtype not in (torch.bool, torch.uint8):
            item = item.long()
    if not isinstance(item, torch.Tensor):
        return item
    if item.dtype == torch.uint8:
        item = item.bool()
    return item if isinstance(item, TracedTensor) else tracer.constant(item)


def stacked(tracer, data):
    """The tensor of numbers in sequences, some of which may be tensors of the
    trace."""
    if isinstance(data, TracedTensor):
        return data.reshape(())
    if not holdsTraced(data):
        return tracer.constant(torch.tensor(data, device="cpu"))
    return torch.stack([stacked(tracer, item) for item in data])


def holdsTraced(value):
    if isinstance(value, (list, tuple)):
        return any(map(holdsTraced, value))
    return isinstance(value, TracedTensor)


_INDEXED = (
    "aten::index.Tensor", "aten::index_put", "aten::index_put_",
    "aten::_index_put_impl_",
)  # fmt: skip


def withKnownPlaces(tracer, op, args):
    """The arguments of a call, in those of index and index_put with the places
    that constant masks name instead of these, for each of their dimensions."""
    if op not in _INDEXED:
        return args
    indices = [i for index in args[1] for i in _placesOf(tracer, index)]
    for dim, index in enumerate(indices):
        if index is not None:
            _requireInside(tracer.constantValue(index), dim, args[0].shape[dim])
    return (args[0], indices, *args[2:])


def _requireInside(places, dim, size):
    """Those that are known are checked as torch checks them."""
    if places is None or places.dtype == torch.bool:
        return
    wrong = places[(places < -size) | (places >= size)]
    if wrong.numel():
        raise IndexError(
            f"index {int(wrong[0])} is out of bounds for dimension {dim} with "
            f"size {size}"
        )


def _placesOf(tracer, index):
    if index is None or index.dtype not in (torch.bool, torch.uint8):
        return [index]
    mask = tracer.constantValue(index)
    if mask is None:
        return [index]
    return [tracer.constant(d) for d in mask.nonzero(as_tuple=True)]


def _isMask(item):
    return isinstance(item, TracedTensor) and item.dtype == torch.bool


def _isDynamic(item):
    """Whether an item is, or has, a number that only the run knows."""
    if isinstance(item, slice):
        return _isUnknown(item.start) or _isUnknown(item.stop)
    return _isUnknown(item) and item.dim() == 0


def _isUnknown(value):
    if not isinstance(value, TracedTensor):
        return False
    return value._tracer.constantValue(value) is None


def _width(item):
    """How many dimensions of the tensor an item is about."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.dim() if _isMask(item) else 1


def _dynamicSelect(tensor, dim, place):
    """The entry at `place`, as a slice of one."""
    size = tensor.shape[dim]
    place = torch.where(place < 0, place + size, place)
    return torch.ops.poptorch.dynamic_slice(tensor, dim, place, 1, 1)


def _dynamicSlice(tracer, tensor, dim, item):
    from .ops import dynamic_slice

    return dynamic_slice(tensor, dim, item.start, _span(tracer, item), 1)


def _span(tracer, item):
    """k of a slice [i:i + k], as the trace has it."""
    if isinstance(item.start, TracedTensor) and isinstance(
        item.stop, TracedTensor
    ):
        start, before = _origin(tracer, tracer.read(item.start))
        stop, after = _origin(tracer, tracer.read(item.stop))
        if start == stop and after > before:
            return after - before
    raise createPoptorchError(
        "The size of the sliced tensor must be a constant"
    )


def _origin(tracer, number):
    """The tensor that a number was computed from by adding constants, and
    their sum."""
    total = 0
    for op, arguments, results, *_ in reversed(tracer.bodies.allCalls()):
        if number not in results:
            continue
        if op not in ("aten::add.Tensor", "aten::sub.Tensor"):
            break
        first, second, alpha = arguments
        if not isinstance(second, int) or first[0] != "tensor":
            break
        number = first[1]
        total += second * alpha if op.startswith("aten::add") else -second * alpha
    return number, total
