# rng_state: where the device's random numbers have got to.
import pytest
import torch
from torch import nn

import poptorch


def wrapped():
    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    options = poptorch.Options().showCompilationProgressBar(False)
    return poptorch.inferenceModel(Noise(), options.randomSeed(7))


def test_stateGoesBackToWhereItWas():
    model = wrapped()
    x = torch.zeros(4)
    first = model(x)
    state = model.rng_state
    assert state[0] == 7 and all(isinstance(n, int) for n in state)
    second, third = model(x), model(x)
    assert not torch.equal(first, second) and not torch.equal(second, third)
    assert model.rng_state != state
    model.rng_state = state
    assert torch.equal(model(x), second)
    assert torch.equal(model(x), third)


def test_anotherWrapperGoesOnFromAState():
    x = torch.zeros(4)
    one, other = wrapped(), wrapped()
    one(x)
    other.compile(x)
    other.rng_state = one.rng_state
    assert torch.equal(one(x), other(x))


def test_numbersGoOnAfterDetaching():
    x = torch.zeros(4)
    plain, detached = wrapped(), wrapped()
    for _ in range(3):
        assert torch.equal(plain(x), detached(x))
        detached.detachFromDevice()


def test_stateIsSaved(tmp_path):
    x = torch.zeros(4)
    model = wrapped()
    model(x)
    model.save(tmp_path / "noise.poptorch", export_model=False)
    expected = model(x)
    loaded = wrapped()
    loaded.loadExecutable(tmp_path / "noise.poptorch")
    assert torch.equal(loaded(x), expected)


def test_stateHasWhatRoundingDrawsFrom():
    options = poptorch.Options().showCompilationProgressBar(False)
    options.Precision.enableStochasticRounding(True)
    model = poptorch.inferenceModel(
        lambda x: (x * 1.0001).half(), options.randomSeed(7)
    )
    x = torch.randn(1000)
    model(x)
    state = model.rng_state
    first, second = model(x), model(x)
    assert not torch.equal(first, second)
    model.rng_state = state
    assert torch.equal(model(x), first)
    assert torch.equal(model(x), second)


def test_stateNeedsAnExecutable():
    with pytest.raises(poptorch.Error, match="has not been compiled"):
        wrapped().rng_state
    model = wrapped()
    model(torch.zeros(4))
    with pytest.raises(poptorch.Error, match="A random state of 1 numbers"):
        model.rng_state = [1]
