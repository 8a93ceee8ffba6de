# Operations that torch does not have, and annotations of those it has.
import torch

from . import enums
from ._active_tracer import activeTracer
from ._control_flow import cond, for_loop
from ._custom_op import accessAttributes, custom_op
from ._errors import createPoptorchError
from ._library import requireTensor
from ._proportions import checkedProportion
from ._traced_tensor import TracedTensor

__all__ = [
    "Attribute",
    "NameScope",
    "accessAttributes",
    "cond",
    "ctc_beam_search_decoder",
    "custom_op",
    "dynamic_slice",
    "dynamic_update",
    "for_loop",
    "getIpuTensorId",
    "identity_loss",
    "ipu_print_tensor",
    "isRunningOnIpu",
    "nop",
    "recomputationCheckpoint",
    "serializedMatMul",
    "set_available_memory",
    "set_overlap_for_input",
    "set_overlap_for_output",
]

_REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}
_FLOAT_FORMATS = {"auto": 0, "fixed": 1, "scientific": 2, "none": 3}


def isRunningOnIpu():
    """True while a model is traced for the IPU."""
    return activeTracer() is not None


def getIpuTensorId(tensor):
    """The number of a tensor's value in the graph that is being traced."""
    if not isinstance(tensor, TracedTensor):
        raise createPoptorchError(
            f"getIpuTensorId takes a tensor on the IPU, not {type(tensor)}"
        )
    return activeTracer().read(tensor)


def identity_loss(x, reduction):
    """Marks `x` as the loss to minimise."""
    assert reduction in _REDUCTIONS, "Unsupported reduction type!"
    return torch.ops.poptorch.identity_loss(x, _REDUCTIONS[reduction])


def ipu_print_tensor(
    tensor,
    title="",
    print_gradient=True,
    summarise_threshold=1000,
    edge_items=3,
    max_line_width=80,
    digits=4,
    float_format="auto",
    separator=", ",
    open_bracket="(",
    close_bracket=")",
):
    """Returns `tensor` and prints it whenever the device computes it."""
    requireTensor(tensor, "ipu_print_tensor")
    if float_format not in _FLOAT_FORMATS:
        raise createPoptorchError(
            f"Unknown float_format {float_format!r}, valid values are "
            f"{list(_FLOAT_FORMATS)}"
        )
    return torch.ops.poptorch.ipu_print_tensor(
        tensor,
        title,
        int(print_gradient),
        summarise_threshold,
        edge_items,
        max_line_width,
        digits,
        _FLOAT_FORMATS[float_format],
        separator,
        open_bracket,
        close_bracket,
    )


def nop(tensor):
    """The identity, never optimised away."""
    requireTensor(tensor, "nop")
    return torch.ops.poptorch.nop(tensor)


