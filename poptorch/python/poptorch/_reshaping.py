# Operators that give a tensor another shape in place: it becomes another view of
# its storage.
import torch
from torch.utils._mode_utils import no_dispatch

from ._errors import createPoptorchError
from ._traced_tensor import Storage, TracedTensor

_aten = torch.ops.aten


def reshapesInPlace(op):
    """Whether an operator is one of these, or a view that says which elements
    of the storage it wants."""
    return op in _HANDLERS


def reshapeInPlace(tracer, func, args, kwargs):
    return _HANDLERS[func.name()](tracer, *args, **kwargs)


def become(tensor, other):
    """Makes a tensor another name of what `other` is."""
    with no_dispatch():
        torch._C._TensorBase.data.__set__(tensor, other)
    for name in ("_meta", "_shared", "_chain", "_number", "_seen_version"):
        setattr(tensor, name, getattr(other, name))
    return tensor


def _inPlace(view):
    """The in-place form of a view."""

    def reshape(tracer, tensor, *args, **kwargs):
        return become(tensor, tracer.dispatch(view, (tensor, *args), kwargs))

    return reshape


def _resize(tracer, tensor, size, memory_format=None):
    """As many elements as there are, in another shape, or some of them; what
    is beyond them is zero."""
    meta = torch.empty(size, dtype=tensor.dtype, device="meta")
    if meta.numel() <= tensor.numel():
        other = _asStrided(tracer, tensor, size, meta.stride())
    else:
        other = _enlarged(tracer, tensor, meta)
    return become(tensor, other)


def _enlarged(tracer, tensor, meta):
    parts = [
        tracer.dispatch(_aten.reshape.default, (tensor, [-1]), {}),
        tracer.constant(
            torch.zeros(
                meta.numel() - tensor.numel(), dtype=tensor.dtype, device="cpu"
            )
        ),
    ]
    joined = tracer.dispatch(_aten.cat.default, (parts,), {})
    value = tracer.dispatch(_aten.view.default, (joined, list(meta.shape)), {})
    return TracedTensor(tracer, meta, Storage(tracer.read(value), meta))


def _resizeAs(tracer, tensor, other, memory_format=None):
    return _resize(tracer, tensor, other.shape)


def _set(tracer, tensor, source):
    return become(tensor, tracer.dispatch(_aten.alias.default, (source,), {}))


def _asStrided(tracer, tensor, size, stride, offset=None):
    """Elements by their places in the storage."""
    storage = tensor._shared
    flat = _inMemoryOrder(tracer, TracedTensor(tracer, storage.meta, storage))
    if offset is None:
        offset = tensor._meta.storage_offset()
    places = torch.arange(storage.meta.numel(), device="cpu")
    try:
        places = places.as_strided(size, stride, offset)
    except RuntimeError as error:
        raise createPoptorchError(
            f"as_strided({list(size)}, {list(stride)}, {offset}) of a storage of "
            f"{storage.meta.numel()} elements: {error}"
        ) from None
    count = places.numel()
    start = int(places.flatten()[0]) if count else 0
    run = torch.arange(start, start + count, device="cpu")
    if torch.equal(places.reshape(-1), run):
        part = (flat, 0, start, start + count)
        flat = tracer.dispatch(_aten.slice.Tensor, part, {})
        return tracer.dispatch(_aten.view.default, (flat, list(size)), {})
    return tracer.placesOf(flat, places)


def _inMemoryOrder(tracer, root):
    """All elements of a storage as they lie."""
    strides = root._meta.stride()
    order = sorted(range(root.dim()), key=lambda d: -strides[d])
    if not root._meta.permute(order).is_contiguous():
        raise createPoptorchError(
            "as_strided and resize_ are not supported for a tensor whose "
            "elements overlap: clone() it before"
        )
    ordered = tracer.dispatch(_aten.permute.default, (root, order), {})
    return tracer.dispatch(_aten.view.default, (ordered, [-1]), {})


_HANDLERS = {
    "aten::squeeze_": _inPlace(_aten.squeeze.default),
    "aten::squeeze_.dim": _inPlace(_aten.squeeze.dim),
    "aten::unsqueeze_": _inPlace(_aten.unsqueeze.default),
    "aten::t_": _inPlace(_aten.t.default),
    "aten::transpose_": _inPlace(_aten.transpose.int),
    "aten::as_strided_": _inPlace(_aten.as_strided.default),
    "aten::as_strided": _asStrided,
    "aten::resize_": _resize,
    "aten::resize_as_": _resizeAs,
    "aten::set_.source_Tensor": _set,
}
