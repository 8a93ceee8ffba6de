"""What networks are made of: each piece changes the state that it is given."""

import torch
import torch.nn.functional as F
from torch import nn

import poptorch

WIDTH = 4
TOKENS = 10
LENGTH = 3


class State:
    """What the pieces of one call of forward() hand on."""

    def __init__(self, x, target):
        self.given = x
        self.inputs = x
        self.x = x
        self.target = target
        self.saved = {}
        self.losses = []
        self.outputs = []


class Piece(nn.Module):
    is_random = False
    partners = ()  # the piece whose weights or buffers it uses

    def forward(self, state):
        state.x = self.apply_to(state.x, state)

    def describe(self):
        inner = getattr(self, "layer", getattr(self, "apply_to", None))
        named = getattr(inner, "__qualname__", type(inner).__name__)
        return f"{type(self).__name__}:{getattr(self, 'name', named)}"


class Dense(Piece):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def apply_to(self, x, state):
        return torch.tanh(self.linear(x))


class Again(Piece):
    """The weights of another piece."""

    def __init__(self, partner):
        super().__init__()
        self.partners = (partner,)
        self.linear = partner.linear

    def apply_to(self, x, state):
        return torch.tanh(self.linear(x))


class Recurrent(Piece):
    def __init__(self, kind):
        super().__init__()
        self.layer = kind(WIDTH, WIDTH, batch_first=True)

    def apply_to(self, x, state):
        return self.layer(x)[0]


class Encoder(Piece):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            WIDTH, 2, 2 * WIDTH, dropout=0.0, batch_first=True
        )

    def apply_to(self, x, state):
        return self.layer(x)


class Convolution(Piece):
    def __init__(self, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(WIDTH, WIDTH, 3, padding=1, groups=groups)

    def apply_to(self, x, state):
        return torch.tanh(self.conv(x))


class Bottleneck(Piece):
    """A residual block, as in a ResNet."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(WIDTH, WIDTH, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(WIDTH)
        self.conv2 = nn.Conv2d(WIDTH, WIDTH, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(WIDTH)

    def apply_to(self, x, state):
        y = torch.sigmoid(self.norm1(self.conv1(x)))
        return torch.tanh(x + self.norm2(self.conv2(y)))


class Channels(Piece):
    """Squeeze and excitation."""

    def __init__(self):
        super().__init__()
        self.squeeze = nn.Conv2d(WIDTH, 2, 1)
        self.excite = nn.Conv2d(2, WIDTH, 1)

    def apply_to(self, x, state):
        y = torch.tanh(self.squeeze(x.mean((2, 3), keepdim=True)))
        return x * torch.sigmoid(self.excite(y))


class Layer(Piece):
    """A layer of torch's that keeps the shape."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.is_random = isinstance(layer, nn.Dropout)

    def apply_to(self, x, state):
        return self.layer(x)


class Counter(Piece):
    """Counts its calls, and may look at the count."""

    def __init__(self, dtype, is_read):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=dtype))
        self.is_read = is_read

    def apply_to(self, x, state):
        self.count += 1
        return x * (1 + 0.05 * self.count) if self.is_read else x


def meanOf(x):
    """A value for each feature or channel."""
    x = x.detach()
    return x.mean((0, 2, 3)) if x.dim() == 4 else x.flatten(0, -2).mean(0)


def perFeature(value, x):
    return value.view(-1, 1, 1) if x.dim() == 4 else value


class Average(Piece):
    """A running mean, of which the old or the new value is used."""

    def __init__(self, reads):
        super().__init__()
        self.register_buffer("mean", torch.rand(WIDTH))
        self.reads = reads

    def apply_to(self, x, state):
        old = self.mean.clone()
        self.mean.mul_(0.75).add_(meanOf(x), alpha=0.25)
        if self.reads == "product":  # the backward pass wants the old value
            return x * torch.cos(perFeature(old, x))
        if self.reads == "returned":
            state.outputs.append(self.mean)
            return x
        value = old if self.reads == "old" else self.mean
        return x - 0.5 * perFeature(value, x)


