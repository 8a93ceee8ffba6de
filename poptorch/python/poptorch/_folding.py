# Calls whose arguments are all constants: they are computed while tracing and
# captured, as the operators on shapes that need values at compile time want.
import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_flatten, tree_map


def folded(tracer, func, args, kwargs):
    """The results as tensors on the CPU; None if the call is for the device."""
    is_random = torch.Tag.nondeterministic_seeded in func.tags
    if not func.name().startswith("aten::") or is_random:
        return None
    tensors = [
        value
        for value in tree_flatten((args, kwargs))[0]
        if isinstance(value, torch.Tensor)
    ]
    if any(tracer.constantValue(tensor) is None for tensor in tensors):
        return None

    def toHost(value):
        if isinstance(value, torch.Tensor):
            # A copy: the call may write to it.
            return tracer.constantValue(value).to(value.dtype, copy=True)
        if isinstance(value, torch.device):
            return torch.device("cpu")
        return value

    try:
        with no_dispatch():
            return func(*tree_map(toHost, args), **tree_map(toHost, kwargs))
    except RuntimeError:
        return None  # not on this machine's CPU, such as many on halves
