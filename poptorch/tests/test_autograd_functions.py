# torch.autograd.Function: the user's backward() is what trains the model, as in
# PyTorch.
import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

import poptorch
from autograd_functions import CASES, Rounded, rounded


def options(accumulation=1, iterations=1, replicas=1):
    result = poptorch.Options().showCompilationProgressBar(False)
    result.deviceIterations(iterations).replicationFactor(replicas)
    result.Training.gradientAccumulation(accumulation)
    result.outputMode(poptorch.OutputMode.All)
    return result


class Network(nn.Module):
    """`function` between two layers, which are in two blocks."""

    def __init__(self, function):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.first = nn.Linear(3, 4)
        self.weight = nn.Parameter(torch.randn(4, 4))
        self.last = nn.Linear(4, 2)

    def forward(self, x, target):
        with poptorch.Block("first", ipu_id=0):
            x = self.first(x)
        with poptorch.Block("second", ipu_id=1):
            x = self.last(self.function(torch.tanh(x), self.weight))
            return x, F.mse_loss(x, target)


def dataOf(rows):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(rows, 3, generator=generator),
            torch.randn(rows, 2, generator=generator))  # fmt: skip


def requireSameTraining(
    model, options, steps=2, micro_batch=4, rtol=2e-5, reference=None
):
    """Losses and weights are PyTorch's."""
    reference = reference or copy.deepcopy(model)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.02, momentum=0.5)
    trainer = poptorch.trainingModel(
        model, options,
        poptorch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5),
    )  # fmt: skip
    count = options.Training.gradient_accumulation * options.replication_factor
    for _ in range(steps):
        x, target = dataOf(micro_batch * count * options.device_iterations)
        losses = []
        rows = micro_batch * count
        for group in zip(x.split(rows), target.split(rows)):
            optimizer.zero_grad()
            for part in zip(*(t.split(micro_batch) for t in group)):
                loss = reference(*part)[1]
                loss.backward()
                losses.append(loss.item())
            for parameter in reference.parameters():
                if parameter.grad is not None:
                    parameter.grad /= count
            optimizer.step()
        got = trainer(x, target)[1].reshape(-1)
        torch.testing.assert_close(
            got, torch.tensor(losses), rtol=rtol, atol=1e-5
        )
    trained = model.state_dict()
    for name, parameter in reference.named_parameters():
        torch.testing.assert_close(
            trained[name], parameter.detach(), rtol=rtol, atol=1e-5
        )
    trainer.destroy()


def oneIpu(options):
    return options.setExecutionStrategy(
        poptorch.ShardedExecution(poptorch.Stage("first", "second").ipu(0))
    )


@pytest.mark.parametrize("name", CASES)
def test_trainsAsInPyTorch(name):
    rtol = 2e-3 if name == "halves" else 2e-5
    requireSameTraining(Network(CASES[name]), oneIpu(options()), rtol=rtol)


@pytest.mark.parametrize("name", ["several_calls", "linear", "several_outputs"])
@pytest.mark.parametrize(
    "made",
    [
        lambda: oneIpu(options(accumulation=3)),
        lambda: oneIpu(options(iterations=3)),
        lambda: oneIpu(options(replicas=2)),
        lambda: options().setExecutionStrategy(poptorch.ShardedExecution()),
        lambda: options(accumulation=4),
        lambda: options(accumulation=4, iterations=2, replicas=2),
    ],
    ids=["accumulation", "iterations", "replicas", "sharded", "pipelined",
         "pipelined_replicas"],
)  # fmt: skip
def test_trainsAsInPyTorchInEveryWay(name, made):
    requireSameTraining(Network(CASES[name]), made())


def test_inferenceHasTheForwardValue():
    weight = torch.randn(4, 4)
    for name, function in CASES.items():
        x = torch.rand(3, 4)
        wrapper = poptorch.inferenceModel(
            lambda x, weight, function=function: function(x, weight), options()
        )
        torch.testing.assert_close(
            wrapper(x, weight), function(x, weight), rtol=1e-5, atol=1e-6
        )
        wrapper.destroy()


class OwnLoss(Function):
    @staticmethod
    def forward(ctx, x, target):
        ctx.save_for_backward(x, target)
        return ((x - target) ** 2).mean()

    @staticmethod
    def backward(ctx, gradient):
        x, target = ctx.saved_tensors
        return gradient * (x - target).sign(), None


