# What forward() leaves in a model while it is traced: attributes that hold traced
# tensors. Those that are constants have values, and stay; others go.
import contextlib

import torch
from torch.nn.utils import parametrize

from ._traced_tensor import TracedTensor


@contextlib.contextmanager
def withoutTraces(model):
    """Attributes of the model's modules are afterwards what they were, but for
    constants that it did not have before."""
    before = [
        (module, module.__dict__.copy(), module._buffers.copy())
        for module in model.modules()
        if not isinstance(module, torch.jit.ScriptModule)
    ]
    cache, parametrize._cache = parametrize._cache, {}
    try:
        yield
    finally:
        parametrize._cache = cache
        for module, attributes, buffers in before:
            _restore(module.__dict__, attributes)
            _restore(module._buffers, buffers)
            _takeValues(module._buffers)


def _restore(holder, before):
    for key, value in list(holder.items()):
        if not isinstance(value, TracedTensor):
            continue
        if isinstance(before.get(key), torch.Tensor):
            holder[key] = before[key]
        elif value.constant() is None and key in before:
            holder[key] = before[key]
        elif value.constant() is None:
            del holder[key]


def _takeValues(buffers):
    """Buffers that forward() registered, as constants of the host."""
    for key, value in buffers.items():
        if isinstance(value, TracedTensor):
            buffers[key] = value.constant()
