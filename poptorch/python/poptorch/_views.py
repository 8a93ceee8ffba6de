# Views of traced tensors: how a view is taken again after its base was
# overwritten, and how an update of a view becomes an update of its base.
import torch
from torch.utils._mode_utils import no_dispatch

from ._errors import createPoptorchError
from ._history import withHistory


class View:
    """One step of a view chain: the operator, its arguments after the tensor,
    the shape-only tensor that it gave, and whether gradients go through it."""

    __slots__ = ("op", "arguments", "meta", "has_gradient")

    def __init__(self, op, arguments, meta):
        self.op = op
        self.arguments = arguments
        self.meta = meta
        self.has_gradient = torch.is_grad_enabled() and op != "aten::detach"

    def isFixed(self):
        """Whether its arguments are no tensors."""
        return not any(isinstance(a, tuple) for a in self.arguments)

    def ofHost(self, tensor):
        """The view of a tensor on the CPU."""
        packet, _, overload = self.op.removeprefix("aten::").partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        names = [argument.name for argument in operator._schema.arguments]
        with no_dispatch():
            return operator(tensor, **dict(zip(names[1:], self.arguments)))

    def take(self, tracer, number):
        """The number of the view of the value `number`."""
        value = tracer.constantOf(number)
        if value is not None and self.isFixed():
            return tracer.constant(self.ofHost(value).clone())._number
        return tracer.recordOne(
            self.op,
            [("tensor", number), *self.arguments],
            self.meta,
            self.has_gradient and tracer.record.tensors[number][2],
        )


def partsOfSplit(op, arguments, metas, dimensions):
    """The steps that give each result of a view with several results."""
    dim = arguments[-1] % dimensions
    parts = []
    start = 0
    for i, meta in enumerate(metas):
        if op.startswith("aten::unbind"):
            parts.append(View("aten::select.int", [dim, i], meta))
        else:
            end = start + meta.shape[dim]
            parts.append(View("aten::slice.Tensor", [dim, start, end, 1], meta))
            start = end
    return parts


def replay(tracer, storage, chain):
    """The number of the value that a view of `storage` has now."""
    number = storage.number
    for view in chain:
        number = view.take(tracer, number)
    return number


def writeThrough(tracer, storage, chain, number):
    """The storage's value after the view at the end of `chain` was replaced by
    the value `number`."""
    if not chain:
        return number
    if _areConstant(tracer, storage.number, number, chain):
        return _writtenOnHost(tracer, storage.number, number, chain)
    if any(view.op == "aten::expand" for view in chain):
        value = ("tensor", number)
        return _putWhereTaken(
            tracer, chain, storage.number, value, storage.meta
        )
    bases = [storage.number]
    for view in chain[:-1]:
        bases.append(view.take(tracer, bases[-1]))
    metas = [storage.meta, *(view.meta for view in chain[:-1])]
    for view, base, meta in zip(reversed(chain), reversed(bases), reversed(metas)):
        number = _putBack(tracer, view, base, meta, number)
    return number


def _areConstant(tracer, base, part, chain):
    values = (tracer.constantOf(base), tracer.constantOf(part))
    isKnown = all(value is not None for value in values)
    return isKnown and all(view.isFixed() for view in chain)


def _writtenOnHost(tracer, base, part, chain):
    """A constant with a part that is another constant."""
    whole = view = tracer.constantOf(base).clone()
    for step in chain:
        view = step.ofHost(view)
    view.copy_(tracer.constantOf(part))
    return tracer.constant(whole)._number


def _putBack(tracer, view, base, meta, number):
    name = view.op.split(".")[0]
    value = ("tensor", number)
    if name in _SCATTERS:
        return tracer.recordOne(
            _SCATTERS[name], [("tensor", base), value, *view.arguments], meta
        )
    if name in ("aten::t", "aten::transpose"):
        return tracer.recordOne(view.op, [value, *view.arguments], meta)
    if name == "aten::permute":
        order = [d % meta.dim() for d in view.arguments[0]]
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return tracer.recordOne(view.op, [value, inverse], meta)
    if name == "aten::detach":
        return withHistory(tracer, base, number, meta)
    if name == "aten::index":
        return _put(tracer, base, view.arguments[0], value, meta)
    if name == "poptorch::dynamic_slice":
        return _updated(tracer, base, view, value, meta)
    if name in _IN_ORDER and view.meta.numel() == meta.numel():
        return tracer.recordOne("aten::view", [value, list(meta.shape)], meta)
    return _putWhereTaken(tracer, [view], base, value, meta)


def _put(tracer, base, places, value, meta):
    return tracer.recordOne(
        "aten::index_put", [("tensor", base), places, value, False], meta
    )


def _updated(tracer, base, view, value, meta):
    """The base of a slice whose start the run knows."""
    dim, start, size, step = view.arguments
    if step != 1:
        raise createPoptorchError(
            "In-place operations on the result of dynamic_slice are supported "
            f"for a step of 1, not {step}"
        )
    arguments = [("tensor", base), value, dim, start, size]
    return tracer.recordOne("poptorch::dynamic_update", arguments, meta)


def _putWhereTaken(tracer, chain, base, value, meta):
    """Any other views: where the last one's elements lie in the base is what
    they make of their numbers."""
    places = torch.arange(meta.numel(), device="cpu").reshape(meta.shape)
    for view in chain:
        places = view.ofHost(places)
    places = places.reshape(-1)
    if places.unique().numel() != places.numel():
        raise createPoptorchError(
            f"In-place operation on a tensor made by {chain[-1].op}: more than "
            "one of its elements are one in memory. clone() the tensor before."
        )
    wide = torch.empty(meta.numel(), dtype=meta.dtype, device="meta")
    flat = tracer.recordOne("aten::view", [("tensor", base), [-1]], wide)
    part = torch.empty(places.numel(), dtype=meta.dtype, device="meta")
    value = ("tensor", tracer.recordOne("aten::view", [value, [-1]], part))
    index = ("tensors", [tracer.constant(places)._number])
    flat = _put(tracer, flat, index, value, wide)
    return tracer.recordOne(
        "aten::view", [("tensor", flat), list(meta.shape)], meta
    )


# Views of all elements in their order.
_IN_ORDER = {
    f"aten::{name}"
    for name in (
        "view", "_unsafe_view", "reshape", "_reshape_alias", "flatten",
        "unflatten", "unsqueeze", "squeeze", "alias", "view_as", "lift_fresh",
    )  # fmt: skip
}

_SCATTERS = {
    "aten::select": "aten::select_scatter",
    "aten::slice": "aten::slice_scatter",
    "aten::diagonal": "aten::diagonal_scatter",
}
