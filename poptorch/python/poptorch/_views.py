# Views of traced tensors: how a view is taken again after its base was
# overwritten, and how an update of a view becomes an update of its base.


class View:
    """One step of a view chain: the operator, its arguments after the tensor,
    and the shape-only tensor that it gave."""

    __slots__ = ("op", "arguments", "meta")

    def __init__(self, op, arguments, meta):
        self.op = op
        self.arguments = arguments
        self.meta = meta


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
        number = tracer.recordOne(
            view.op, [("tensor", number), *view.arguments], view.meta
        )
    return number


def writeThrough(tracer, storage, chain, number):
    """The storage's value after the view at the end of `chain` was replaced by
    the value `number`."""
    if not chain:
        return number
    bases = [storage.number]
    for view in chain[:-1]:
        bases.append(
            tracer.recordOne(
                view.op, [("tensor", bases[-1]), *view.arguments], view.meta
            )
        )
    metas = [storage.meta, *(view.meta for view in chain[:-1])]
    for view, base, meta in zip(reversed(chain), reversed(bases), reversed(metas)):
        number = _putBack(tracer, view, base, meta, number)
    return number


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
    if view.meta.numel() != meta.numel():
        raise RuntimeError(
            f"In-place operation on a view made by {view.op} is not supported"
        )
    return tracer.recordOne("aten::view", [value, list(meta.shape)], meta)


_SCATTERS = {
    "aten::select": "aten::select_scatter",
    "aten::slice": "aten::slice_scatter",
    "aten::diagonal": "aten::diagonal_scatter",
}
