# Random networks of what keeps state, has gradients of its own or asks for the
# mode: call after call outputs, losses, weights and buffers are PyTorch's.
import copy
import random

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import poptorch

WIDTH = 5


class Counter(nn.Module):
    """A buffer that each run changes, in training alone or always."""

    UPDATES = {
        "count": (torch.tensor(0), lambda k, x: k.add_(1)),
        "pair": (torch.zeros(2, dtype=torch.int32), lambda k, x: k.add_(2)),
        "flip": (torch.tensor([1, 2]), lambda k, x: k.copy_(k.flip(0) + 1)),
        "mean": (torch.zeros(()), lambda k, x: k.mul_(0.9).add_(x.mean() * 0.1)),
        "truth": (torch.tensor([True, False]), lambda k, x: k.logical_not_()),
        "half": (torch.zeros(2).half(), lambda k, x: k.add_(0.5)),
        "byte": (torch.zeros(2, dtype=torch.uint8), lambda k, x: k.add_(3)),
        "constant": (torch.tensor([1, 0]), lambda k, x: k),
    }

    def __init__(self, choices):
        super().__init__()
        initial, self.update = self.UPDATES[choices.choice(list(self.UPDATES))]
        is_persistent = choices.random() < 0.7
        self.register_buffer("k", initial.clone(), persistent=is_persistent)
        self.is_for_training = choices.random() < 0.5

    def forward(self, x):
        if self.training or not self.is_for_training:
            self.update(self.k, x.detach())
        return x + self.k.float().sum() * 0.01


class Queue(nn.Module):
    """A ring of rows."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, WIDTH))
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        self.rows.index_copy_(0, self.place, x.detach()[:1])
        self.place.copy_((self.place + 1) % 4)
        return x + self.rows.mean()


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.save_for_backward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ctx.factor * (x.abs() < 1), None


class Apply(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.function = function

    def forward(self, x):
        return self.function(self, x)


def hooked(module, x):
    y = module.linear(x)
    if y.requires_grad:
        y.register_hook(lambda gradient: gradient * 0.5)
    return y


def byMode(module, x):
    return module.linear(x) * (1 if module.training else 2)


def checkpointed(module, x):
    return checkpoint(
        lambda t: torch.tanh(module.linear(t)), x, use_reentrant=False
    )


def twice(module, x):
    return module.linear(torch.relu(module.linear(x)))


def norm(choices):
    return nn.BatchNorm1d(
        WIDTH,
        momentum=choices.choice([0.1, 0.5, None]),
        affine=choices.random() < 0.7,
        track_running_stats=choices.random() < 0.8,
    )


def layer(choices):
    makers = (
        norm, norm, Counter, Counter, Counter,
        lambda _: Queue(),
        lambda _: nn.LayerNorm(WIDTH),
        lambda _: nn.utils.spectral_norm(nn.Linear(WIDTH, WIDTH)),
        lambda _: Apply(lambda m, x: Straight.apply(m.linear(x), 0.5)),
        lambda _: Apply(hooked),
        lambda _: Apply(byMode),
        lambda _: Apply(checkpointed),
        lambda _: Apply(twice),
    )  # fmt: skip
    return choices.choice(makers)(choices)


class Network(nn.Module):
    def __init__(self, choices):
        super().__init__()
        layers = [layer(choices) for _ in range(choices.randrange(1, 6))]
        if choices.random() < 0.2:
            layers.append(layers[0])
        self.layers = nn.ModuleList(layers)
        self.head = nn.Linear(WIDTH, 2)
        for one in layers:
            one.train(choices.random() < 0.75)
        for parameter in self.layers.parameters():
            parameter.requires_grad_(choices.random() < 0.85)

    def forward(self, x, target):
        for one in self.layers:
            x = one(x)
        y = self.head(x)
        return y, F.mse_loss(y, target)


def trained(model, seed):
    """Some of the parameters: an optimiser need not have all."""
    choices = random.Random(seed)
    some = [p for p in model.layers.parameters() if choices.random() < 0.8]
    return torch.optim.SGD([*some, *model.head.parameters()], lr=0.01)


def runReference(model, optimizer, x, target, accumulation, rows):
    """Outputs and losses of PyTorch, micro-batch by micro-batch."""
    outputs, losses = [], []
    for i, part in enumerate(zip(x.split(rows), target.split(rows))):
        if optimizer and i % accumulation == 0:
            optimizer.zero_grad()
        statistics = {
            name: value.clone()
            for name, value in model.named_buffers()
            if "running" in name or "num_batches" in name
        }
        y, loss = model(*part)
        outputs.append(y.detach())
        losses.append(loss.item())
        if optimizer:
            (loss / accumulation).backward()
            if i % accumulation == accumulation - 1:
                optimizer.step()
        else:  # in inference statistics stay
            for name, value in model.named_buffers():
                if name in statistics:
                    value.copy_(statistics[name])
    return torch.cat(outputs), torch.tensor(losses)


def requireClose(actual, expected, name=None):
    torch.testing.assert_close(actual, expected, rtol=2e-3, atol=2e-4, msg=name)


@pytest.mark.parametrize("seed", range(24))
def test_randomNetworks(seed):
    choices = random.Random(seed)
    torch.manual_seed(seed)
    model = Network(choices)
    reference = copy.deepcopy(model)
    is_training = choices.random() < 0.6
    iterations = choices.choice([1, 1, 2])
    accumulation = choices.choice([1, 1, 3]) if is_training else 1
    options = poptorch.Options().showCompilationProgressBar(False)
    options.deviceIterations(iterations).outputMode(poptorch.OutputMode.All)
    options.Training.gradientAccumulation(accumulation)
    optimizer = trained(reference, seed) if is_training else None
    if is_training:
        wrapper = poptorch.trainingModel(model, options, trained(model, seed))
    else:
        wrapper = poptorch.inferenceModel(model, options)
        if choices.random() < 0.5:
            wrapper.eval()
            reference.eval()
    rows = 4 * iterations * accumulation
    for _ in range(3):
        x, target = torch.randn(rows, WIDTH), torch.randn(rows, 2)
        outputs, losses = runReference(
            reference, optimizer, x, target, accumulation, 4
        )
        y, loss = wrapper(x, target)
        requireClose(y, outputs)
        requireClose(loss.reshape(-1), losses)
        if choices.random() < 0.3:
            wrapper.detachFromDevice()
    if wrapper.isAttachedToDevice():
        wrapper.copyWeightsToHost()
    for kind in ("named_parameters", "named_buffers"):
        expected = dict(getattr(reference, kind)())
        for name, value in getattr(model, kind)():
            requireClose(value.detach(), expected[name].detach(), name)
    wrapper.destroy()
