"""Reductions, products, softmax, norms and convolutions."""

import math

from .generate import Choice, Draft, Form, broadcast, noise_of
from .program import Kind


def reduction(name, torch, bound, types=("float", "half"), has_kink=False):
    """`bound` gives the result's from the operand's and how many are reduced."""

    def propose(draft: Draft):
        x = draft.pick(lambda kind: kind.type in types and kind.rank >= 1 and
                       not (has_kink and kind.noise > 1))
        if x is None:
            return None
        kind = draft.kind(x)
        axes = sorted(draft.random.sample(range(kind.rank),
                                          draft.random.randint(1, kind.rank)))
        keep = draft.random.randrange(2)
        shape = [1 if i in axes else size for i, size in enumerate(kind.shape)
                 if keep or i not in axes]
        count = math.prod(kind.shape[i] for i in axes)
        noise = kind.noise if has_kink else noise_of(kind.type, kind)
        return Choice((x,), Kind(kind.type, tuple(shape),
                                 bound(kind.bound, count), noise),
                      {"axes": axes, "keep": keep, "kept": bool(keep)})

    return Form(name, f"o.{name}([{{0}}], {{axes}}, {{keep}})", torch, propose)


def cumulate(draft: Draft):
    x = draft.pick_real(lambda kind: kind.rank >= 1)
    if x is None:
        return None
    kind = draft.kind(x)
    axis = draft.random.randrange(kind.rank)
    return Choice((x,), Kind(kind.type, kind.shape,
                             kind.bound * kind.shape[axis],
                             noise_of(kind.type, kind)), {"axis": axis})


def last_axis(bound):
    def propose(draft: Draft):
        x = draft.pick_real(lambda kind: kind.rank >= 1)
        if x is None:
            return None
        kind = draft.kind(x)
        return Choice((x,), Kind(kind.type, kind.shape, bound(kind),
                                 noise_of(kind.type, kind)),
                      {"axis": kind.rank - 1})

    return propose


def matmul(draft: Draft):
    x = draft.pick_real(lambda kind: kind.rank >= 2)
    if x is None:
        return None
    a = draft.kind(x)
    inner = a.shape[-1]

    def fits(other: Kind):
        return (other.type == a.type and other.rank >= 2 and
                other.shape[-2] == inner and
                broadcast(other.shape[:-2], a.shape[:-2]) is not None)

    y = draft.pick(fits)
    if y is None or draft.random.random() < 0.3:
        batch = draft.random.choice(((), a.shape[:-2]))
        y = draft.leaf(a.type, (*batch, inner, draft.random.randint(1, 5)))
    b = draft.kind(y)
    shape = (*broadcast(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    return Choice((x, y), Kind(a.type, shape, a.bound * b.bound * inner,
                               noise_of(a.type, a, b)))


def linear(draft: Draft):
    x = draft.pick_real(lambda kind: kind.rank == 2)
    if x is None:
        return None
    kind = draft.kind(x)
    rows, inner = kind.shape
    columns = draft.random.randint(1, 5)
    w = draft.leaf(kind.type, (columns, inner))
    b = draft.leaf(kind.type, (columns,))
    return Choice((x, w, b), Kind(kind.type, (rows, columns),
                                  kind.bound * inner + 1,
                                  noise_of(kind.type, kind)))


def group_norm(draft: Draft):
    x = draft.pick_real(
        lambda kind: kind.rank >= 2 and
        kind.elements >= 3 * kind.shape[0] * kind.shape[1])
    if x is None:
        return None
    kind = draft.kind(x)
    channels = kind.shape[1]
    groups = draft.random.choice(
        [n for n in range(1, channels + 1) if channels % n == 0])
    scale, bias = (draft.leaf(kind.type, (channels,)) for _ in range(2))
    epsilon = 0.1 if kind.type == "half" else 1e-3
    size = kind.elements / kind.shape[0] / groups
    return Choice((x, scale, bias), Kind(kind.type, kind.shape,
                                         math.sqrt(size) + 1,
                                         noise_of(kind.type, kind)),
                  {"groups": groups, "epsilon": epsilon, "type": kind.type})


def convolution(draft: Draft):
    x = draft.pick_real(lambda kind: kind.rank == 4)
    if x is None:
        return None
    kind = draft.kind(x)
    batch, channels, height, width = kind.shape
    kernel = (draft.random.randint(1, min(3, height)),
              draft.random.randint(1, min(3, width)))
    outputs = draft.random.randint(1, 4)
    w = draft.leaf(kind.type, (outputs, channels, *kernel))
    shape = (batch, outputs, height - kernel[0] + 1, width - kernel[1] + 1)
    count = channels * kernel[0] * kernel[1]
    return Choice((x, w), Kind(kind.type, shape, kind.bound * count,
                               noise_of(kind.type, kind)))


FORMS = [
    reduction("reducesum", "{0}.sum({axes}, keepdim={kept})",
              lambda x, n: x * n),
    reduction("reducesum", "{0}.sum({axes}, keepdim={kept})",
              lambda x, n: x * n, types=("int",)),
    reduction("reducemean", "{0}.mean({axes}, keepdim={kept})",
              lambda x, n: x),
    reduction("reducesumsquare", "({0} * {0}).sum({axes}, keepdim={kept})",
              lambda x, n: x * x * n),
    reduction("reducelogsumexp", "{0}.logsumexp({axes}, keepdim={kept})",
              lambda x, n: x + math.log(n)),
    reduction("reducemax", "{0}.amax({axes}, keepdim={kept})",
              lambda x, n: x, types=("float", "half", "int"), has_kink=True),
    reduction("reducemin", "{0}.amin({axes}, keepdim={kept})",
              lambda x, n: x, has_kink=True),
    Form("cumsum", "o.cumsum([{0}, c({axis})])", "{0}.cumsum({axis})", cumulate),
    Form("softmax", "o.softmax([{0}], {axis})", "{0}.softmax({axis})",
         last_axis(lambda kind: 1.0)),
    Form("logsoftmax", "o.logsoftmax([{0}], {axis})", "{0}.log_softmax({axis})",
         last_axis(lambda kind: 2 * kind.bound + 3)),
    Form("matmul", "o.matmul([{0}, {1}])", "{0} @ {1}", matmul),
    Form("matmul", "o.matmul([{0}, {1}])", "{0} @ {1}", matmul),
    Form("gemm", "o.gemm([{0}, {1}, {2}], transB=1)",
         "torch.nn.functional.linear({0}, {1}, {2})", linear),
    Form("groupnorm", "g.groupnormalization([{0}, {1}, {2}], {groups}, "
         "{epsilon})[0]",
         "group_norm(to.{type}, {0}, {groups}, {1}, {2}, {epsilon})",
         group_norm),
    Form("conv", "o.conv([{0}, {1}])",
         "torch.nn.functional.conv2d({0}, {1})", convolution),
]
