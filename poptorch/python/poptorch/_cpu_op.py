# CPU(): the user's torch code on the host in the middle of a model on the IPU.
import contextlib
import ctypes

import torch
from torch.utils._pytree import tree_map

from ._active_tracer import activeTracer, suspendTracing
from ._dtypes import deviceDtype, toDevice
from ._errors import createPoptorchError
from ._library import requireTensor
from ._traced_tensor import TracedTensor


class CPU:
    """A module or function that runs on the CPU wherever it is called; for
    inference."""

    _is_running = False

    def __init__(self, layer_to_call, ID):
        assert callable(layer_to_call), (
            "CPU() takes a torch.nn.Module or a function"
        )
        assert isinstance(ID, str), "The ID of a CPU op is a string"
        if isinstance(layer_to_call, torch.nn.Module):
            layer_to_call.requires_grad_(False)
        self._function = layer_to_call
        self._id = ID

    def __call__(self, *inputs):
        tracer = activeTracer()
        if tracer is None:
            return self._run(inputs)
        for tensor in inputs:
            requireTensor(tensor, "CPU")
        inputs = [tracer.onIpu(tensor) for tensor in inputs]
        call = HostCall(self._run, inputs)
        with _hostState(self._function):
            outputs = call.example()
        single = isinstance(outputs, torch.Tensor)
        metas = [outputs] if single else list(outputs)
        results = tracer.recordHostCall(call, inputs, metas)
        return results[0] if single else results

    def _run(self, inputs):
        if CPU._is_running:
            raise createPoptorchError(
                "Trying to enter CPU from another CPU op! CPU ops must not "
                "overlap."
            )
        CPU._is_running = True
        try:
            result = self._function(*inputs)
        finally:
            CPU._is_running = False
        return result

    def __repr__(self):
        return f"CPU({self._function!r}, ID={self._id!r})"


class HostCall:
    """One call of a CPU op in a trace: what the device's program runs."""

    def __init__(self, function, inputs):
        self._function = function
        self._inputs = [(tuple(t.shape), t.dtype) for t in inputs]
        # What the function raised: it goes to the caller when the program,
        # which knows no exceptions, has ended.
        self.error = None

    def example(self):
        """What the function returns for zeros, as meta tensors."""
        with suspendTracing(), torch.no_grad():
            zeros = [torch.zeros(s, dtype=d) for s, d in self._inputs]
            return tree_map(lambda t: t.to("meta"), self._function(zeros))

    def run(self, inputs, outputs):
        """Called by the program with the addresses of what it has and of what
        it wants."""
        if self.error is not None:
            return
        try:
            values = [
                _tensorAt(address, shape, deviceDtype(dtype)).to(dtype, copy=True)
                for address, (shape, dtype) in zip(inputs, self._inputs)
            ]
            with torch.no_grad():
                results = self._function(values)
            if isinstance(results, torch.Tensor):
                results = [results]
            for address, result in zip(outputs, results):
                value = toDevice(result)
                _tensorAt(address, value.shape, value.dtype).copy_(value)
        except BaseException as error:  # KeyboardInterrupt as well
            self.error = error

    def raiseError(self):
        error, self.error = self.error, None
        if error is not None:
            raise error


@contextlib.contextmanager
def _hostState(function):
    """If the function is a module whose state is being traced: zeros for it."""
    holders = []
    if isinstance(function, torch.nn.Module):
        for module in function.modules():
            holders += [module._parameters, module._buffers]
    swapped = [
        (holder, key, value)
        for holder in holders
        for key, value in holder.items()
        if isinstance(value, TracedTensor)
    ]
    for holder, key, value in swapped:
        holder[key] = torch.zeros(tuple(value.shape), dtype=value.dtype)
    try:
        yield
    finally:
        for holder, key, value in swapped:
            holder[key] = value


def _tensorAt(address, shape, dtype):
    """A tensor in memory that is not torch's."""
    size = torch.empty(shape, dtype=dtype, device="meta").numel()
    width = torch.empty((), dtype=dtype).element_size()
    memory = (ctypes.c_char * (size * width)).from_address(address)
    return torch.frombuffer(memory, dtype=dtype).reshape(shape)
