"""Operators that move elements about and compute nothing."""

from dataclasses import replace

from .generate import Choice, Draft, Form, random_shape
from .program import Kind


def moved(kind: Kind, shape) -> Kind:
    return replace(kind, shape=tuple(shape))


def any_with_rank(draft: Draft, least: int = 1) -> int | None:
    return draft.pick(lambda kind: kind.rank >= least)


def axis_of(draft: Draft, kind: Kind) -> int:
    return draft.random.randrange(kind.rank)


def transpose(draft: Draft):
    x = any_with_rank(draft, 2)
    if x is None:
        return None
    kind = draft.kind(x)
    order = list(range(kind.rank))
    draft.random.shuffle(order)
    return Choice((x,), moved(kind, [kind.shape[i] for i in order]),
                  {"order": order})


def reshape(draft: Draft):
    x = any_with_rank(draft, 0)
    kind = draft.kind(x)
    rest, shape = kind.elements, []
    while rest > 1:
        divisors = [d for d in range(2, rest + 1) if rest % d == 0]
        shape.append(draft.random.choice(divisors))
        rest //= shape[-1]
    if draft.random.random() < 0.3:
        shape.insert(draft.random.randint(0, len(shape)), 1)
    if len(shape) > 5:
        return None
    return Choice((x,), moved(kind, shape), {"shape": shape})


