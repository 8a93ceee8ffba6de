# Tensors made inside forward(): constants are computed at once and captured,
# random ones are recorded and never run.
import torch

from ._gaussian_loss import gaussianNllLoss
from ._indexing import getItem, holdsTraced, maskedSelect, setItem, stacked
from ._logging import logger
from ._traced_tensor import TracedTensor

_RANDOM = {
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like",
    "randint_like", "normal", "bernoulli",
}  # fmt: skip


def _isRandom(func):
    return func.name().split("::")[1].split(".")[0] in _RANDOM


def isConstantFactory(func):
    """zeros_like and its kind: the result does not depend on values."""
    name = func.name().split("::")[1].split(".")[0]
    return name in (
        "zeros_like", "ones_like", "full_like", "empty_like",
        "new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided",
    )  # fmt: skip


def constantLike(tracer, func, args, kwargs):
    like, *rest = args
    fill = kwargs.get("fill_value", rest[-1] if rest else None)
    if isinstance(fill, TracedTensor):
        fill = tracer.constantValue(fill)
        if fill is None:
            return tracer.dispatch(func, args, kwargs)
        fill = fill.item()
    kwargs = {**kwargs, "device": torch.device("meta")}
    meta = func(like._meta, *rest, **kwargs)
    name = func.name()
    if "ones" in name:
        fill = 1
    elif "full" not in name:
        fill = 0
    return tracer.constant(torch.full(meta.shape, fill, dtype=meta.dtype))


def onIpu(tracer, func, args, kwargs):
    """A factory called with device `ipu`."""
    if _isRandom(func):
        return tracer.dispatch(func, args, kwargs)
    kwargs = {**kwargs, "device": torch.device("cpu")}
    if func.name().startswith("aten::empty"):
        return tracer.constant(func(*args, **kwargs).zero_())
    result = func(*args, **kwargs)
    if isinstance(result, torch.Tensor):
        return tracer.constant(result)
    return result


def _withoutDevice(tracer, func, args, kwargs):
    if kwargs.get("device") is None and "out" not in kwargs:
        logger.warning(
            "No device set in torch.%s(): forcing to IPU", func.__name__
        )
        kwargs = {**kwargs, "device": torch.device("ipu")}
    return func(*args, **kwargs)


def _fromData(tracer, func, args, kwargs):
    """torch.tensor(): C++ would copy to the device behind our back."""
    device = kwargs.pop("device", None)
    if device is not None and torch.device(device).type != "ipu":
        return func(*args, device=device, **kwargs)
    if isinstance(args[0], TracedTensor):
        return func(*args, **kwargs)
    if holdsTraced(args[0]):
        result = stacked(tracer, args[0]).detach()
        return result.to(kwargs.get("dtype") or result.dtype)
    if device is None:
        logger.warning(
            "No device set in torch.%s(): forcing to IPU", func.__name__
        )
    return tracer.constant(func(*args, **kwargs))


def _newTensor(tracer, func, args, kwargs):
    """Tensor.new_tensor(): likewise."""
    tensor, data = args
    if not isinstance(tensor, TracedTensor):
        return func(*args, **kwargs)
    dtype = kwargs.get("dtype") or tensor.dtype
    device = kwargs.get("device") or tensor.device
    kwargs = {"dtype": dtype, "device": device}
    return _fromData(tracer, torch.tensor, (data,), kwargs)


def _new(tracer, func, args, kwargs):
    """Tensor.new(): of numbers, or of a size."""
    tensor, *rest = args
    if not isinstance(tensor, TracedTensor):
        return func(*args, **kwargs)
    isSize = isinstance(rest[0], torch.Size) if rest else True
    if isSize or isinstance(rest[0], int):
        return tensor.new_empty(rest[0] if rest and isSize else rest)
    return _newTensor(tracer, func, args, {})


def _normal(tracer, func, args, kwargs):
    if any(isinstance(a, torch.Tensor) for a in (*args, *kwargs.values())):
        return func(*args, **kwargs)
    return _withoutDevice(tracer, func, args, kwargs)


def _reversePower(tracer, func, args, kwargs):
    """number ** tensor: torch would make a tensor of the number behind our
    back."""
    exponent, base = args
    return torch.pow(base, exponent)


def _bilinear(tracer, func, args, kwargs):
    """A layer whose parts torch adds up by themselves: the result has the type
    of the input."""
    first, second, weight, *bias = args
    bias = bias[0] if bias else kwargs.get("bias")
    if bias is not None:
        bias = bias.to(first.dtype)
    return func(first, second, weight, bias)


def _gaussianNll(tracer, func, args, kwargs):
    """nn.functional.gaussian_nll_loss, less the check that no variance is
    negative: values are not known yet."""
    return gaussianNllLoss(*args, **kwargs)


def _namesIpu(value):
    if isinstance(value, torch.device):
        return value.type == "ipu"
    return isinstance(value, str) and value.split(":")[0] == "ipu"


def _to(tracer, func, args, kwargs):
    """Tensor.to(): a CPU tensor moved to the IPU becomes a constant."""
    tensor, *rest = args
    other = rest[0] if rest else kwargs.get("other")
    values = (*rest, *kwargs.values())
    if isinstance(other, TracedTensor):
        dtype = other.dtype
    elif any(map(_namesIpu, values)):
        named = [v for v in values if isinstance(v, torch.dtype)]
        dtype = named[0] if named else tensor.dtype
    else:
        return func(tensor, *rest, **kwargs)
    # to(device, dtype, non_blocking, copy)
    copy = kwargs.get("copy", len(rest) > 3 and rest[3])
    moved = func(tensor, dtype, copy=copy)
    return moved if isinstance(moved, TracedTensor) else tracer.constant(moved)


def _ipu(tracer, func, args, kwargs):
    return _to(tracer, torch.Tensor.to, (args[0], "ipu"), {})


FUNCTIONS = {
    getattr(torch, name): _withoutDevice
    for name in (
        "arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand",
        "randint", "randn", "randperm", "range", "zeros",
    )  # fmt: skip
}
FUNCTIONS.update(
    {
        torch.tensor: _fromData,
        torch.as_tensor: _fromData,
        torch.normal: _normal,
        torch.Tensor.new_tensor: _newTensor,
        torch.Tensor.new: _new,
        torch.Tensor.__getitem__: getItem,
        torch.Tensor.__setitem__: setItem,
        torch.masked_select: maskedSelect,
        torch.Tensor.masked_select: maskedSelect,
        torch.Tensor.__rpow__: _reversePower,
        torch.nn.functional.gaussian_nll_loss: _gaussianNll,
        torch.bilinear: _bilinear,
        torch.Tensor.to: _to,
        torch.Tensor.ipu: _ipu,
    }
)
