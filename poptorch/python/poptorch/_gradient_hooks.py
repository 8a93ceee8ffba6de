# Hooks of tensors: functions that a gradient goes through, traced as bodies of
# gradients.
import contextlib

import torch
from torch.nn.modules import module as torch_module

from ._bodies import numbersOf
from ._errors import createPoptorchError
from ._reshaping import become


# Attribute of a traced tensor with hooks: the tensor without, and they.
_HOOKS = "_gradient_hooks"


class Handle:
    """What register_hook() of a traced tensor returns."""

    def remove(self):
        raise createPoptorchError(
            "A hook that was registered in forward() is part of the program "
            "and cannot be removed"
        )


def registerHook(tracer, tensor, hook):
    """From its next use on, the tensor's gradient goes through `hook`."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )
    number = tracer.read(tensor)
    if any(number in numbersOf(call[1]) for call in tracer.record.calls):
        raise createPoptorchError(
            "register_hook(): the tensor has been used already. Register hooks "
            "right after the tensor is made."
        )
    if tracer.is_training:
        # Those of one tensor run one after the other, the first one first.
        bare, hooks = tensor.__dict__.get(_HOOKS) or (tracer.alias(tensor), ())
        become(tensor, _hooked(tracer, bare, (*hooks, hook)))
        tensor.__dict__[_HOOKS] = (bare, (*hooks, hook))
    return Handle()


def _hooked(tracer, tensor, hooks):
    """A tensor of the same value whose gradient goes through the hooks."""

    def backward(gradient):
        for hook in hooks:
            result = hook(gradient)
            gradient = gradient if result is None else tracer.onIpu(result)
        return [gradient.to(tensor.dtype)]

    number = tracer.read(tensor)
    with torch.no_grad():
        body, captured = tracer.bodies.gradient(backward, [tensor])
    (value,) = tracer.recordSeveral(
        "poptorch::custom_gradient",
        [
            ("tensors", [number]),
            ("tensors", [number]),
            ("tensors", captured),
            body,
            "",
        ],
        [tensor._meta],
        requires_grad=True,
    )
    return value


class ParameterHooks:
    """Those that parameters have before forward() runs."""

    def __init__(self, tracer, pairs):
        """`pairs`: parameters of the model and what stands for them."""
        self._tracer = tracer
        for parameter, traced in pairs if tracer.is_training else ():
            hooks = tuple((parameter._backward_hooks or {}).values())
            if hooks and traced.requires_grad:
                become(traced, _hooked(tracer, tracer.alias(traced), hooks))
        self._count = len(tracer.record.calls)

    def place(self):
        """Puts them beside what reads the parameters first."""
        calls = self._tracer.record.calls
        for index in reversed(range(self._count)):
            number = calls[index][2][0]
            for i, reader in enumerate(calls):
                if number in numbersOf(reader[1]):
                    moved = (*calls[index][:3], *reader[3:])
                    calls.insert(i, moved)
                    del calls[index]
                    break


@contextlib.contextmanager
def withoutModuleHooks(model, is_training):
    """torch keeps those in its own graph, which is not there: inference goes
    without them."""
    hooked = {n: m for n, m in model.named_modules() if m._backward_hooks}
    if is_training and (hooked or torch_module._global_backward_hooks):
        names = ", ".join(name or "the model" for name in hooked)
        raise createPoptorchError(
            f"Backward hooks of modules are not run on the IPU (of "
            f"{names or 'all modules'}). Use register_hook() of tensors or "
            "parameters, or a torch.autograd.Function."
        )
    before = {module: module._backward_hooks for module in hooked.values()}
    try:
        for module in before:
            module._backward_hooks = {}
        yield
    finally:
        for module, hooks in before.items():
            module._backward_hooks = hooks
