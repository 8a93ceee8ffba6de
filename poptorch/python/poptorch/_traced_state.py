# The parameters and buffers of a model while it is traced: traced tensors in
# their places, and what forward() does to them.
import contextlib

import torch

from ._cumulative_norms import NORMS
from ._errors import createPoptorchError
from ._traced_tensor import TracedTensor


def _places(model):
    """(module, its dictionary, key, tensor, full name) of all state."""
    for kind in ("_parameters", "_buffers"):
        for prefix, module in model.named_modules():
            holder = module.__dict__[kind]
            for key, tensor in holder.items():
                if tensor is not None:
                    name = f"{prefix}.{key}" if prefix else key
                    yield module, holder, key, tensor, name


def stateOf(model):
    """Parameters and buffers by name, as they are on the host."""
    if not isinstance(model, torch.nn.Module):
        return {}
    return {name: tensor for *_, tensor, name in _places(model)}


class TracedState:
    """`variables`: names of the integers that are not constants."""

    def __init__(self, variables):
        self.tensors = {}  # the model's own, by name
        self.changed = set()  # names of integers that forward() changes
        # Counters that only the host needs: (name, increment of a run).
        self.counters = []
        # Integers that are part of the program: (name, value).
        self.frozen = []
        self._variables = variables
        self._places = []
        self._traced = {}  # by id(): (name, traced tensor, its first number)

    @contextlib.contextmanager
    def swapped(self, model, tracer):
        """Parameters and buffers are traced tensors inside; the same tensor
        under two names is one."""
        self._places = list(_places(model))
        for module, holder, _, tensor, name in self._places:
            self._add(tracer, name, tensor, holder is module._parameters)
        flat_weights = [
            (m, m._flat_weights)
            for m in model.modules()
            if isinstance(m, torch.nn.RNNBase)
        ]
        for _, holder, key, tensor, _ in self._places:
            holder[key] = self._replacement(tensor)
        for module, weights in flat_weights:
            module._flat_weights = [self._replacement(w) for w in weights]
        try:
            yield
            for place in self._places:
                self._look(tracer, *place)
        finally:
            for _, holder, key, tensor, _ in self._places:
                holder[key] = tensor
            for module, weights in flat_weights:
                module._flat_weights = weights

    def requireApart(self, record, is_training):
        """What changes must share no memory with other state: on the device
        each tensor has its own."""
        changed = {number for number, _ in record.written_back}
        if is_training:
            changed |= {n for _, n, *_ in record.state if record.tensors[n][2]}
        tensors = {id(t): t for t in self.tensors.values() if t.numel()}
        open_end, open_id = 0, None
        for start, end, this in sorted(
            (*_memoryOf(t), i) for i, t in tensors.items()
        ):
            if start < open_end:
                one, _, a = self._traced[open_id]
                other, _, b = self._traced[this]
                if a in changed or b in changed:
                    raise createPoptorchError(
                        f"{one} and {other} share memory, and the model changes "
                        "it. Use one tensor under both names, or a copy."
                    )
            if end > open_end:
                open_end, open_id = end, this

    def _add(self, tracer, name, tensor, is_parameter):
        self.tensors[name] = tensor
        if id(tensor) in self._traced:
            return
        if tensor.dtype.is_floating_point or name in self._variables:
            traced = tracer.addState(name, tensor, is_parameter)
        else:
            traced = tracer.constant(tensor)
        # torch asks Parameters of other classes for it.
        traced._is_param = is_parameter
        self._traced[id(tensor)] = (name, traced, traced._number)

    def parameters(self):
        """(the model's own, what stands for it)"""
        for tensor in self.tensors.values():
            if isinstance(tensor, torch.nn.Parameter):
                yield tensor, self._replacement(tensor)

    def _replacement(self, tensor):
        known = self._traced.get(id(tensor))
        return tensor if known is None else known[1]

    def _look(self, tracer, module, holder, key, tensor, name):
        """What forward() has left in a place."""
        first_name, traced, number = self._traced[id(tensor)]
        is_norm = isinstance(module, NORMS)
        left = _leftIn(module, holder, key, name)
        if left is not traced and not is_norm:
            raise _reassigned(module, holder, name)
        if is_norm and holder is module._buffers:
            tracer.record.statistics.add(first_name)
        if is_norm and not tracer.is_training:
            return  # in inference statistics stay
        if tensor.dtype.is_floating_point or first_name in self._variables:
            if left is not traced and isinstance(left, TracedTensor):
                tracer.assign(traced, left)
        elif left is not traced or traced._shared.number != number:
            counted = _increment(module, key, tensor, tracer.constantValue(left))
            if counted is None:
                self.changed.add(first_name)
            else:
                self.counters.append((name, counted))
        elif not is_norm:
            self.frozen.append((name, tensor.detach().clone()))


def _memoryOf(tensor):
    """The addresses where its elements are, and one beyond."""
    start = tensor.data_ptr()
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    return start, start + (last + 1) * tensor.element_size()


def _increment(module, key, tensor, value):
    """What a norm that only counts its runs adds in one; None for what else is
    computed with the number."""
    is_counted = isinstance(module, NORMS) and key == "num_batches_tracked"
    if not is_counted or module.momentum is None or value is None:
        return None
    return int(value) - int(tensor)


def _leftIn(module, holder, key, name):
    if key not in holder:
        raise createPoptorchError(
            f"{_kind(module, holder)} {name} is removed from the model when "
            "calling the forward method"
        )
    return holder[key]


def _reassigned(module, holder, name):
    return createPoptorchError(
        f"{_kind(module, holder)} {name} is reassigned within the model when "
        f"calling the forward method. Use self.{name}.copy_(src) to copy data "
        "from a source tensor, where src is the tensor you wish to assign."
    )


def _kind(module, holder):
    return "Parameter" if holder is module._parameters else "Buffer"
