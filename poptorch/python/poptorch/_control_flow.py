# Loops and conditions that run on the device.
import torch

from ._active_tracer import activeTracer
from ._errors import createPoptorchError


def for_loop(count, body, inputs):
    """`count` turns of body(*tensors), each given what the last returned.
    On the CPU there is one turn."""
    if not isinstance(count, int) or count < 0:
        raise ValueError(
            f"poptorch.for_loop() takes a number of turns, not {count!r}"
        )
    _requireTensors("for_loop", "inputs", inputs)
    # Passed by value, and apart even if one tensor is passed twice.
    copies = [tensor.clone() for tensor in inputs]
    torch.ops.poptorch.start_for_loop(copies)
    outputs = _results("for_loop", body(*copies))
    return torch.ops.poptorch.end_for_loop(outputs, copies, count)


def cond(condition, then_body, then_inps, else_body, else_inps):
    """then_body(*then_inps) or else_body(*else_inps), as a tensor says."""
    _requireTensors("cond", "then_inps", then_inps)
    _requireTensors("cond", "else_inps", else_inps)
    if activeTracer() is None:
        taken = (then_body, then_inps) if condition else (else_body, else_inps)
        return _results("cond", taken[0](*taken[1]))
    torch.ops.poptorch.start_if_block(condition)
    outputs = _results("cond", then_body(*then_inps))
    torch.ops.poptorch.start_else_block(outputs)
    outputs = _results("cond", else_body(*else_inps))
    return torch.ops.poptorch.end_if_block(outputs, condition)


def _requireTensors(function, name, values):
    if not isinstance(values, list) or not all(
        isinstance(v, torch.Tensor) for v in values
    ):
        raise ValueError(
            f"poptorch.{function}() expects {name} to be a list of tensors."
        )


def _results(function, outputs):
    results = (
        list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    )
    if not all(isinstance(r, torch.Tensor) for r in results):
        raise createPoptorchError(
            f"poptorch.{function}(): a body must return tensors, not "
            f"{outputs!r}"
        )
    return results
