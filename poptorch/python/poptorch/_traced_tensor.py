# Tensors that stand for IPU tensors while forward() is traced: a shape and a
# dtype, no data. Their storage and view chain let in-place updates be replayed.
import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_map

from ._active_tracer import activeTracer
from ._errors import createPoptorchError
from ._unknowns import valueOf

IPU_DEVICE = torch.device("ipu")


class Storage:
    """Memory shared by a tensor and its views: the number of the value that
    it currently holds and how often it was overwritten."""

    __slots__ = ("number", "meta", "version")

    def __init__(self, number, meta):
        self.number = number
        self.meta = meta
        self.version = 0


class TracedTensor(torch.Tensor):
    """A torch tensor on device `ipu`.

    torch has no device guard for `ipu` unless it is built with one, so the
    wrapper lives on `meta` for the C++ side and says `ipu` to Python.
    """

    @staticmethod
    def __new__(cls, tracer, meta, storage, chain=(), number=None):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            meta.shape,
            strides=meta.stride(),
            storage_offset=meta.storage_offset(),
            dtype=meta.dtype,
            device="meta",
        )

    def __init__(self, tracer, meta, storage, chain=(), number=None):
        self._tracer = tracer
        self._meta = meta
        self._shared = storage
        # The views that lead from the storage's tensor to this one.
        self._chain = chain
        self._number = storage.number if number is None else number
        self._seen_version = storage.version

    @property
    def device(self):
        return IPU_DEVICE

    @property
    def is_ipu(self):
        return True

    @property
    def is_meta(self):
        return False

    @property
    def requires_grad(self):
        return self._tracer.requiresGrad(self)

    @requires_grad.setter
    def requires_grad(self, requires_grad):
        self.requires_grad_(requires_grad)

    @property
    def grad(self):
        return None

    def requires_grad_(self, requires_grad=True):
        if requires_grad:
            self._tracer.startGradient(self)
        else:
            self._tracer.stopGradient(self)
        return self

    def register_hook(self, hook):
        from ._gradient_hooks import registerHook

        return registerHook(self._tracer, self, hook)

    def detach_(self):
        self._tracer.stopGradient(self)
        return self

    @property
    def data(self):
        """The same memory without a gradient."""
        return self.detach()

    @data.setter
    def data(self, value):
        self._tracer.replaceData(self, value)

    def ipu(self):
        return self

    def __repr__(self):
        return f"tensor(<unavailable>, size={tuple(self.shape)}, device='ipu')"

    def constant(self):
        """A copy on the CPU of the value of a constant, else None."""
        value = self._tracer.constantValue(self)
        return None if value is None else value.to(self.dtype, copy=True)

    def __deepcopy__(self, memo):
        if activeTracer() is None:
            value = self.constant()
            return self if value is None else value
        copied = self.detach().clone()
        copied._is_param = getattr(self, "_is_param", False)
        if self.requires_grad:
            copied.requires_grad_()
        return memo.setdefault(id(self), copied)

    def apply_(self, function):
        """Calls of Python's for each element."""
        valueOf(self)
        raise createPoptorchError(
            "Tensor.apply_, map_ and map2_ call Python for each element, which "
            "is not possible on the IPU: use operators of torch."
        )

    def map_(self, tensor, function):
        self.apply_(function)

    def map2_(self, first, second, function):
        self.apply_(function)

    def tolist(self):
        return valueOf(self).tolist()

    def numpy(self):
        return valueOf(self).numpy()

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """Outside of forward(): constants that a model keeps have values."""

        def toHost(value):
            if not isinstance(value, TracedTensor):
                return value
            constant = value.constant()
            if constant is None:
                raise RuntimeError(
                    f"{func}: a tensor on the IPU was used outside of the "
                    "forward() in which it was made"
                )
            return constant

        args, kwargs = tree_map(toHost, (args, kwargs or {}))
        with no_dispatch():
            return func(*args, **kwargs)

