# x[i:i + k] with a tensor i: a slice whose start only the run knows.
import torch

from ._errors import createPoptorchError
from ._traced_tensor import TracedTensor


def getItem(tracer, func, args, kwargs):
    """Tensor.__getitem__, with such slices taken first."""
    tensor, index = args
    items = list(index) if isinstance(index, tuple) else [index]
    if not isinstance(tensor, TracedTensor) or not any(map(_isDynamic, items)):
        return func(*args, **kwargs)
    from .ops import dynamic_slice

    dim = 0
    for place, item in enumerate(items):
        if item is Ellipsis:
            dim = tensor.dim() - sum(
                i is not None for i in items[place + 1 :]
            )
            continue
        if _isDynamic(item):
            size = _span(tracer, item)
            tensor = dynamic_slice(
                tensor, dim, item.start, size, item.step or 1
            )
            items[place] = slice(None)
        dim += item is not None
    return tensor[tuple(items)]


def _isDynamic(item):
    return isinstance(item, slice) and any(
        isinstance(bound, TracedTensor) for bound in (item.start, item.stop)
    )


def _span(tracer, item):
    """k of a slice [i:i + k], as the trace has it."""
    if isinstance(item.start, TracedTensor) and isinstance(
        item.stop, TracedTensor
    ):
        start, stop = tracer.read(item.start), tracer.read(item.stop)
        for op, arguments, results, *_ in reversed(tracer.record.calls):
            if stop in results and op == "aten::add.Tensor":
                first, second, alpha = arguments
                if first == ("tensor", start) and isinstance(second, int):
                    return second * alpha
    raise createPoptorchError(
        "The size of the sliced tensor must be a constant"
    )
