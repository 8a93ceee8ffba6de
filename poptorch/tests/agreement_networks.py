# Five kinds of networks with data that they can learn, for comparing whole runs
# of training with PyTorch's. Nothing in them is random while they run.
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class CourseCnn(nn.Module):
    """The network of the course's first lab."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 5, 3)
        self.conv2 = nn.Conv2d(5, 12, 5)
        self.norm = nn.GroupNorm(3, 12)
        self.fc1 = nn.Linear(972, 100)
        self.fc2 = nn.Linear(100, 10)

    def forward(self, x, labels):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2, 2)
        x = self.norm(F.relu(self.conv2(x)))
        x = F.relu(self.fc1(torch.flatten(x, start_dim=1)))
        return F.nll_loss(F.log_softmax(self.fc2(x), dim=1), labels)


class PipelinedCnn(nn.Module):
    """The network of the course's pipelining lab: a block for each layer."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.fc1 = nn.Linear(320, 256)
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x, labels):
        with poptorch.Block("B1", ipu_id=0):
            x = F.relu(F.max_pool2d(self.conv1(x), 2))
        with poptorch.Block("B2", ipu_id=1):
            x = F.relu(F.max_pool2d(self.conv2(x), 2))
        with poptorch.Block("B3", ipu_id=2):
            x = F.relu(self.fc1(x.view(-1, 320)))
        with poptorch.Block("B4", ipu_id=3):
            return F.cross_entropy(self.fc2(x), labels)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64),
            nn.Tanh(), nn.Linear(64, 10),
        )  # fmt: skip

    def forward(self, x, labels):
        return F.cross_entropy(self.layers(x), labels)


class LstmClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, 16)
        self.lstm = nn.LSTM(16, 32, batch_first=True)
        self.classes = nn.Linear(32, 10)

    def forward(self, x, labels):
        states, _ = self.lstm(self.embedding(x))
        return F.cross_entropy(self.classes(states[:, -1]), labels)


class Transformer(nn.Module):
    """Two encoder layers over learnt positions; the mean is classified."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, 32)
        self.positions = nn.Parameter(torch.randn(LENGTH, 32) * 0.1)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                32, 4, 64, dropout=0.0, activation="gelu", batch_first=True
            )
            for _ in range(2)
        )
        self.classes = nn.Linear(32, 10)

    def forward(self, x, labels):
        x = self.embedding(x) + self.positions
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.classes(x.mean(dim=1)), labels)


TOKENS = 20
LENGTH = 12


def images(rows, generator):
    """A coarse pattern for each of ten classes, with noise, much of it dark:
    rounding takes few values across a ReLU's edge or to a pool's other input.
    """
    labels = torch.randint(0, 10, (rows,), generator=generator)
    patterns = torch.randn(10, 1, 7, 7, generator=generator)
    noise = torch.randn(rows, 1, 7, 7, generator=generator)
    coarse = F.relu(patterns[labels] + 0.3 * noise - 0.5)
    return F.interpolate(coarse, scale_factor=4), labels


def sentences(rows, generator):
    """Random tokens, but that some of them name the class."""
    labels = torch.randint(0, 10, (rows,), generator=generator)
    tokens = torch.randint(0, TOKENS, (rows, LENGTH), generator=generator)
    telling = torch.rand(rows, LENGTH, generator=generator) < 0.3
    return torch.where(telling, labels.unsqueeze(1), tokens), labels


@dataclass(frozen=True)
class Case:
    network: Callable[[], nn.Module]
    data: Callable
    batch: int
    accumulation: int = 1
    rate: float = 1.0  # learning rates relative to those of OPTIMIZERS


CASES = {
    "course's CNN": Case(CourseCnn, images, 16),
    "pipelined CNN": Case(PipelinedCnn, images, 16, accumulation=8),
    "MLP": Case(Mlp, images, 16),
    "LSTM": Case(LstmClassifier, sentences, 16, rate=10),
    "transformer": Case(Transformer, sentences, 16),
}


class Lamb(torch.optim.Optimizer):
    """LAMB, which PyTorch lacks, from its formulas: Adam's step and the decay,
    scaled to the parameter's own length."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8,
                 weight_decay=0.01):  # fmt: skip
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps,
                                      weight_decay=weight_decay))  # fmt: skip

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                self._update(parameter, group)

    def _update(self, parameter, group):
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            state["m"] = torch.zeros_like(parameter)
            state["v"] = torch.zeros_like(parameter)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        m = state["m"].lerp_(parameter.grad, 1 - beta1)
        v = state["v"].lerp_(parameter.grad.square(), 1 - beta2)
        update = (m / (1 - beta1 ** state["step"])) / (
            (v / (1 - beta2 ** state["step"])).sqrt() + group["eps"]
        ) + group["weight_decay"] * parameter
        length, step_length = parameter.norm(), update.norm()
        trust = length / step_length if length > 0 and step_length > 0 else 1.0
        parameter -= group["lr"] * trust * update


# PopTorch's five, each with PyTorch's counterpart and what both are given. The
# rates let PyTorch's own float32 runs stay close to its float64 runs.
OPTIMIZERS = {
    "SGD": (poptorch.optim.SGD, torch.optim.SGD,
            dict(lr=1e-3, momentum=0.9, weight_decay=1e-4)),
    "Adam": (poptorch.optim.Adam, torch.optim.Adam,
             dict(lr=2e-4, weight_decay=1e-4)),
    "AdamW": (poptorch.optim.AdamW, torch.optim.AdamW, dict(lr=2e-4)),
    "RMSprop": (poptorch.optim.RMSprop, torch.optim.RMSprop,
                dict(lr=1e-4, alpha=0.9)),
    "LAMB": (poptorch.optim.LAMB, Lamb, dict(lr=1e-3)),
}  # fmt: skip
