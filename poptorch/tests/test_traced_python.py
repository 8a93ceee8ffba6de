# What Python programs do in forward(), and while it is traced, that has nothing
# to do with the values: it means what it means to torch.
import copy

import numpy
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch
from tracing_checks import X, checkInference, options, run, same


class Trained(nn.Module):
    """Two layers with something between them, and the loss."""

    def __init__(self, between):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(4, 3)
        self.second = nn.Linear(3, 2)
        self.between = between

    def forward(self, x):
        y = self.second(self.between(self, x))
        return y, poptorch.identity_loss((y * y).sum(), "none")


def checkTraining(between, *args):
    """A step of SGD moves the weights as it does in torch."""
    model = Trained(between)
    peer = copy.deepcopy(model)
    peer(*[a.clone() for a in args])[1].backward()
    torch.optim.SGD(peer.parameters(), lr=0.1).step()
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    trainer(*args)
    for ours, theirs in zip(model.parameters(), peer.parameters()):
        same(ours, theirs)


# Parameters of forward().


class Keywords(nn.Module):
    def forward(self, x, *others, scale=2.0, shift):
        return (x + sum(others)) * scale + shift


def test_keywordOnlyParametersBehindOthers():
    model = poptorch.inferenceModel(Keywords(), options())
    same(model(X, X, X, shift=X), X * 7)
    same(model(X + 1, X, X, shift=X), (3 * X + 1) * 2 + X)
    with pytest.raises(poptorch.Error, match="Mandatory parameter shift missing"):
        run(Keywords(), X, X)
    with pytest.raises(AssertionError, match="shft is not a valid parameter"):
        run(Keywords(), X, shft=X)


# Inference mode.


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.LayerNorm(3)
        self.lstm = nn.LSTM(3, 2)

    def forward(self, x):
        return self.lstm(self.norm(self.linear(x)))[0].flatten()


def test_firstCallInInferenceMode():
    model = Recurrent().eval()
    wrapper = poptorch.inferenceModel(model, options())
    with torch.inference_mode():
        same(wrapper(X), model(X))
        assert torch.is_inference_mode_enabled()
        same(wrapper(X + 1), model(X + 1))
    same(wrapper(X), model(X))


class Decorated(Recurrent):
    @torch.inference_mode()
    def forward(self, x):
        return super().forward(x)


def test_inferenceModeAroundForward():
    checkInference(Decorated().eval(), X)
    assert not torch.is_inference_mode_enabled()


def test_inferenceModeInForwardStopsGradients():
    def between(model, x):
        with torch.inference_mode():
            y = model.first(x)
        assert not y.requires_grad
        return y.clone()

    checkTraining(between, X)


# Parameters are Parameters.


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        weight = self.get_parameter("layer.weight")
        assert isinstance(weight, nn.Parameter)
        assert not isinstance(x, nn.Parameter)
        assert not isinstance(weight * 2, nn.Parameter)
        return F.linear(x, weight, dict(self.named_parameters())["layer.bias"])


def test_parametersAreParameters():
    checkInference(Lookup(), X)


# Constants have values.


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(3))

    def forward(self, x):
        c = torch.tensor([1.0, 2.0], device=x.device)
        y = x * c[1].item() + float(c[0]) + int(torch.arange(4).max())
        y = y + torch.full((3, 4), c.sum()) + x.new_full((4,), c.sum())
        y = y + torch.full_like(x, c.sum())
        if c.sum() > 2:
            y = y * 2
        for i in range(self.count):
            y = y + i
        y = y[: self.count.item()] + sum(c.tolist()) + float(c.numpy()[1])
        return y + c.cpu().sum().to(x.device) + torch.ones(2).double().sum()


def test_constantsMadeInForwardHaveValues():
    checkInference(Counting(), X)


class Filling(nn.Module):
    def forward(self, x):
        table = torch.zeros(3, 4, device=x.device)
        row = table[1]
        row[2:] = 5
        table.t()[0].fill_(2)
        mask = table > 3
        mask[0, 1] |= True
        assert row.tolist() == [2, 0, 5, 5]
        return x * row.sum().item() + x[mask].sum() + len(mask.nonzero())


def test_constantsThatAreFilledInPartsHaveValues():
    checkInference(Filling(), X)


def test_constructorOfTensors():
    def model(x):
        y = x + torch.Tensor([1, 2, 3, 4]).to(x.device)
        return y + torch.FloatTensor([5]).to(x.device) + torch.Tensor([[0]]).to(x)

    same(run(model, X), X + torch.tensor([6.0, 7.0, 8.0, 9.0]))
    assert torch.equal(torch.Tensor([1]), torch.ones(1))
    assert "__new__" not in torch.Tensor.__dict__


