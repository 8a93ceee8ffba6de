# torch.autograd.Function in a traced model: what forward() calls is recorded as
# it is, and the user's backward() becomes a body that computes the gradients in
# place of ours.
import contextlib

import torch
from torch.autograd.function import Function, FunctionCtx, FunctionMeta
from torch.utils.checkpoint import CheckpointFunction

from . import _structure
from ._active_tracer import activeTracer
from ._errors import createPoptorchError
from ._source import raisingLine
from ._traced_tensor import TracedTensor


class _Context(FunctionCtx):
    """What forward() and backward() have as ctx."""

    to_save = ()
    dirty_tensors = ()
    non_differentiable = ()
    materialize_grads = True

    def __init__(self, needs_input_grad):
        self.needs_input_grad = needs_input_grad

    @property
    def saved_tensors(self):
        return tuple(self.to_save)

    saved_variables = saved_tensors


@contextlib.contextmanager
def tracedFunctions(tracer):
    """Inside, apply() of every Function records it with its gradient.

    apply() is C++ and may have been taken from its class before, so what it
    looks up there is where it can be met: `_backward_cls`, just before it
    turns gradients off, then `forward`.
    """
    calls = _Calls(tracer)

    def lookUp(cls, name):
        value = type.__getattribute__(cls, name)
        if activeTracer() is tracer:
            if name == "_backward_cls":
                calls.begin()
            elif name == "forward":
                return calls.traced(cls, value)
        return value

    FunctionMeta.__getattribute__ = lookUp
    try:
        yield
    finally:
        del FunctionMeta.__getattribute__


class _Calls:
    """Calls of apply() while a model is traced."""

    def __init__(self, tracer):
        self._tracer = tracer
        self._wants_gradient = False  # of the call that has begun

    def begin(self):
        self._wants_gradient = torch.is_grad_enabled()

    def traced(self, cls, forward):
        """What apply() calls in place of forward()."""
        context_class = type.__getattribute__(cls, "_backward_cls")

        def run(ctx, *args):
            if type(ctx) is not context_class:  # called by another function
                return forward(ctx, *args)
            wants_gradient = self._wants_gradient
            if cls is CheckpointFunction:
                return self._checkpoint(wants_gradient, *args)
            return self._run(cls, forward, args, wants_gradient)

        return run

    def _checkpoint(self, wants_gradient, function, _, *args):
        """torch.utils.checkpoint: what is recomputed is the device's choice."""
        with torch.set_grad_enabled(wants_gradient):
            outputs = function(*args)
        return _structure.mapTensors(outputs, lambda _, t: self._alias(t))

    def _alias(self, tensor):
        """apply() takes a view without a gradient of inputs that it gets."""
        is_traced = isinstance(tensor, TracedTensor)
        return self._tracer.alias(tensor) if is_traced else tensor

    def _run(self, cls, forward, args, wants_gradient):
        needed = tuple(
            isinstance(a, TracedTensor) and a.requires_grad for a in args
        )
        context = _Context(needed)
        # forward() may change inputs in place.
        numbers = [
            self._tracer.read(a) if is_needed else None
            for a, is_needed in zip(args, needed)
        ]
        outputs = forward(context, *args)
        if not (self._tracer.is_training and wants_gradient and any(needed)):
            return outputs
        function = _Differentiated(self._tracer, cls, context, args, numbers)
        return function.outputs(outputs)


class _Differentiated:
    """One call of apply() that gradients go through."""

    def __init__(self, tracer, cls, context, args, numbers):
        self._tracer = tracer
        self._cls = cls
        self._context = context
        self._args = args
        self._numbers = numbers  # of the inputs that need gradients
        self._reached = []  # of those that get one

    def outputs(self, outputs):
        """What forward() returned, with the gradients of backward()."""
        items = outputs if isinstance(outputs, tuple) else (outputs,)
        values = [t for t in items if self._isDifferentiable(t)]
        if not values:
            return outputs
        call = self._gradient(items, values)
        if not self._reached:
            return outputs
        tracer = self._tracer
        results = tracer.recordSeveral(
            "poptorch::custom_gradient",
            [
                ("tensors", [tracer.read(t) for t in values]),
                ("tensors", self._reached),
                *call,
            ],
            [t._meta for t in values],
            requires_grad=True,
        )
        given = iter(self._placed(*pair) for pair in zip(values, results))
        items = [next(given) if self._isDifferentiable(t) else t for t in items]
        return tuple(items) if isinstance(outputs, tuple) else items[0]

    def _isDifferentiable(self, item):
        return (
            isinstance(item, TracedTensor)
            and item.is_floating_point()
            and not _isIn(item, self._context.non_differentiable)
        )

    def _placed(self, output, result):
        """Where an input was changed in place it has the result."""
        if _isIn(output, self._args) and _isIn(
            output, self._context.dirty_tensors
        ):
            self._tracer.assign(output, result)
            return self._tracer.alias(output)
        return result

    def _gradient(self, items, values):
        """Arguments of the call: the tensors that backward() reads besides
        gradients, its body, and what is wrong with it."""
        try:
            body, captured = self._tracer.bodies.gradient(
                lambda *gradients: self._backward(items, gradients), values
            )
        except Exception as error:  # of the user's code; it may not be needed
            self._reached = [n for n in self._numbers if n is not None]
            line = raisingLine(error)
            return ("tensors", []), -1, (
                f"{self._cls.__name__}.backward() cannot be traced, so there is "
                f"no gradient: {type(error).__name__}: {error}"
                + (f" (raised in {line})" if line else "")
            )
        return ("tensors", captured), body, ""

    def _backward(self, items, gradients):
        """Calls the user's backward(); gradients of the inputs that get one."""
        given = iter(gradients)
        arguments = [
            next(given) if self._isDifferentiable(t) else self._none(t)
            for t in items
        ]
        cls = self._cls
        backward = cls.backward if cls.vjp is Function.vjp else cls.vjp
        results = backward(self._context, *arguments)
        if not isinstance(results, tuple):
            results = (results,)
        self._checkCount(results)
        reached = [
            (self._like(i, result), number)
            for i, (result, number) in enumerate(zip(results, self._numbers))
            if result is not None and number is not None
        ]
        self._reached = [number for _, number in reached]
        return [result for result, _ in reached]

    def _none(self, item):
        """The gradient of an output that has none."""
        if isinstance(item, TracedTensor) and self._context.materialize_grads:
            return torch.zeros_like(item)
        return None

    def _checkCount(self, results):
        count = len(self._numbers)
        surplus = any(r is not None for r in results[count:])
        if len(results) < count or surplus:
            raise createPoptorchError(
                f"{self._cls.__name__}.backward() returned an incorrect number "
                f"of gradients (expected {count}, got {len(results)})"
            )

    def _like(self, position, gradient):
        """`gradient`, summed and cast to be like the input at `position`."""
        argument = self._args[position]
        gradient = self._tracer.onIpu(gradient)
        shape = argument.shape
        if gradient.shape != shape:
            try:
                gradient = gradient.sum_to_size(shape)
            except RuntimeError as error:
                raise createPoptorchError(
                    f"{self._cls.__name__}.backward() returned an invalid "
                    f"gradient at index {position} - got "
                    f"{list(gradient.shape)} but expected shape compatible "
                    f"with {list(shape)}"
                ) from error
        return gradient.to(argument.dtype)


def _isIn(tensor, tensors):
    return any(tensor is t for t in tensors)
