# Shapes and dtypes of results for operators without a meta kernel in this torch:
# they are run on zeros.
import torch
from torch.utils._pytree import tree_flatten, tree_map

from ._traced_tensor import TracedTensor


def inferOnZeros(func, args, kwargs):
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
