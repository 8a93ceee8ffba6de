# Dropout in training: scaled, by the seed of the options, off in inference.
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        y = F.dropout(x * self.weight, 0.25, self.training)
        return y, poptorch.identity_loss(y, reduction="sum")


def train(seed, calls=1):
    model = Model()
    options = poptorch.Options().randomSeed(seed)
    options.showCompilationProgressBar(False)
    trainer = poptorch.trainingModel(
        model, options, poptorch.optim.SGD(model.parameters(), lr=0.0)
    )
    results = [trainer(torch.ones(64, 64))[0] for _ in range(calls)]
    trainer.destroy()
    return results


def test_keptElementsAreScaled():
    (y,) = train(1)
    kept = y != 0
    assert torch.allclose(y[kept], torch.tensor(1 / 0.75))
    assert kept.float().mean().item() == pytest.approx(0.75, abs=0.03)


def test_seedDecides():
    first, second = train(1, 2)
    assert not torch.equal(first, second)
    again = train(1, 2)
    assert torch.equal(first, again[0]) and torch.equal(second, again[1])
    assert not torch.equal(first, train(2)[0])


def test_inferenceDropsNothing():
    options = poptorch.Options().showCompilationProgressBar(False)
    model = poptorch.inferenceModel(Model().eval(), options)
    x = torch.randn(8, 8)
    assert torch.equal(model(x)[0], x)