class Joining(nn.Module):
    def forward(self, x):
        c = torch.tensor([2.0, 3.0], device=x.device)
        y = torch.tensor([[x[0, 1], 5], [c[1], c[0].item()]], device=x.device)
        y = y + x.new_tensor([7]) + x.new_tensor([x[1, 0], c[1]])
        return y + torch.tensor(x[0, :2]) + torch.as_tensor(x[1, :2])


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_tensorsMadeOfTensors():
    checkInference(Joining(), X)


def test_functionsOfPythonForEachElementAreRefused():
    for call in (lambda x: x.apply_(abs), lambda x: x.map_(x, max)):
        with pytest.raises(poptorch.Error, match="is only supported in eager"):
            run(call, X)


@pytest.mark.parametrize("ask", [
    lambda x: x.tolist(), lambda x: x.numpy(), lambda x: x.sum().item(),
    lambda x: torch.full((2,), x.sum().item()), lambda x: torch.equal(x, x),
    lambda x: torch.allclose(x, x), lambda x: [x for _ in range(x[0, 0].int())],
])  # fmt: skip
def test_otherTensorsHaveNone(ask):
    with pytest.raises(poptorch.Error, match="is only supported in eager mode"):
        run(ask, X)


# Gradients switched on, off and aside.


def test_requiresGradSetInForward():
    def between(model, x):
        x.requires_grad = True
        assert x.requires_grad
        y = model.first(x)
        y.requires_grad_(True)
        z = y.detach()
        z.requires_grad = True
        assert z.requires_grad and not y.detach().requires_grad
        return y

    model = Trained(between)
    trainer = poptorch.trainingModel(model, options())
    before = model.first.weight.clone()
    trainer(X)
    assert not torch.equal(model.first.weight, before)


def test_copiesOfLayersAreOthers():
    """Gradients do not go through copy.deepcopy()."""

    def between(model, x):
        copied = copy.deepcopy(model.first)
        assert isinstance(copied.weight, nn.Parameter)
        return copied(x) * model.first(x)

    checkTraining(between, X)


def test_detachInPlace():
    checkTraining(lambda model, x: model.first(x).detach_(), X)


# Doubles are floats on the device.


class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 3)
        self.register_buffer("shift", torch.rand(3, dtype=torch.float64))

    def forward(self, x):
        y = self.linear(x) + self.shift + torch.tensor(numpy.arange(3.0))
        y = y + torch.zeros(3, dtype=torch.float64)
        y = y.double() @ torch.ones(3, 2, dtype=torch.float64)
        return y, F.mse_loss(y, torch.zeros(3, 2, dtype=torch.float64))


def test_doublesMeetFloats():
    model = Doubles()
    expected = copy.deepcopy(model).double()(X.double())[0]
    assert run(model, X.double())[0].dtype == torch.float32
    same(run(model, X.double())[0], expected)
    same(run(model, X)[0], expected)


def test_modelOfDoublesLearns():
    model = Doubles().double()
    peer = copy.deepcopy(model)
    peer(X.double())[1].backward()
    torch.optim.Adam(peer.parameters(), lr=0.1).step()
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.Adam(model.parameters(), lr=0.1)
    )
    trainer(X.double())
    assert model.linear.weight.dtype == torch.float64
    same(model.linear.weight, peer.linear.weight)


# Results whose size the values decide.


@pytest.mark.parametrize("function, operator", [
    (lambda x: x[x > 1].sum(), "aten::index.Tensor"),
    (lambda x: x[(x > 1).to(torch.uint8)], "aten::index.Tensor"),
    (lambda x: torch.masked_select(x, x > 1), "aten::masked_select"),
    (lambda x: torch.unique(x), "aten::_unique2"),
    (lambda x: torch.where(x > 1), "aten::nonzero"),
    (lambda x: x.repeat_interleave((x[:, 0] > 1).long(), 0),
     "aten::repeat_interleave.Tensor"),
])  # fmt: skip
def test_resultsOfUnknownSizeAreNamed(function, operator):
    with pytest.raises(poptorch.Error, match=rf"\[{operator} \(called in .*\)\]"):
        run(function, X)


@pytest.mark.parametrize("function, error, message", [
    (lambda x: x[[0, 7]], IndexError,
     "index 7 is out of bounds for dimension 0 with size 3"),
    (lambda x: x[:, [-5]], IndexError,
     "index -5 is out of bounds for dimension 1 with size 4"),
    (lambda x: x[0, 0, 0], IndexError, "too many indices"),
    (lambda x: x.__setitem__(0, [1.0, 2.0, 3.0, 4.0]), TypeError,
     "can't assign a list to a tensor"),
])  # fmt: skip
def test_indicesThatTorchRefuses(function, error, message):
    with pytest.raises(error, match=message):
        run(function, X)


class Hopeless(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        y = self.linear(x)
        if len((y > 0).nonzero()) == 0:
            return y
        return y, F.mse_loss(y, torch.zeros(3, 3))


def test_nonzeroThatDecidesWhetherThereIsALoss():
    with pytest.raises(poptorch.Error, match=r"\[aten::nonzero \(called in"):
        poptorch.trainingModel(Hopeless(), options())(X)
