# How torch's calls reach the tracer.
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from . import _factories
from ._active_tracer import activeTracer
from ._out_arguments import intoGiven
from ._traced_tensor import TracedTensor


class DispatchMode(TorchDispatchMode):
    """Sees every operator called in forward(), factories included."""

    def __init__(self, tracer):
        self.tracer = tracer

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        values = tree_flatten((args, kwargs))[0]
        if any(isinstance(v, TracedTensor) for v in values):
            if _factories.isConstantFactory(func):
                return _factories.constantLike(self.tracer, func, args, kwargs)
            return self.tracer.dispatch(func, args, kwargs)
        device = kwargs.get("device")
        if device is not None and torch.device(device).type in ("ipu", "meta"):
            return _factories.onIpu(self.tracer, func, args, kwargs)
        return func(*args, **kwargs)


class FunctionMode(TorchFunctionMode):
    """Sees the calls as the user wrote them: puts factories without a device
    on the IPU and moves tensors to it."""

    def __init__(self, tracer):
        self.tracer = tracer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if activeTracer() is not self.tracer:
            return func(*args, **kwargs)
        out = kwargs.get("out")
        if out is not None:
            return intoGiven(self, func, args, kwargs)
        return self.call(func, args, kwargs)

    def call(self, func, args, kwargs):
        handler = _factories.FUNCTIONS.get(func)
        if handler is not None:
            return handler(self.tracer, func, args, kwargs)
        return func(*args, **kwargs)
