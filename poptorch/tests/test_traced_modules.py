# What tracing does to the modules that it goes through: they are afterwards what
# they were, whatever forward() and torch's own helpers keep in them.
import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

import poptorch
from tracing_checks import X, checkInference, options, run, same


# What forward() leaves behind.


class Caching(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
        self.tables = {}

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(4.0) * 2
            self.tables["ones"] = torch.ones(4)
        return x + self.table + self.tables["ones"]


def test_constantsThatAModuleCaches():
    model = nn.Sequential(Caching())
    checkInference(model, X)
    same(copy.deepcopy(model)(X), Caching()(X))


class CachingValues(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        if self.last is None:
            self.last = x * 2
        self.seen = x + 1
        return x + self.last


def test_tensorsThatAModuleKeeps():
    model = nn.Sequential(CachingValues())
    same(run(model, X), 3 * X)
    assert model[0].last is None and not hasattr(model[0], "seen")
    same(run(model, X), 3 * X)


class KeepingInAList(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []

    def forward(self, x):
        self.kept.append(x * 2)
        return x + self.kept[0]


def test_tensorsOfAnEarlierTraceAreRefused():
    model = KeepingInAList()
    run(model, X)
    with pytest.raises(poptorch.Error, match="keeps it outside of forward"):
        run(model, X)


class Registering(nn.Module):
    def forward(self, x):
        if not hasattr(self, "table"):
            self.register_buffer("table", torch.ones(4))
        return x + self.table


def test_buffersThatForwardRegisters():
    model = nn.Sequential(Registering())
    checkInference(model, X)
    assert torch.equal(model.state_dict()["0.table"], torch.ones(4))


class Halving(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        self.linear.weight.data.mul_(0.5)
        self.linear.bias.data = self.linear.bias.data + 1
        y = self.linear(x)
        return y, poptorch.identity_loss((y * y).sum(), "none")


def test_dataOfAParameterChangedInForward():
    model, peer = Halving(), Halving()
    wrapper = poptorch.inferenceModel(model, options())
    for _ in range(2):
        same(wrapper(X)[0], peer(X)[0])
    with pytest.raises(poptorch.Error, match="Parameter linear.weight is chan"):
        poptorch.trainingModel(model, options())(X)


# Modules that torch changes the classes of.


class Moving(nn.Module):
    """As programs do that place their layers themselves."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        self.linear.to(x.device)
        device = next(self.parameters()).device
        table = torch.arange(4).to(device, x.dtype, True)
        y = self.linear(x.to(device, copy=True) + table)
        return y, poptorch.identity_loss((y * y).sum(), "none")


def test_layersMovedInForward():
    model, peer = Moving(), Moving()
    same(run(model, X)[0], peer(X)[0])
    peer(X)[1].backward()
    torch.optim.SGD(peer.parameters(), lr=0.1).step()
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    trainer(X)
    same(model.linear.weight, peer.linear.weight)


class Casting(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        y = self.linear.half()(x.half())
        self.linear.float()
        return y.float() + self.linear(x)


def test_layersCastInForward():
    model = Casting()
    expected = 2 * model.linear(X)
    for _ in range(2):
        same(run(model, X), expected, 1e-2)
    assert model.linear.weight.dtype == torch.float32


class Doubled(nn.Module):
    def forward(self, weight):
        return weight * 2


class LinearLoss(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        return y, poptorch.identity_loss((y * y).sum(), "none")


def parametrized():
    torch.manual_seed(0)
    model = LinearLoss(4, 3)
    parametrize.register_parametrization(model, "weight", Doubled())
    return model


def test_parametrizedModuleIsWrapped():
    model, peer = parametrized(), parametrized()
    same(run(model, X)[0], peer(X)[0])
    peer(X)[1].backward()
    torch.optim.SGD(peer.parameters(), lr=0.1).step()
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    trainer(X)
    same(model.weight, peer.weight)
    same(copy.deepcopy(model).weight, peer.weight)
    with parametrize.cached():
        same(run(model, X)[0], peer(X)[0])
        same(model.weight, peer.weight)
    trainer.destroy()
    same(model(X)[0], peer(X)[0])


@pytest.mark.parametrize("norm", [
    nn.utils.weight_norm, nn.utils.spectral_norm,
    nn.utils.parametrizations.spectral_norm,
])  # fmt: skip
def test_normedWeights(norm):
    torch.manual_seed(0)
    model = norm(nn.Linear(4, 3)).eval()
    expected = model(X)
    before = model.weight
    same(run(model, X), expected)
    same(run(model, X), expected)
    same(model.weight, before)
