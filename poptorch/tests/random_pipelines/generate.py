"""Networks and ways to train them, from seeds."""

import random

import torch
from torch import nn

from . import pieces as p
from .ways import drawWay

KINDS = ("vectors", "images", "sequences")


def _stem(kind, rng):
    if kind == "vectors":
        return p.Stem(nn.Linear(3, p.WIDTH))
    if kind == "images":
        return p.Stem(nn.Conv2d(2, p.WIDTH, 3, padding=1))
    return p.Stem(p.Embedding())


def _layers(kind):
    """Makers of the pieces that have weights."""
    width = p.WIDTH
    if kind == "vectors":
        return [p.Dense, p.Dense, p.Slow,
                lambda: p.Layer(nn.BatchNorm1d(width)),
                lambda: p.Layer(nn.BatchNorm1d(width, momentum=0.5)),
                lambda: p.Layer(nn.LayerNorm(width)),
                lambda: p.Layer(nn.GroupNorm(2, width)),
                lambda: p.Layer(nn.Dropout(0.25))]  # fmt: skip
    if kind == "images":
        return [p.Convolution, p.Bottleneck, p.Channels, p.Slow,
                lambda: p.Convolution(groups=2),
                lambda: p.Layer(nn.BatchNorm2d(width)),
                lambda: p.Layer(nn.GroupNorm(2, width)),
                lambda: p.Layer(nn.InstanceNorm2d(width, affine=True)),
                lambda: p.Layer(nn.Dropout(0.25))]  # fmt: skip
    return [p.Dense, p.Encoder, p.Slow, lambda: p.Recurrent(nn.LSTM),
            lambda: p.Recurrent(nn.GRU), lambda: p.Layer(nn.LayerNorm(width)),
            lambda: p.Layer(nn.Dropout(0.25))]  # fmt: skip


def _effects(rng):
    """Makers of the pieces that have state, or do something beside."""
    kind = rng.choice(["old", "new", "product", "returned"])
    dtype = rng.choice([torch.float32, torch.int32, torch.int64])
    return [lambda: p.Average(kind), p.Exchange, p.Frozen,
            lambda: p.Counter(dtype, rng.random() < 0.5),
            *(lambda f=f: p.Function(f) for f in (
                p.ownLoss, p.output, p.wholeOutput, p.input, p.partlyDetached,
                p.scaledWithoutGradient, p.checkpoint, p.reshaped,
                lambda x, state: x + 0.25 * state.inputs))]  # fmt: skip


def _between(rng, low, high):
    return rng.randint(low, max(low, high))


def _addPairs(found, rng):
    """Pieces that reach others: skips, shared weights, other's buffers."""
    for i in range(rng.randint(0, 2)):
        what = rng.choice([
            lambda x: x, lambda x: x.detach(),
            lambda x: x.mean(0, keepdim=True),
        ])  # fmt: skip
        start = rng.randint(1, len(found))
        found.insert(start, p.Save(str(i), what))
        found.insert(_between(rng, start + 1, len(found)), p.Load(str(i)))
    owners = [f for f in found if isinstance(f, p.Average)]
    if owners and rng.random() < 0.7:
        reader = p.Reader(rng.choice(owners), rng.random() < 0.5)
        found.insert(rng.randint(1, len(found)), reader)
    layers = [f for f in found if isinstance(f, p.Dense)]
    if layers and rng.random() < 0.3:
        found.insert(rng.randint(1, len(found)), p.Again(rng.choice(layers)))


class Network(nn.Module):
    def __init__(self, pieces):
        super().__init__()
        self.pieces = nn.ModuleList(pieces)
        self.place = None  # by ways.py

    def forward(self, x, target):
        state = p.State(x, target)
        for i, piece in enumerate(self.pieces):
            if self.place is None:
                piece(state)
            else:
                self.place(i, piece, state)
        return (*state.outputs, state.loss)

    @property
    def is_random(self):
        return any(piece.is_random for piece in self.pieces)


class Case:
    """One network and one way, with the data of a few steps."""

    def __init__(self, seed):
        rng = random.Random(seed)
        torch.manual_seed(seed)
        self.seed = seed
        self.kind = rng.choice(KINDS)
        layers, effects = _layers(self.kind), _effects(rng)
        found = [_stem(self.kind, rng)]
        for _ in range(rng.randint(1, 6)):
            source = layers if rng.random() < 0.55 else effects
            found.append(rng.choice(source)())
        _addPairs(found, rng)
        found.append(rng.choice([p.Head, p.Head, p.CustomHead])())
        self.network = Network(found)
        self.way = drawWay(rng, found)
        self.steps = rng.choice([1, 2, 2, 3])

    def data(self):
        """Inputs and targets of each step."""
        rows = self.way.rows
        generator = torch.Generator().manual_seed(self.seed)
        shapes = {"vectors": (rows, 3), "images": (rows, 2, 4, 4)}
        for _ in range(self.steps):
            x = (torch.randint(p.TOKENS, (rows, p.LENGTH), generator=generator)
                 if self.kind == "sequences"
                 else torch.randn(shapes[self.kind], generator=generator))
            target = torch.randint(p.WIDTH, (rows,), generator=generator)
            yield x, target

    def __repr__(self):
        pieces = ", ".join(piece.describe() for piece in self.network.pieces)
        return f"seed {self.seed}: {self.kind} [{pieces}] {self.way}"
