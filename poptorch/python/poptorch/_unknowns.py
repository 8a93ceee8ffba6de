# Values that only the run knows: what asks for them while a model is traced gets
# an error that names the operator, unless they follow from constants.
import torch

from ._errors import createPoptorchError
from ._source import callingLine

_ITEM = (
    "aten::item is only supported in eager mode, but was intercepted in a "
    "static graph. This means an IPU to CPU copy was triggered before the end "
    "of the graph: tensors have no values while the model is compiled."
)


def valueOf(tensor):
    """The value of a traced tensor that is constant, on the CPU."""
    value = tensor.constant()
    if value is None:
        raise createPoptorchError(_ITEM)
    return value


def namesCpu(kwargs):
    device = kwargs.get("device")
    return device is not None and torch.device(device).type == "cpu"


def requireStatic(func, args, kwargs):
    """Refuses a call whose result, or the size of it, is for the run alone."""
    op = func.name()
    if torch.Tag.data_dependent_output in func.tags:
        raise createPoptorchError(
            _ITEM if op == "aten::_local_scalar_dense" else f"{op}: {_ITEM}"
        )
    if torch.Tag.dynamic_output_shape in func.tags and _isOpen(op, args, kwargs):
        line = callingLine()
        place = f" (called in {line})" if line else ""
        raise createPoptorchError(
            f"Unsupported ops found in compiled model: [{op}{place}]. The size "
            "of its result depends on values, which are not known when the "
            "model is compiled: use operators whose results have one size, such "
            "as torch.where or a product with a mask."
        )


def _isOpen(op, args, kwargs):
    """Whether nothing in the call says how large the result is."""
    if op == "aten::index.Tensor":
        kinds = (torch.bool, torch.uint8)
        return any(i is not None and i.dtype in kinds for i in args[1])
    if op == "aten::repeat_interleave.Tensor":
        return kwargs.get("output_size") is None
    # Those of a number of classes or bins are checked where it is used.
    return op not in ("aten::one_hot", "aten::bincount")
