# Shapes and dtypes of results, from torch's own rules: operators are run on meta
# tensors, or on numbers of our own where this torch has no meta kernel.
import torch
from torch.utils._pytree import tree_flatten, tree_map

from ._dtypes import narrowed
from ._errors import createPoptorchError
from ._traced_tensor import TracedTensor
from .poptorch_core import isSupported


# Layers: their parameters are cast to the type of what they are applied to.
_LAYERS = frozenset(
    "aten::" + name
    for name in (
        "linear", "convolution", "_trilinear", "prelu",
        "layer_norm", "group_norm", "batch_norm", "instance_norm",
        "lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input",
    )
)  # fmt: skip

# Products, whose operands torch wants of one type: the wider one.
_PRODUCTS = frozenset(
    "aten::" + name
    for name in (
        "matmul", "mm", "bmm", "mv", "dot",
        "addmm", "baddbmm", "addmv", "addbmm", "addr",
    )
)  # fmt: skip


def infer(func, args, kwargs):
    """The results of a call, as meta tensors."""
    result = tree_map(_narrow, _inferred(func, args, kwargs))
    op = func.name()
    if op in _LAYERS and isinstance(args[0], TracedTensor):
        return tree_map(lambda t: t.to(args[0].dtype), result)
    if op in _PRODUCTS:
        return result.to(_promoted(args))
    return result


def _promoted(args):
    """The type that tensors of several types have together."""
    dtype, *others = (a.dtype for a in args if isinstance(a, torch.Tensor))
    for other in others:
        dtype = torch.promote_types(dtype, other)
    return dtype


def _narrow(value):
    if not isinstance(value, torch.Tensor) or narrowed(value.dtype) == value.dtype:
        return value
    return value.to(narrowed(value.dtype))


def _inferred(func, args, kwargs):
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("meta")}
    try:
        return func(*tree_map(_toMeta, args), **tree_map(_toMeta, kwargs))
    except Exception:
        pass  # no meta kernel in this torch, or half of one, or one that errs
    try:
        return _inferOnNumbers(func, args, kwargs, torch.zeros)
    except RuntimeError as error:
        return _inferOnOtherNumbers(func, args, kwargs, error)


def _inferOnOtherNumbers(func, args, kwargs, error):
    """Zeros are no probabilities, and no matrices that have an inverse. What is
    wrong with other numbers as well is wrong with the call."""
    if not isSupported(func.name()):
        raise createPoptorchError(
            f"Unsupported ops found in compiled model: [{func.name()}]. They "
            "are not supported yet: see the list of operators in the "
            "documentation."
        ) from error
    try:
        return _inferOnNumbers(func, args, kwargs, _positiveDefinite)
    except RuntimeError:
        raise error from None


def _positiveDefinite(shape, dtype):
    """Probabilities as well."""
    values = torch.full(shape, 0.01, dtype=dtype)
    if values.dim() >= 2:
        values.diagonal(dim1=-2, dim2=-1).add_(0.5)
    return values


def _inferOnNumbers(func, args, kwargs, make):
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}

    def toNumbers(value):
        """Elements of their own for each tensor: kernels that are called past
        the dispatcher trust strides, and some write to what they are given."""
        if not isinstance(value, TracedTensor):
            return value
        # The CPU has few operators on halves.
        dtype = torch.float if value.dtype == torch.half else value.dtype
        is_float = dtype.is_floating_point
        return (make if is_float else torch.zeros)(value.shape, dtype=dtype)

    result = func(*tree_map(toNumbers, args), **tree_map(toNumbers, kwargs))
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


def _toMeta(value):
    return value._meta if isinstance(value, TracedTensor) else value