class Reader(Piece):
    """Reads the running mean of another piece."""

    def __init__(self, owner, is_product):
        super().__init__()
        self.partners = (owner,)
        self.is_product = is_product

    def apply_to(self, x, state):
        mean = perFeature(self.partners[0].mean, x)
        return x * (1 + 0.5 * mean) if self.is_product else x + 0.25 * mean


class Exchange(Piece):
    """Two buffers that swap their values, one of which is overwritten then."""

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.rand(WIDTH))
        self.register_buffer("b", torch.rand(WIDTH))

    def apply_to(self, x, state):
        old = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(old + 0.1 * meanOf(x))
        return x + 0.1 * perFeature(old, x)


class Slow(Piece):
    """Weights that follow trained ones."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("slow", torch.eye(WIDTH))

    def apply_to(self, x, state):
        self.slow.lerp_(self.linear.weight.detach(), 0.25)
        x = x.movedim(1, -1) if x.dim() == 4 else x
        x = torch.tanh(self.linear(x) + F.linear(x, self.slow))
        return x.movedim(-1, 1) if x.dim() == 4 else x


class Frozen(Piece):
    """Values that do not change: a buffer, a parameter and a constant."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", 0.5 + torch.rand(WIDTH))
        self.shift = nn.Parameter(torch.rand(WIDTH), requires_grad=False)

    def apply_to(self, x, state):
        fixed = torch.linspace(-0.5, 0.5, WIDTH).to(x.dtype)
        shift = perFeature(self.shift + fixed, x)
        return x * perFeature(self.scale, x) + shift


class Save(Piece):
    """Puts something aside for a later piece."""

    def __init__(self, name, what):
        super().__init__()
        self.name = name
        self.what = what

    def forward(self, state):
        state.saved[self.name] = self.what(state.x)


class Load(Piece):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def apply_to(self, x, state):
        return 0.75 * x + 0.5 * state.saved[self.name]


class Function(Piece):
    """A function of the value and the state."""

    def __init__(self, function):
        super().__init__()
        self.apply_to = function


def ownLoss(x, state):
    state.losses.append(0.25 * (x * x).mean())
    return x


def output(x, state):
    state.outputs.append(torch.sigmoid(x))
    return x


def wholeOutput(x, state):
    state.outputs.append(x)
    return x


def input(x, state):
    state.outputs.append(state.given)
    return x


def partlyDetached(x, state):
    return x + 0.5 * torch.cos(x).detach()


def scaledWithoutGradient(x, state):
    with torch.no_grad():
        scale = 1 + x.abs().mean()
    return x / scale


def checkpoint(x, state):
    return poptorch.recomputationCheckpoint(x)


def reshaped(x, state):
    return x.flatten().view(x.shape)


class Stem(Piece):
    """From what the network is given to what its pieces take."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, state):
        state.x = self.layer(state.x)
        state.inputs = state.x


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.register_buffer("positions", 0.1 * torch.randn(LENGTH, WIDTH))

    def forward(self, x):
        return self.tokens(x) + self.positions


class Head(Piece):
    """Scores and the loss of them, beside the losses that there are."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, state):
        x = state.x
        if x.dim() == 4:
            x = x.mean((2, 3))
        elif x.dim() == 3:
            x = x.mean(1)
        scores = self.linear(x)
        state.outputs.append(scores)
        loss = self.loss(scores, state.target)
        for other in state.losses:
            loss = loss + other
        isOfTorch = type(self) is Head and not state.losses
        state.loss = loss if isOfTorch else poptorch.identity_loss(loss, "none")

    def loss(self, scores, target):
        return F.cross_entropy(scores, target)


class CustomHead(Head):
    """With a loss of its own making."""

    def loss(self, scores, target):
        square = (scores.softmax(-1) - 0.5) ** 2
        return square.sum(-1).mean() + 0.1 * F.cross_entropy(scores, target)
