# What traced tensors hold: the values in their memory, seen through views, and
# the gradients that go through them.
import torch

from ._errors import createPoptorchError
from ._history import withHistory
from ._reshaping import become
from ._traced_tensor import TracedTensor
from ._views import replay, writeThrough


class Memory:
    """Of a tracer, which records the calls that make and change values."""

    def read(self, tensor):
        """The number of the value that a traced tensor has now."""
        if tensor._tracer is not self:
            self.takeOver(tensor)
        storage = tensor._shared
        if tensor._seen_version != storage.version:
            self.bodies.touch(storage)
            tensor._number = replay(self, storage, tensor._chain)
            tensor._seen_version = storage.version
        return tensor._number

    def _write(self, tensor, number):
        storage = tensor._shared
        self.bodies.touch(storage)
        before = storage.number
        storage.number = writeThrough(self, storage, tensor._chain, number)
        storage.version += 1
        if torch.is_grad_enabled() or not self.record.tensors[before][2]:
            tensor._number = number
            tensor._seen_version = storage.version
        else:  # the view is taken again, with the gradient that it had
            storage.number = withHistory(
                self, before, storage.number, storage.meta
            )

    def replaceValue(self, tensor):
        """Gives a tensor a value that no call makes; its number."""
        number = self._addTensor(tensor._meta, False)
        self._write(tensor, number)
        return number

    def takeOver(self, tensor):
        """Makes what an earlier trace left behind a tensor of this one."""
        value = tensor._tracer.constantValue(tensor)
        if value is None:
            raise createPoptorchError(
                f"A tensor of shape {list(tensor.shape)} that forward() computed "
                "when the model was compiled before is used again. The model "
                "keeps it outside of forward(), as an attribute for example; "
                "that is possible for constants, and for the model's buffers."
            )
        become(tensor, self.constant(value))
        tensor._tracer = self

    def assign(self, tensor, value):
        """Overwrites a traced tensor by another's value and its gradient."""
        number = self.read(value)
        with torch.enable_grad():
            self._write(tensor, number)

    def alias(self, tensor):
        """Another traced tensor of the same memory."""
        number = self.read(tensor)
        return TracedTensor(
            self, tensor._meta, tensor._shared, tensor._chain, number
        )

    def placesOf(self, flat, places):
        """Elements of a vector by places that are known; they share its
        memory."""
        index = ("tensors", [self.constant(places)._number])
        arguments = [("tensor", self.read(flat)), index]
        meta = torch.empty(places.shape, dtype=flat.dtype, device="meta")
        value = self.constantValue(flat)
        op = "aten::index.Tensor"
        if value is None:
            number = self.recordOne(op, arguments, meta)
        else:
            number = self.constant(value[places])._number
        return self._views(op, flat, arguments, meta, [number])

    def requiresGrad(self, tensor):
        return self.record.tensors[self.read(tensor)][2]

    def startGradient(self, tensor):
        """As if a gradient went through the tensor's value."""
        number = self.read(tensor)
        self.record.tensors[number] = (*self.record.tensors[number][:2], True)

    def stopGradient(self, tensor):
        number = self.recordOne(
            "aten::detach", [("tensor", self.read(tensor))], tensor._meta, False
        )
        with torch.enable_grad():  # or the gradient would stay
            self._write(tensor, number)

    def replaceData(self, target, value):
        """target.data = value"""
        value = self.onIpu(value)
        if self.read(value) == self.read(target):
            return
        if target.shape == value.shape and target.dtype == value.dtype:
            with torch.no_grad():
                target.copy_(value)
        else:
            become(target, value.detach())
