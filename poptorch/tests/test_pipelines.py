# Pipelines of networks with state, and blocks in an order that no pipeline has.
# The values are PyTorch's, by the value program and by the machine program.
import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class InStages(nn.Module):
    """Two layers, each in a stage, and another network in one of them."""

    def __init__(self, inner, stage):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.inner = inner
        self.stage = stage

    def forward(self, x, target):
        for i, layer in enumerate(self.layers):
            poptorch.Block.start(str(i), ipu_id=i)
            x = torch.tanh(layer(x))
            x = self.inner(x) if i == self.stage else x
        return x, F.mse_loss(x, target)


class Average(nn.Module):
    """Subtracts a running mean, which it then moves on."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        y = x * torch.cos(self.mean)  # the backward pass reads the mean, too
        self.mean.mul_(0.75).add_(x.detach().mean(0), alpha=0.25)
        return y


class Swap(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.arange(4.0))
        self.register_buffer("b", torch.ones(4))

    def forward(self, x):
        old = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(old)
        return x + 0.1 * old


class Rotation(nn.Module):
    """Three buffers that pass on their values."""

    def __init__(self):
        super().__init__()
        for i, name in enumerate("abc"):
            self.register_buffer(name, torch.full((4,), float(i)))

    def forward(self, x):
        first = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(self.c)
        self.c.copy_(first)
        return x + 0.1 * first


class Recurrent(nn.Module):
    """Its gradient needs what the layer saves, computed again or not."""

    def __init__(self, kind):
        super().__init__()
        self.layer = kind(2, 2)

    def forward(self, x):
        y, _ = self.layer(x.view(-1, 2, 2).transpose(0, 1))
        return torch.cat([y[0], y[1]], 1)


LAYERS = {
    "batch norm": lambda: nn.BatchNorm1d(4),
    "average": Average,
    "swap": Swap,
    "rotation": Rotation,
    "LSTM": lambda: Recurrent(nn.LSTM),
    "GRU": lambda: Recurrent(nn.GRU),
}


def trainWithTorch(model, batches, accumulation):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, target in batches:
        for rows in zip(x.split(2), target.split(2)):
            loss = model(*rows)[-1]
            (loss / accumulation).backward()
            losses.append(loss.item())
        optimizer.step()
        optimizer.zero_grad()
    return torch.tensor(losses)


def trainingOptions(accumulation=5):
    options = poptorch.Options().showCompilationProgressBar(False)
    options.Training.gradientAccumulation(accumulation)
    return options.outputMode(poptorch.OutputMode.All)


@pytest.mark.parametrize("program", ["value", "machine"])
@pytest.mark.parametrize("recomputation", [0, 3])
@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize("kind", LAYERS)
def test_layersInAnyStage(kind, stage, recomputation, program, monkeypatch):
    torch.manual_seed(0)
    model = InStages(LAYERS[kind](), stage).train()
    plain = copy.deepcopy(model)
    batches = [(torch.randn(10, 4), torch.randn(10, 4)) for _ in range(2)]
    options = trainingOptions()
    options._Popart.set("autoRecomputation", recomputation)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monkeypatch.setenv("ASPEN_PROGRAM", program)
    trainer = poptorch.trainingModel(model, options, optimizer)
    losses = torch.cat([trainer(*batch)[1] for batch in batches])
    torch.testing.assert_close(losses, trainWithTorch(plain, batches, 5))
    trainer.copyWeightsToHost()
    for name, value in plain.state_dict().items():
        if value.is_floating_point():
            torch.testing.assert_close(
                model.state_dict()[name], value, msg=lambda m: name + ": " + m
            )


class Ordered(nn.Module):
    """A layer in each block, in the order of the blocks."""

    def __init__(self, *blocks):
        super().__init__()
        self.blocks = blocks
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in blocks)

    def forward(self, x, target):
        for (name, ipu), layer in zip(self.blocks, self.layers):
            with poptorch.Block(name, ipu_id=ipu):
                x = torch.tanh(layer(x))
        with poptorch.Block(name, ipu_id=ipu):
            return x, F.mse_loss(x, target)


AGAIN = (("first", 0), ("second", 1), ("first", 0))
FALLING = (("right", 1), ("left", 0))


@pytest.mark.parametrize("blocks, reader, maker, automatic", [
    (AGAIN, r"'first' \(stage 0, IPU 0\)", r"'second' \(stage 1, IPU 1\)",
     poptorch.AutoStage.SameAsIpu),
    (AGAIN, r"'first' \(stage 1, IPU 0\)", r"'second' \(stage 2, IPU 1\)",
     poptorch.AutoStage.AutoIncrement),
    (FALLING, r"'left' \(stage 0, IPU 0\)", r"'right' \(stage 1, IPU 1\)",
     poptorch.AutoStage.SameAsIpu),
])  # fmt: skip
def test_blocksThatGoBackAreNamed(blocks, reader, maker, automatic):
    options = trainingOptions()
    options.setExecutionStrategy(poptorch.PipelinedExecution(automatic))
    trainer = poptorch.trainingModel(Ordered(*blocks), options)
    with pytest.raises(
        poptorch.Error,
        match=rf"block {reader} reads what block {maker} makes \(called in "
        r"\S*test_pipelines.py:\d+\), .*ShardedExecution",
    ):
        trainer(torch.randn(10, 4), torch.randn(10, 4))


@pytest.mark.parametrize("blocks, strategy", [
    (AGAIN, poptorch.ShardedExecution()),
    (FALLING, poptorch.ShardedExecution()),
    (FALLING, poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement)),
    (FALLING, poptorch.PipelinedExecution("right", "left")),
])  # fmt: skip
@pytest.mark.parametrize("program", ["value", "machine"])
def test_blocksInAnyOrderOnIpus(blocks, strategy, program, monkeypatch):
    torch.manual_seed(0)
    model = Ordered(*blocks)
    plain = copy.deepcopy(model)
    batch = (torch.randn(10, 4), torch.randn(10, 4))
    options = trainingOptions().setExecutionStrategy(strategy)
    monkeypatch.setenv("ASPEN_PROGRAM", program)
    trainer = poptorch.trainingModel(
        model, options, torch.optim.SGD(model.parameters(), lr=0.1)
    )
    losses = trainWithTorch(plain, [batch, batch], 5)
    for step in (losses[:5], losses[5:]):
        torch.testing.assert_close(trainer(*batch)[1], step)


class LossBeforeTheEnd(nn.Module):
    """The stages after the loss's have no backward pass."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, x, target):
        with poptorch.Block("first", ipu_id=0):
            x = torch.tanh(self.layers[0](x))
        with poptorch.Block("second", ipu_id=1):
            x = self.layers[1](x)
            loss = F.mse_loss(x, target)
        with poptorch.Block("third", ipu_id=2):
            y = x.detach().softmax(1)
        with poptorch.Block("fourth", ipu_id=3):
            return y * 2, x, loss


@pytest.mark.parametrize("program", ["value", "machine"])
@pytest.mark.parametrize("recomputation", [0, 3])
def test_lossBeforeTheLastStage(recomputation, program, monkeypatch):
    torch.manual_seed(0)
    model = LossBeforeTheEnd()
    plain = copy.deepcopy(model)
    batches = [(torch.randn(14, 4), torch.randn(14, 4)) for _ in range(2)]
    options = trainingOptions(7)
    options._Popart.set("autoRecomputation", recomputation)
    monkeypatch.setenv("ASPEN_PROGRAM", program)
    trainer = poptorch.trainingModel(
        model, options, torch.optim.SGD(model.parameters(), lr=0.1)
    )
    losses = torch.cat([trainer(*batch)[2] for batch in batches])
    torch.testing.assert_close(losses, trainWithTorch(plain, batches, 7))
