# Shapes and dtypes of results, from torch's own rules: operators are run on meta
# tensors, or on zeros where this torch has no meta kernel.
import torch
from torch.utils._pytree import tree_flatten, tree_map

from ._traced_tensor import TracedTensor


def infer(func, args, kwargs):
    """The results of a call, as meta tensors."""
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("meta")}
    try:
        return func(*tree_map(_toMeta, args), **tree_map(_toMeta, kwargs))
    except (NotImplementedError, RuntimeError, TypeError):
        pass  # no meta kernel in this torch, or half of one
    return _inferOnZeros(func, args, kwargs)


def _inferOnZeros(func, args, kwargs):
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    result = func(*tree_map(_toZeros, args), **tree_map(_toZeros, kwargs))
    dtypes = {
        value.dtype
        for value in tree_flatten((args, kwargs))[0]
        if isinstance(value, TracedTensor) and value.is_floating_point()
    }
    is_half = dtypes == {torch.half}

    def toMeta(value):
        if not isinstance(value, torch.Tensor):
            return value
        was_half = is_half and value.dtype == torch.float
        return value.to("meta", torch.half if was_half else value.dtype)

    return tree_map(toMeta, result)


def _toZeros(value):
    if isinstance(value, TracedTensor):
        # The CPU has few operators on halves.
        dtype = torch.float if value.dtype == torch.half else value.dtype
        return torch.zeros((), dtype=dtype).expand(value.shape)
    return value


def _toMeta(value):
    return value._meta if isinstance(value, TracedTensor) else value