def flatten(draft: Draft):
    x = any_with_rank(draft)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = axis_of(draft, kind)
    rows = Kind("int", kind.shape[:axis], 0).elements
    return Choice((x,), moved(kind, (rows, kind.elements // rows)),
                  {"axis": axis, "rows": rows})


def take(draft: Draft):
    """A run of elements of one dimension, or every second, or backwards."""
    x = any_with_rank(draft)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = axis_of(draft, kind)
    size = kind.shape[axis]
    first = draft.random.randrange(size)
    last = draft.random.randint(first + 1, size)
    step = draft.random.choice((1, 1, 1, 2, -1))
    places = list(range(first, last, abs(step)))
    start, end = first, last
    if step < 0:
        places.reverse()
        start, end = last - 1, first - 1 - size
    shape = list(kind.shape)
    shape[axis] = len(places)
    return Choice((x,), moved(kind, shape),
                  {"axis": axis, "start": start, "end": end, "step": step,
                   "places": places})


def concat(draft: Draft):
    x = any_with_rank(draft)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = axis_of(draft, kind)

    def fits(other: Kind):
        return (other.type == kind.type and other.rank == kind.rank and
                all(a == b for i, (a, b) in
                    enumerate(zip(kind.shape, other.shape)) if i != axis))

    y = draft.pick(fits)
    if y == x:
        shape = list(kind.shape)
        shape[axis] = draft.random.randint(1, 3)
        y = draft.leaf(kind.type, tuple(shape))
    other = draft.kind(y)
    shape = list(kind.shape)
    shape[axis] += other.shape[axis]
    result = replace(moved(kind, shape), bound=max(kind.bound, other.bound),
                     noise=max(kind.noise, other.noise))
    return Choice((x, y), result, {"axis": axis})


def split_choice(draft: Draft):
    """An axis and sizes of two parts of it."""
    x = draft.pick(lambda kind: max(kind.shape, default=0) >= 2)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = draft.random.choice(
        [i for i, size in enumerate(kind.shape) if size >= 2])
    first = draft.random.randint(1, kind.shape[axis] - 1)
    return x, axis, [first, kind.shape[axis] - first]


def split_part(draft: Draft):
    found = split_choice(draft)
    if found is None:
        return None
    x, axis, sizes = found
    part = draft.random.randrange(2)
    shape = list(draft.kind(x).shape)
    shape[axis] = sizes[part]
    return Choice((x,), moved(draft.kind(x), shape),
                  {"axis": axis, "sizes": sizes, "part": part})


def split_swap(draft: Draft):
    found = split_choice(draft)
    if found is None:
        return None
    x, axis, sizes = found
    return Choice((x,), draft.kind(x), {"axis": axis, "sizes": sizes})


def expand(draft: Draft):
    x = any_with_rank(draft, 0)
    kind = draft.kind(x)
    shape = [draft.random.randint(2, 3) if size == 1 else size
             for size in kind.shape]
    if kind.rank < 4 and draft.random.random() < 0.5:
        shape.insert(0, draft.random.randint(1, 3))
    return Choice((x,), moved(kind, shape), {"shape": shape})


def tile(draft: Draft):
    x = any_with_rank(draft)
    if x is None:
        return None
    kind = draft.kind(x)
    counts = [draft.random.choice((1, 1, 2)) for _ in kind.shape]
    shape = [a * b for a, b in zip(kind.shape, counts)]
    return Choice((x,), moved(kind, shape), {"counts": counts})


def unsqueeze(draft: Draft):
    x = draft.pick(lambda kind: kind.rank < 4)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = draft.random.randint(0, kind.rank)
    shape = list(kind.shape)
    shape.insert(axis, 1)
    return Choice((x,), moved(kind, shape), {"axis": axis})


def squeeze(draft: Draft):
    x = draft.pick(lambda kind: 1 in kind.shape)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = kind.shape.index(1)
    shape = list(kind.shape)
    del shape[axis]
    return Choice((x,), moved(kind, shape), {"axis": axis})


def pad(draft: Draft):
    x = draft.pick_real(lambda kind: kind.rank >= 1)
    if x is None:
        return None
    kind = draft.kind(x)
    before = [draft.random.choice((0, 0, 1, 2)) for _ in kind.shape]
    after = [draft.random.choice((0, 0, 1)) for _ in kind.shape]
    shape = [a + b + c for a, b, c in zip(before, kind.shape, after)]
    pairs = [p for i in reversed(range(kind.rank))
             for p in (before[i], after[i])]
    return Choice((x,), moved(kind, shape),
                  {"pads": before + after, "pairs": pairs})


def gather(draft: Draft):
    x = any_with_rank(draft)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = axis_of(draft, kind)
    places = [draft.random.randrange(kind.shape[axis])
              for _ in range(draft.random.randint(1, 4))]
    shape = list(kind.shape)
    shape[axis] = len(places)
    return Choice((x,), moved(kind, shape), {"axis": axis, "places": places})


def fill_leaf(draft: Draft):
    """An old value through Identity, or a fresh leaf: shapes do not run out."""
    if draft.random.random() < 0.5:
        x = any_with_rank(draft, 0)
    else:
        x = draft.leaf(draft.random.choice(("float", "float", "half", "int")),
                       random_shape(draft.random))
    return Choice((x,), draft.kind(x))


FORMS = [
    Form("transpose", "o.transpose([{0}], {order})", "{0}.permute({order})",
         transpose),
    Form("reshape", "o.reshape([{0}, c({shape})])", "{0}.reshape({shape})",
         reshape),
    Form("flatten", "o.flatten([{0}], {axis})", "{0}.reshape({rows}, -1)",
         flatten),
    Form("slice", "o.slice([{0}, c([{start}]), c([{end}]), c([{axis}]), "
         "c([{step}])])",
         "{0}.index_select({axis}, torch.tensor({places}))", take),
    Form("concat", "o.concat([{0}, {1}], {axis})", "torch.cat([{0}, {1}], {axis})",
         concat),
    Form("split_part", "o.split([{0}], 2, {axis}, {sizes})[{part}]",
         "{0}.split({sizes}, {axis})[{part}]", split_part),
    Form("split_swap", "o.concat(o.split([{0}], 2, {axis}, {sizes})[::-1], "
         "{axis})", "torch.cat({0}.split({sizes}, {axis})[::-1], {axis})",
         split_swap),
    Form("expand", "o.expand([{0}, c({shape})])", "{0}.expand({shape})", expand),
    Form("tile", "o.tile([{0}, c({counts})])", "{0}.repeat({counts})", tile),
    Form("unsqueeze", "o.unsqueeze([{0}], [{axis}])", "{0}.unsqueeze({axis})",
         unsqueeze),
    Form("squeeze", "o.squeeze([{0}], [{axis}])", "{0}.squeeze({axis})", squeeze),
    Form("pad", "o.pad([{0}, c({pads})])",
         "torch.nn.functional.pad({0}, {pairs})", pad),
    Form("gather", "o.gather([{0}, c({places})], {axis})",
         "{0}.index_select({axis}, torch.tensor({places}))", gather),
    Form("identity", "o.identity([{0}])", "{0}.clone()", fill_leaf),
]
