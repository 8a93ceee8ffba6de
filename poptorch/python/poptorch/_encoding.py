# Arguments of torch operators as the trace record has them.
import torch

from ._dtypes import deviceType
from ._errors import createPoptorchError
from ._traced_tensor import TracedTensor


class ArgumentEncoder:
    """Of a tracer, which numbers tensors and captures constants."""

    def encodeArguments(self, layout, args, kwargs):
        encoded = [self._encode(value) for value in args]
        for name, default in layout.defaults[len(args) :]:
            encoded.append(self._encode(kwargs.get(name, default)))
        return encoded

    def _encode(self, value):
        if isinstance(value, torch.Tensor):
            return self._encodeTensor(value)
        if isinstance(value, (list, tuple)):
            if any(isinstance(v, torch.Tensor) for v in value):
                return ("tensors", [self._numberOrNone(v) for v in value])
            return [self._encode(v) for v in value]
        if isinstance(value, torch.dtype):
            return ("dtype", deviceType(value))
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return None  # device, layout, memory format: one on this machine

    def _encodeTensor(self, tensor):
        if not isinstance(tensor, TracedTensor) and tensor.dim() == 0:
            return tensor.item()
        return ("tensor", self._numberOrNone(tensor))

    def _numberOrNone(self, tensor):
        return -1 if tensor is None else self.read(self.onIpu(tensor))

    def onIpu(self, tensor):
        """`tensor`, or a constant if it is a number on the CPU."""
        if isinstance(tensor, TracedTensor):
            return tensor
        if tensor.dim() == 0:
            return self.constant(tensor)
        raise createPoptorchError(
            f"Expected an IPU tensor but got tensor(device={tensor.device}, "
            f"shape={list(tensor.shape)}, dtype={tensor.dtype}). Constant "
            "tensors should be moved explicitly to the IPU, via "
            'cpu_tensor.to("ipu"), or be buffers of the module.'
        )