def recomputationCheckpoint(*tensors):
    """Keeps these activations instead of computing them again."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return type(tensors[0])(_checkpoint(t) for t in tensors[0])
    if len(tensors) == 1:
        return _checkpoint(tensors[0])
    return tuple(_checkpoint(t) for t in tensors)


def _checkpoint(tensor):
    if not isinstance(tensor, torch.Tensor):
        raise ValueError("All inputs must be tensors")
    return torch.ops.poptorch.recomputation_checkpoint(tensor)


def serializedMatMul(lhs, rhs, mode, factor=0, keep_precision=False):
    """lhs @ rhs in `factor` parts along the dimension that `mode` names."""
    assert isinstance(mode, enums.MatMulSerializationMode)
    return torch.ops.poptorch.set_matmul_serialization(
        torch.matmul(lhs, rhs), mode.value, factor, keep_precision
    )


def set_available_memory(tensor, available_memory_proportion):
    """Limits the memory of the operation that made `tensor`."""
    requireTensor(tensor, "set_available_memory")
    return torch.ops.poptorch.set_available_memory(
        tensor,
        checkedProportion("set_available_memory", available_memory_proportion),
    )


def _overlap(operator, function, value, mode):
    assert isinstance(mode, enums.OverlapMode)
    if isinstance(value, dict):
        return {
            k: _overlap(operator, function, v, mode) for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(_overlap(operator, function, v, mode) for v in value)
    requireTensor(value, function)
    return operator(value, mode.value)


def set_overlap_for_input(input_tensors, mode):
    return _overlap(
        torch.ops.poptorch.set_overlap_for_input,
        "set_overlap_for_input",
        input_tensors,
        mode,
    )


def set_overlap_for_output(output_tensors, mode):
    return _overlap(
        torch.ops.poptorch.set_overlap_for_output,
        "set_overlap_for_output",
        output_tensors,
        mode,
    )


def dynamic_slice(tensor, dim, start, size, step):
    """tensor[start:start+size:step] along `dim`, `start` being a tensor."""
    requireTensor(tensor, "dynamic_slice")
    requireTensor(start, "dynamic_slice")
    _checkStart(start, size)
    if tensor.shape[dim] % size:
        raise createPoptorchError(
            f"The size of the slice ({size}) must be a factor of the slicing "
            f"dimension ({tensor.shape[dim]})."
        )
    if step < 1:
        raise createPoptorchError("The step of a slice must be at least 1.")
    return torch.ops.poptorch.dynamic_slice(tensor, dim, start, size, step)


def dynamic_update(input, src, dim, start, size):
    """A copy of `input` with `src` at `start` along `dim`."""
    if input.dim() != src.dim():
        raise createPoptorchError(
            f"input and src must have the same rank, not {input.dim()} and "
            f"{src.dim()}"
        )
    if input.dtype != src.dtype:
        raise createPoptorchError(
            f"input and src must have the same dtype, not {input.dtype} and "
            f"{src.dtype}"
        )
    _checkStart(start, size)
    if src.shape[dim] != size or size > input.shape[dim]:
        raise createPoptorchError(
            f"dynamic_update: src must have size {size} in dimension {dim}, and "
            f"input no less, not {src.shape[dim]} and {input.shape[dim]}"
        )
    return torch.ops.poptorch.dynamic_update(input, src, dim, start, size)


def ctc_beam_search_decoder(
    probs, lengths, blank=0, beam_width=100, top_paths=1
):
    """The likeliest label sequences of log-probabilities [time, batch,
    classes]: their log-probabilities, lengths and labels."""
    requireTensor(probs, "ctc_beam_search_decoder")
    requireTensor(lengths, "ctc_beam_search_decoder")
    return torch.ops.poptorch.ctc_beam_search_decoder(
        probs, lengths, blank, beam_width, top_paths
    )


def _checkStart(start, size):
    if start.dtype not in (torch.int16, torch.int32, torch.int64):
        raise ValueError("Expected integer typed start tensor")
    if size < 1:
        raise createPoptorchError("The size of a slice must be at least 1.")


class NameScope:
    """Prefixes the names of the operations inside."""

    def __init__(self, name):
        assert isinstance(name, str), "NameScope takes a string"
        self._name = name

    def __enter__(self):
        torch.ops.poptorch.push_name_scope(self._name)
        return self

    def __exit__(self, *exception):
        torch.ops.poptorch.pop_name_scope()


class Attribute:
    """Attaches attributes to the operations inside. Those of __outline keep
    operations apart when PopART makes functions of equal ones, as in
    Attribute(__outline={"layer": "x"}); others change nothing."""

    def __init__(self, **attributes):
        self._attributes = attributes
        for name, values in attributes.items():
            if not isinstance(values, dict):
                raise createPoptorchError(
                    f"Attribute {name} takes a dictionary, not {type(values)}"
                )

    def __enter__(self):
        for name, values in self._attributes.items():
            for key, value in values.items():
                torch.ops.poptorch.set_attribute(name, str(key), str(value))
        return self

    def __exit__(self, *exception):
        for name, values in self._attributes.items():
            for key in values:
                torch.ops.poptorch.clear_attribute(name, str(key))
