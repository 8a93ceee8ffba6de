# Weights that are fetched when they are looked at: a training wrapper gives the
# user's model and its tensors classes that read from the device first.
import copy

import torch

from ._errors import createPoptorchError

_MARK = "_poptorch_executor"

# Attributes that say nothing of the values.
_PASSIVE = frozenset(
    (
        "__class__", "__dict__", "__reduce_ex__", "shape", "dtype", "device",
        "requires_grad", "size", "dim", "numel", "is_contiguous", "layout",
        "is_sparse", "is_quantized", "is_meta", "is_floating_point", _MARK,
    )  # fmt: skip
)


class _Fetched:
    """Mixin of tensors whose values may be newer on the device."""

    def __getattribute__(self, name):
        if name not in _PASSIVE:
            fetch(self)
        return super().__getattribute__(name)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        for argument in args:
            if isinstance(argument, _Fetched):
                fetch(argument)
            elif isinstance(argument, (list, tuple)):
                for item in argument:
                    if isinstance(item, _Fetched):
                        fetch(item)
        with torch._C.DisableTorchFunction():
            return func(*args, **(kwargs or {}))


class PoptorchParameter(_Fetched, torch.nn.Parameter):
    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = torch.nn.Parameter(
                self.detach().clone(), self.requires_grad
            )
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        plain = torch.nn.Parameter(self.detach(), self.requires_grad)
        return plain.__reduce_ex__(protocol)


class PoptorchBuffer(_Fetched, torch.Tensor):
    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = self.detach().clone()
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return self.detach().__reduce_ex__(protocol)


def ownerOf(value):
    """The training wrapper that a model or tensor belongs to, or None."""
    return object.__getattribute__(value, "__dict__").get(_MARK)


def fetch(tensor):
    """Brings a tensor's values up to date."""
    owner = ownerOf(tensor)
    if owner is not None:
        owner.copyWeightsToHostIfNeeded()


def _plainModel(cls, state):
    """A copy of a wrapped model, of the class it had before."""
    model = cls.__new__(cls)
    model.__dict__.update(state)
    return model


def shallowCopy(model):
    """What copy.copy() gives; parametrized modules refuse that."""
    state = dict(object.__getattribute__(model, "__dict__"))
    original = type(model)
    if state.pop(_MARK, None) is not None:
        fetch(model)
        original = original._poptorch_original_class
    return _plainModel(original, state)


_MODEL_STATE = ("_parameters", "_buffers", "forward")


def _modelClass(original):
    """A subclass of the model's class that fetches before it shows state."""

    def __getattribute__(self, name):
        if name in _MODEL_STATE:
            fetch(self)
        return original.__getattribute__(self, name)

    def __reduce_ex__(self, protocol):
        plain = shallowCopy(self)
        return _plainModel, (type(plain), plain.__dict__)

    def __deepcopy__(self, memo):
        memo[id(self)] = copy.deepcopy(shallowCopy(self), memo)
        return memo[id(self)]

    def destroy(self):
        ownerOf(self).destroy()

    def copyWeightsToHostIfNeeded(self):
        return ownerOf(self).copyWeightsToHostIfNeeded()

    return type(
        f"Poptorch{original.__name__}",
        (original,),
        {
            "__getattribute__": __getattribute__,
            "__reduce_ex__": __reduce_ex__,
            "__deepcopy__": __deepcopy__,
            "destroy": destroy,
            "copyWeightsToHostIfNeeded": copyWeightsToHostIfNeeded,
            "_poptorch_original_class": original,
            "__module__": original.__module__,
        },
    )


def _tensorsOf(model):
    yield from model.parameters()
    yield from model.buffers()


def requireTensorBuffers(model):
    for buffer in model.buffers():
        if not isinstance(buffer, torch.Tensor):
            raise createPoptorchError(
                "All buffers must be an instance of torch.Tensor (Got "
                f"{type(buffer)})"
            )


def wrapModel(model, executor):
    """Makes `model` and its tensors fetch from `executor`'s device."""
    if ownerOf(model) is not None:
        raise RuntimeError(
            "Model has already been wrapped in 'poptorch.trainingModel'. Call "
            "model.destroy() on the model to unwrap before wrapping again."
        )
    for tensor in _tensorsOf(model):
        if type(tensor) is torch.nn.Parameter:
            tensor.__class__ = PoptorchParameter
            tensor.__dict__[_MARK] = executor
        elif type(tensor) is torch.Tensor:
            tensor.__class__ = PoptorchBuffer
            tensor.__dict__[_MARK] = executor
    model.__dict__[_MARK] = executor
    model.__class__ = _modelClass(type(model))


def unwrapModel(model, executor):
    """Undoes wrapModel(); what belongs to another wrapper stays."""
    if ownerOf(model) is not executor:
        return
    for tensor in _tensorsOf(model):
        if ownerOf(tensor) is not executor:
            continue
        del tensor.__dict__[_MARK]
        if isinstance(tensor, PoptorchParameter):
            tensor.__class__ = torch.nn.Parameter
        else:
            tensor.__class__ = torch.Tensor
    del model.__dict__[_MARK]
    model.__class__ = type(model)._poptorch_original_class
