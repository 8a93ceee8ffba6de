"""Random index expressions read, assigned to and updated in place, against
PyTorch: values and gradients. RANDOM_INDICES says how many, the first of a fixed
series."""

import os
import random

import numpy
import pytest
import torch
from conformance_rows import Distinct, Floats, Given, Row, check

COUNT = int(os.environ.get("RANDOM_INDICES", "120"))
# The executors see the same shapes again and again.
SIZES = (1, 2, 3, 4, 5)


class Draw:
    """The random choices of one case, and the inputs that it asks for."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.shape = [
            self.random.choice(SIZES) for _ in range(self.random.randint(1, 4))
        ]
        # Of what several items point to together.
        self.places = self.random.choice([(2,), (3,), (1,), (2, 2), (3, 1)])
        self.inputs = []  # tensors that only the run knows
        self.text = []

    def input(self, values, dtype):
        """An item that is an input of the model."""
        self.inputs.append(Given(values, dtype))
        number = len(self.inputs) - 1
        return lambda inputs: inputs[number]

    def integers(self, size, shape=None):
        shape = self.places if shape is None else shape
        if not shape:
            return self.random.randrange(-size, size)
        return [self.integers(size, shape[1:]) for _ in range(shape[0])]

    def truths(self, shape):
        """Some of which are true."""
        if shape:
            values = [self.truths(shape[1:]) for _ in range(shape[0])]
            flat = numpy.array(values)
            if flat.any():
                return values
            return numpy.ones_like(flat).tolist()
        return self.random.random() < 0.6


def fixed(value):
    return lambda inputs: value


def number(draw, size):
    value = draw.integers(size, ())
    kind = draw.random.randrange(4)
    if kind == 0:
        return fixed(numpy.int64(value))
    if kind == 1:
        return draw.input(value, torch.int64)
    if kind == 2:
        return lambda inputs: torch.tensor(value)
    return fixed(value)


def slicing(draw, size):
    start = draw.random.choice([None, draw.random.randrange(-size, size)])
    first = 0 if start is None else start % size
    stop = draw.random.choice(
        [None, draw.random.randrange(first + 1, size + 1), size + 2]
    )
    step = draw.random.choice([None, 1, 2, 3])
    return fixed(slice(start, stop, step))


def sequence(draw, size):
    values = draw.integers(size)
    kind = draw.random.randrange(5)
    if kind == 0:
        return fixed(tuple(values))
    if kind == 1:
        return fixed(numpy.array(values))
    if kind == 2:
        return fixed(range(draw.random.randint(1, size)))
    if kind == 3:
        return draw.input(values, torch.int64)
    return fixed(values)


def constantTensor(draw, size):
    values = draw.integers(size)
    return lambda inputs: torch.tensor(values)


def knownMask(draw, sizes):
    values = draw.truths(sizes)
    kind = draw.random.randrange(4)
    if kind == 0:
        return fixed(numpy.array(values))
    if kind == 1:
        return lambda inputs: torch.tensor(values, dtype=torch.uint8)
    if kind == 2 and len(sizes) == 1:
        return fixed(values)
    return lambda inputs: torch.tensor(values)


def expression(draw):
    """One item for each of some dimensions, as functions of the inputs."""
    rank = len(draw.shape)
    count = draw.random.randint(0, rank)
    isPartlyFromEnd = draw.random.random() < 0.3
    first = draw.random.randint(0, count) if isPartlyFromEnd else count
    items = []
    dims = [*range(first), None, *range(rank - (count - first), rank)]
    while dims:
        if draw.random.random() < 0.12:
            items.append(fixed(None))
        dim = dims.pop(0)
        if dim is None:
            if isPartlyFromEnd or draw.random.random() < 0.1:
                items.append(fixed(Ellipsis))
            continue
        size = draw.shape[dim]
        kind = draw.random.randrange(8)
        if kind == 0:
            items.append(number(draw, size))
        elif kind in (1, 2, 3):
            items.append(slicing(draw, size))
        elif kind in (4, 5):
            items.append(sequence(draw, size))
        elif kind == 6:
            items.append(constantTensor(draw, size))
        else:
            sizes = [size]
            if dims and dims[0] is not None and draw.random.random() < 0.4:
                sizes.append(draw.shape[dims.pop(0)])
            items.append(knownMask(draw, sizes))
    return items


def assembled(draw, items):
    """The index as the program has it: mostly a tuple."""
    form = draw.random.random()
    if len(items) == 1 and form < 0.6:
        return items[0]
    if form < 0.05:
        return lambda inputs: [item(inputs) for item in items]
    return lambda inputs: tuple(item(inputs) for item in items)


def withUnknownMask(draw):
    """A mask that only the run knows, perhaps behind other dimensions."""
    before = draw.random.randint(0, len(draw.shape) - 1)
    behind = draw.random.randint(before + 1, len(draw.shape))
    values = draw.truths(draw.shape[before:behind])
    kind = torch.bool if draw.random.random() < 0.7 else torch.uint8
    items = [fixed(slice(None)) for _ in range(before)]
    items.append(draw.input(values, kind))
    if behind < len(draw.shape) and draw.random.random() < 0.3:
        items.append(slicing(draw, draw.shape[behind]))
    return items


def valueFor(draw, shape):
    """The shape of what is assigned to entries of this shape; () for a
    number."""
    kind = draw.random.randrange(4)
    if kind == 0:
        return None
    if kind == 1:
        return tuple(shape)
    shape = [1 if draw.random.random() < 0.3 else size for size in shape]
    return tuple(shape[draw.random.randint(0, len(shape)) :])


def rowOf(seed):
    """The case of a seed; None where torch refuses it or takes nothing."""
    draw = Draw(seed)
    action = draw.random.choice(["read", "assign", "add", "multiply"])
    isMasked = action == "assign" and draw.random.random() < 0.4
    items = withUnknownMask(draw) if isMasked else expression(draw)
    index = assembled(draw, items)
    places = torch.arange(numpy.prod(draw.shape)).reshape(draw.shape)
    given = [g.draw(None) for g in draw.inputs]
    try:
        taken = places[index(given)]
    except (IndexError, TypeError, ValueError, RuntimeError):
        return None
    if taken.numel() == 0:
        return None
    shape = valueFor(draw, taken.shape)
    if taken.unique().numel() < taken.numel():
        shape = None  # which of several values stays is not defined
    inputs = [Distinct(*draw.shape), *draw.inputs]
    if shape is not None:
        inputs.append(Floats(*shape))

    def function(x, *others):
        others, value = list(others), 2.5
        if shape is not None:
            value = others.pop()
        where = index(others)
        if action == "read":
            return x[where] * 2
        x = x * 1
        if action == "assign":
            x[where] = value
        elif action == "add":
            x[where] += value
        else:
            x[where] *= value
        return x

    shown = [item(given) for item in items]
    name = f"{seed} {action} {draw.shape} {shown} {shape}"
    return Row(name, function, *inputs, half=seed % 10 == 0)


def rows(count):
    seed = 0
    while count:
        row = rowOf(seed)
        seed += 1
        if row is not None:
            count -= 1
            yield row


@pytest.mark.parametrize("row", rows(COUNT), ids=lambda row: row.name)
@pytest.mark.filterwarnings("ignore")
def test_indexAsInTorch(row):
    check(row)
