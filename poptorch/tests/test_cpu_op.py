# CPU(): torch code on the host in the middle of a program.
import numpy as np
import pytest
import torch
from torch import nn

import poptorch


def wrap(model, **values):
    options = poptorch.Options().showCompilationProgressBar(False)
    for name, value in values.items():
        getattr(options, name)(value)
    return poptorch.inferenceModel(model, options)


class Model(nn.Module):
    """A layer on the IPU, a function on the CPU, another layer."""

    def __init__(self, function, ipus=1):
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.second = nn.Linear(6, 3)
        self.on_cpu = poptorch.CPU(function, "middle")
        self.last_ipu = ipus - 1

    def forward(self, x):
        with poptorch.Block("first", ipu_id=0):
            x = self.on_cpu(self.first(x))
        with poptorch.Block("second", ipu_id=self.last_ipu):
            return self.second(x)


def numpySort(x):
    """No operator of the IPU, nor of torch."""
    return torch.from_numpy(np.sort(x.numpy(), axis=1))


def check(model, x, **values):
    result = wrap(model, **values)(x)
    expected = model.second(numpySort(model.first(x).detach())).detach()
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-6)


def test_functionRunsBetweenLayers():
    check(Model(numpySort), torch.randn(2, 4))


def test_functionRunsForEveryMicroBatch():
    calls = []

    def function(x):
        calls.append(tuple(x.shape))
        return numpySort(x)

    model = Model(function)
    x = torch.randn(12, 4)
    wrapped = wrap(model, deviceIterations=3)
    wrapped.compile(x)
    calls.clear()
    wrapped(x)
    assert calls == [(4, 6)] * 3
    check(model, x, deviceIterations=3)


def test_functionRunsOnEveryReplica():
    check(Model(numpySort), torch.randn(8, 4), replicationFactor=2,
          deviceIterations=2)  # fmt: skip


def test_functionRunsInAPipeline():
    check(Model(numpySort, ipus=2), torch.randn(8, 4), deviceIterations=4)


def test_modulesHaveTheirOwnWeights():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)
            self.on_cpu = poptorch.CPU(self.inner, "inner")

        def forward(self, x):
            return self.on_cpu(x * 2) + 1

    model = Net()
    assert not model.inner.weight.requires_grad
    x = torch.randn(2, 3)
    wrapped = wrap(model)
    torch.testing.assert_close(wrapped(x), model(x))
    with torch.no_grad():
        model.inner.weight.mul_(2)
    torch.testing.assert_close(wrapped(x), model(x))


def test_severalInputsOutputsTypesAndCalls():
    def function(x, n):
        assert n.dtype == torch.int64
        return [(x * n).half(), n + 1, x > 0]

    op = poptorch.CPU(function, "several")

    def model(x, n):
        half, more, flags = op(x, n)
        again = op(x, more)[0]
        return half, more, flags, again

    x, n = torch.randn(3), torch.tensor([1, 2, 3])
    half, more, flags, again = wrap(model)(x, n)
    assert half.dtype == torch.float16
    torch.testing.assert_close(half, (x * n).half())
    assert torch.equal(more, (n + 1).int())
    assert torch.equal(flags, x > 0)
    torch.testing.assert_close(again, (x * (n + 1)).half())


def test_onTheCpuItIsACall():
    op = poptorch.CPU(lambda x: x + 1, "plain")
    assert torch.equal(op(torch.zeros(2)), torch.ones(2))


def test_errorsOfTheFunctionReachTheCaller():
    state = {"fails": False}

    def function(x):
        if state["fails"]:
            raise ZeroDivisionError("in the middle")
        return x * 2

    wrapped = wrap(poptorch.CPU(function, "fails"))
    x = torch.ones(2)
    assert torch.equal(wrapped(x), x * 2)
    state["fails"] = True
    with pytest.raises(ZeroDivisionError, match="in the middle"):
        wrapped(x)
    state["fails"] = False
    assert torch.equal(wrapped(x), x * 2)


def test_limits():
    inner = poptorch.CPU(lambda x: x, "inner")
    outer = poptorch.CPU(lambda x: inner(x), "outer")
    with pytest.raises(
        poptorch.Error, match="Trying to enter CPU from another CPU op!"
    ):
        wrap(outer)(torch.ones(1))

    class Trained(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1))

        def forward(self, x):
            return poptorch.identity_loss(inner(x * self.w), "sum")

    options = poptorch.Options().showCompilationProgressBar(False)
    with pytest.raises(poptorch.Error, match="only supported in inference"):
        poptorch.trainingModel(Trained(), options)(torch.ones(1))
    with pytest.raises(poptorch.Error, match="must take a torch.tensor"):
        wrap(lambda x: inner(x, 3))(torch.ones(1))


def test_functionRunsInEveryTurnOfALoop():
    op = poptorch.CPU(lambda x: x * 2 + 1, "turn")

    def model(x):
        return poptorch.for_loop(3, lambda y: op(y), [x])[0]

    x = torch.tensor([1.0, 2.0])
    assert torch.equal(wrap(model)(x), x * 8 + 7)
