# Calls with out=: the results are copied into the tensors that are given.
import torch

from ._traced_tensor import TracedTensor


def intoGiven(mode, func, args, kwargs):
    """A call as it is without out=, and its results in those tensors."""
    out = kwargs["out"]
    targets = list(out) if isinstance(out, (list, tuple)) else [out]
    others = {k: v for k, v in kwargs.items() if k != "out"}
    if not _dependsOnTensors(args, others):
        others.setdefault("dtype", targets[0].dtype)
    results = mode.call(func, args, others)
    if isinstance(results, torch.Tensor):
        results = [results]
    for target, result in zip(targets, results):
        _put(func, target, result)
    return out


def _dependsOnTensors(args, kwargs):
    """Factories take the type of what they fill."""
    values = [*args, *kwargs.values()]
    return any(isinstance(v, (torch.Tensor, list, tuple)) for v in values)


def _put(func, target, result):
    if not torch.can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"{func.__name__}(): result type {result.dtype} can't be cast to "
            f"{target.dtype}, the type of out"
        )
    if target.shape != result.shape:
        target.resize_(result.shape)
    target.copy_(result)