class OwnLossOfTorch(OwnLoss):
    """Marks the loss inside of forward()."""

    @staticmethod
    def forward(ctx, x, target):
        ctx.save_for_backward(x, target)
        return F.mse_loss(x, target)


@pytest.mark.parametrize("isMarked", [False, True])
def test_aLossWithItsOwnGradient(isMarked):
    class Model(Network):
        def forward(self, x, target):
            x = self.last(self.first(x))
            if isMarked:
                loss = OwnLoss.apply(x, target)
                return x, poptorch.identity_loss(loss, "none")
            return x, OwnLossOfTorch.apply(x, target)

    requireSameTraining(Model(None), options())


@pytest.mark.parametrize("isReentrant", [False, True])
def test_checkpointedParts(isReentrant):
    class Model(Network):
        def forward(self, x, target):
            x = x + self.weight[0, :3]  # PyTorch wants a gradient here
            x, y = checkpoint(
                self.part, x, self.weight, use_reentrant=isReentrant
            )
            return y, F.mse_loss(y, target) + x.mean()

        def part(self, x, weight):
            return x, self.last(rounded(torch.tanh(self.first(x))) @ weight)

    class Marked(Model):
        def forward(self, x, target):
            y, loss = super().forward(x, target)
            return y, poptorch.identity_loss(loss, "none")

    requireSameTraining(Marked(None), options())


def test_aFunctionMadeInForward():
    def function(x, weight):
        class Local(Rounded):
            @staticmethod
            def backward(ctx, gradient):
                return gradient * weight[0]

        return Local.apply(x @ weight)

    requireSameTraining(Network(function), oneIpu(options()))


def test_randomNumbersInBackward():
    class Noisy(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return torch.rand_like(gradient)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(10000))

        def forward(self):
            loss = Noisy.apply(self.weight).sum()
            return poptorch.identity_loss(loss, "none")

    model = Model()
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=1.0)
    )
    before = torch.zeros(10000)
    draws = []
    for _ in range(2):
        trainer()
        draws.append(before - model.weight.detach())
        before = model.weight.detach().clone()
        assert 0 <= draws[-1].min() and draws[-1].max() <= 1
        assert abs(draws[-1].mean() - 0.5) < 0.02
        assert abs(draws[-1].std() - 12**-0.5) < 0.02
    assert not torch.equal(*draws)


def trainOnce(function):
    model = Network(function)
    trainer = poptorch.trainingModel(
        model, oneIpu(options()), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    try:
        return trainer(*dataOf(4))
    finally:
        trainer.destroy()


class ReadsAValue(Rounded):
    @staticmethod
    def backward(ctx, gradient):
        return gradient * gradient.max().item()


class TooFew(Rounded):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor


class WrongShape(Rounded):
    @staticmethod
    def backward(ctx, gradient):
        return gradient[:, :2]


class NoBackward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x, w: ReadsAValue.apply(x @ w), r"ReadsAValue.*test_autograd"),
        (lambda x, w: TooFew.apply(x @ w, 2), "expected 2, got 1"),
        (lambda x, w: WrongShape.apply(x @ w), r"index 0.*\[4, 2\].*\[4, 4\]"),
        (lambda x, w: NoBackward.apply(x @ w), "NoBackward.*no gradient"),
    ],
    ids=["item", "count", "shape", "missing"],
)
def test_whatCannotBeTracedIsAnErrorWhereItIsNeeded(function, message):
    with pytest.raises(poptorch.Error, match=message):
        trainOnce(function)
    unused = []
    trainOnce(lambda x, w: unused.append(function(x, w)) or x @ w)
    trainOnce(lambda x, w: function(x.detach(), w.detach()) + x @ w)


def test_backwardMustNotChangeWhatStays():
    class Counting(Rounded):
        @staticmethod
        def forward(ctx, x, buffer):
            ctx.buffer = buffer
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            ctx.buffer.add_(1)
            return gradient, None

    class Model(Network):
        def forward(self, x, target):
            x = self.last(Counting.apply(self.first(x), self.count))
            return x, F.mse_loss(x, target)

    model = Model(None)
    model.register_buffer("count", torch.zeros(1))
    trainer = poptorch.trainingModel(model, options())
    with pytest.raises(poptorch.Error, match="backward.. changes count"):
        trainer(*dataOf(4))
