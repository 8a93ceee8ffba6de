# Attention as models write it, against PyTorch in double precision: inference,
# which never stores scores, and a training step, whose products read heads
# where the projections left them.
import copy
import math

import pytest
import torch
from torch import nn

import poptorch


class Layer(nn.Module):
    """torch's own layer; the mask is added to the scores."""

    def __init__(self, width, heads, mask=None, batch_first=True):
        super().__init__()
        self.layer = nn.MultiheadAttention(width, heads,
                                           batch_first=batch_first)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return self.layer(x, x, x, need_weights=False, attn_mask=self.mask)[0]


class Spelled(nn.Module):
    """Four dimensions, scores scaled after the product, a mask of keys."""

    def __init__(self, width, heads, mask=None):
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(width, 3 * width)
        self.register_buffer("mask", mask)

    def forward(self, x):
        batch, length, width = x.shape
        heads = self.projection(x).view(batch, length, 3, self.heads, -1)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]))
        if self.mask is not None:
            scores = scores + self.mask
        y = torch.softmax(scores, -1) @ v
        return y.transpose(1, 2).reshape(batch, length, width)


def causal(length):
    return torch.full((length, length), float("-inf")).triu(1)


def hiddenKeys(batch, length):
    mask = torch.zeros(batch, 1, 1, length)
    mask[:, :, :, length // 2:] = -1e4
    return mask


CASES = {  # model, batch, length, width
    "one": (Layer(32, 4), 1, 20, 32),
    "several": (Layer(48, 3), 5, 33, 48),
    "oneHead": (Layer(16, 1), 3, 9, 16),
    "lengthOne": (Layer(24, 2), 2, 1, 24),
    "oddHeads": (Layer(35, 5), 2, 17, 35),
    "causal": (Layer(32, 2, causal(50)), 3, 50, 32),
    "sequenceFirst": (Layer(32, 4, batch_first=False), 6, 12, 32),
    "spelled": (Spelled(32, 4), 3, 20, 32),
    "hiddenKeys": (Spelled(24, 2, hiddenKeys(3, 18)), 3, 18, 24),
}


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def inputOf(batch, length, width):
    generator = torch.Generator().manual_seed(batch + length)
    return torch.randn(batch, length, width, generator=generator)


@pytest.mark.parametrize("name", CASES)
def test_inferenceAgreesWithDoubles(name):
    model, *shape = CASES[name]
    model = copy.deepcopy(model).eval()
    x = inputOf(*shape)
    wanted = copy.deepcopy(model).double()(x.double())
    executor = poptorch.inferenceModel(model, options())
    torch.testing.assert_close(executor(x).double(), wanted, rtol=1e-5,
                               atol=1e-6)
    executor.destroy()


class Loss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        y = self.model(x)
        return y, poptorch.identity_loss((y * y).sum(), reduction="none")


@pytest.mark.parametrize("name", CASES)
def test_trainingAgreesWithDoubles(name):
    model, *shape = CASES[name]
    x = inputOf(*shape)
    exact = Loss(copy.deepcopy(model).double())
    exact(x.double())[1].backward()
    with torch.no_grad():
        for parameter in exact.parameters():
            parameter -= 0.01 * parameter.grad
    trained = Loss(copy.deepcopy(model))
    trainer = poptorch.trainingModel(
        trained, options(),
        poptorch.optim.SGD(trained.parameters(), lr=0.01)
    )
    trainer(x)
    trainer.copyWeightsToHost()
    trainer.destroy()
    for mine, wanted in zip(trained.parameters(), exact.parameters()):
        torch.testing.assert_close(mine.double(), wanted, rtol=1e-4, atol=1e-5)
