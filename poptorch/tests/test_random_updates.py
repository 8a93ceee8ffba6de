"""Random programs of views, of views of views, and of updates of any of them in
place, against PyTorch: all tensors at the end, and gradients. RANDOM_UPDATES says
how many, the first of a fixed series."""

import os
import random

import pytest
import torch
from conformance_rows import Floats, Row, check

COUNT = int(os.environ.get("RANDOM_UPDATES", "100"))


class Choice:
    """Numbers that a step needs for a tensor of some shape."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def dim(self, shape):
        return self.random.randrange(-len(shape), len(shape))

    def place(self, size):
        return self.random.randrange(-size, size)

    def order(self, shape):
        return self.random.sample(range(len(shape)), len(shape))

    def span(self, size):
        start = self.random.randrange(size)
        return start, self.random.randint(1, size - start)


def select(choice, t):
    dim = choice.dim(t.shape)
    place = choice.place(t.shape[dim])
    return lambda t: t.select(dim, place)


def slicing(choice, t):
    dim = choice.dim(t.shape) % t.dim()
    start, count = choice.span(t.shape[dim])
    step = choice.random.choice([1, 1, 2])
    index = (slice(None),) * dim + (slice(start, start + count, step),)
    return lambda t: t[index]


def narrow(choice, t):
    dim = choice.dim(t.shape)
    start, count = choice.span(t.shape[dim])
    return lambda t: t.narrow(dim, start, count)


def permute(choice, t):
    order = choice.order(t.shape)
    return lambda t: t.permute(order)


def transpose(choice, t):
    a, b = choice.dim(t.shape), choice.dim(t.shape)
    return lambda t: t.transpose(a, b)


def unsqueeze(choice, t):
    dim = choice.dim(t.shape)
    return lambda t: t.unsqueeze(dim)


def flat(choice, t):
    return lambda t: t.view(-1)


def folded(choice, t):
    size = choice.random.choice([2, 3])
    return lambda t: t.view(-1, size)


def diagonal(choice, t):
    offset = choice.random.randrange(-1, 2)
    dims = choice.random.sample(range(t.dim()), 2)
    return lambda t: t.diagonal(offset, *dims)


def windows(choice, t):
    dim = choice.dim(t.shape)
    size = choice.random.randint(1, t.shape[dim])
    step = choice.random.randint(1, 3)
    return lambda t: t.unfold(dim, size, step)


def part(choice, t):
    dim = choice.dim(t.shape)
    size = choice.random.randint(1, t.shape[dim])
    return lambda t: t.split(size, dim)[-1]


def entry(choice, t):
    dim = choice.dim(t.shape)
    place = choice.place(t.shape[dim])
    return lambda t: t.unbind(dim)[place]


def strided(choice, t):
    size = choice.random.randint(1, t.numel())
    offset = choice.random.randrange(3)
    return lambda t: t.as_strided((size,), (1,), offset)


def expanded(choice, t):
    return lambda t: t.expand(2, *t.shape)


def squeezed(choice, t):
    return lambda t: t.squeeze()


def detached(choice, t):
    return lambda t: t.detach()


def data(choice, t):
    return lambda t: t.data


def transposed(choice, t):
    return lambda t: t.T if t.dim() == 2 else t.mT


def renewed(choice, t):
    return lambda t: t.view_as(t)[..., None]


VIEWS = [
    select, slicing, slicing, narrow, permute, transpose, unsqueeze, flat, folded,
    diagonal, windows, part, entry, strided, expanded, squeezed, detached, data,
    transposed, renewed,
]  # fmt: skip


def number(choice, t):
    value = choice.random.choice([-1.5, 0.5, 2.0])
    name = choice.random.choice(["add_", "mul_", "sub_", "div_", "fill_"])
    return lambda t, y: getattr(t, name)(value)


def limited(choice, t):
    name = choice.random.choice(["relu_", "abs_", "neg_", "zero_", "sigmoid_"])
    return lambda t, y: getattr(t, name)()


def copied(choice, t):
    return lambda t, y: t.copy_(y)


def added(choice, t):
    return lambda t, y: t.add_(t.sum() * 0.1 + y)


def fromItself(choice, t):
    dim = choice.dim(t.shape)
    return lambda t, y: t.mul_(t.flip(dim))


def assigned(choice, t):
    dim = choice.dim(t.shape) % t.dim()
    index = (slice(None),) * dim + (choice.place(t.shape[dim]),)

    def assign(t, y):
        t[index] = y

    return assign


def gathered(choice, t):
    dim = choice.dim(t.shape)
    places = choice.order([0] * t.shape[dim])[:2]

    def fill(t, y):
        t.index_fill_(dim, torch.tensor(places, device=t.device), 0.25)

    return fill


def masked(choice, t):
    limit = choice.random.choice([-0.5, 0.0, 0.5])
    return lambda t, y: t.masked_fill_(t > limit, 0.75)


def aside(choice, t):
    def update(t, y):
        with torch.no_grad():
            t.mul_(0.5)

    return update


def reshaped(choice, t):
    name = choice.random.choice(["unsqueeze_", "squeeze_", "transpose_", "t_"])
    dims = {
        "unsqueeze_": [choice.dim(t.shape)],
        "transpose_": [choice.dim(t.shape), choice.dim(t.shape)],
    }.get(name, [])
    return lambda t, y: getattr(t, name)(*dims)


UPDATES = [
    number, number, limited, copied, added, fromItself, assigned, gathered,
    masked, aside, reshaped,
]  # fmt: skip


def overlaps(t):
    """Whether two elements are one in memory, so that an update is undefined."""
    storage = torch.arange(t.storage().size())
    places = storage.as_strided(t.shape, t.stride(), t.storage_offset())
    return places.unique().numel() < t.numel()


class Program:
    """Steps over a list of tensors, the first of which all others look at:
    each takes one of them and changes it, or adds a view of it."""

    def __init__(self, seed):
        choice = Choice(seed)
        self.shape = tuple(
            choice.random.choice([2, 3, 4]) for _ in range(choice.random.randint(1, 3))
        )
        self.steps = []  # (position, function, whether it is a view)
        self.text = []
        torch.manual_seed(0)
        for _ in range(choice.random.randint(3, 8)):
            self._add(choice)

    def _add(self, choice):
        """A step that torch takes."""
        x, y = torch.rand(self.shape), torch.rand(())
        tensors = self._run(x, y)
        position = choice.random.randrange(len(tensors))
        isView = choice.random.random() < 0.5
        kind = choice.random.choice(VIEWS if isView else UPDATES)
        if not isView and overlaps(tensors[position]):
            return
        try:
            step = kind(choice, tensors[position])
            self._step(tensors, y, position, step, isView)
        except (RuntimeError, IndexError, ValueError):
            return
        if min(t.numel() for t in tensors) > 0:
            self.steps.append((position, step, isView))
            self.text.append(f"{kind.__name__}({position})")

    def _step(self, tensors, y, position, function, isView):
        if isView:
            tensors.append(function(tensors[position]))
        else:
            function(tensors[position], y)

    def _run(self, x, y):
        tensors = [x * 1]
        for step in self.steps:
            self._step(tensors, y, *step)
        return tensors

    def __call__(self, x, y):
        return [t * 1 for t in self._run(x, y)]

    def isDifferentiable(self):
        """torch has no gradient for all updates of all views. as_strided has
        none beyond its tensor, and detached tensors have gradients of their own,
        whatever others do to their memory."""
        if any(
            name in step
            for step in self.text
            for name in ("strided", "detached", "data")
        ):
            return False
        x = torch.rand(self.shape, requires_grad=True)
        y = torch.rand((), requires_grad=True)
        try:
            sum(t.sum() for t in self(x, y * 1)).backward()
        except RuntimeError:
            return False
        return True


def rowOf(seed):
    program = Program(seed)
    return Row(
        f"{seed} {list(program.shape)} {' '.join(program.text)}", program,
        Floats(*program.shape), Floats(),
        gradient=program.isDifferentiable(), half=False)  # fmt: skip


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.filterwarnings("ignore")
def test_updatesAsInTorch(seed):
    row = rowOf(seed)
    print(row.name)
    check(row)
