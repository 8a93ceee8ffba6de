# Hooks that gradients go through: those of parameters and of tensors in forward(),
# as in PyTorch.
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch
from test_autograd_functions import dataOf, options, requireSameTraining


class Network(nn.Module):
    """Layers in two blocks; forward() may register hooks of its own."""

    def __init__(self, register=lambda tensor: None):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(3, 4)
        self.last = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.rand(4) + 1)
        self.register = register

    def forward(self, x, target):
        with poptorch.Block("first", ipu_id=0):
            x = torch.tanh(self.first(x))
            self.register(x)
        with poptorch.Block("second", ipu_id=1):
            x = self.last(x * self.scale + x)
            return x, F.mse_loss(x, target)


def clip(gradient):
    return gradient.clamp(-0.01, 0.01)


def nothing(gradient):
    assert gradient.dim() > 0


HOOKS = {
    "zero": [lambda g: g * 0],
    "clip": [clip],
    "nothing": [nothing],
    "two": [lambda g: g * 2, lambda g: g + 0.1],
    "sign": [nothing, torch.sign],
}


def sharded():
    return options().setExecutionStrategy(poptorch.ShardedExecution())


def oneIpu():
    return options(iterations=2).setExecutionStrategy(
        poptorch.ShardedExecution(poptorch.Stage("first", "second").ipu(0))
    )


def pipelined():
    return options(accumulation=4)


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("made", [oneIpu, sharded, pipelined])
def test_hooksOfTensors(name, made):
    def register(tensor):
        for hook in HOOKS[name]:
            tensor.register_hook(hook)

    requireSameTraining(Network(register), made())


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("made", [oneIpu, sharded])
def test_hooksOfParameters(name, made):
    model = Network()
    reference = Network()
    for one in (model, reference):
        for parameter in (one.first.weight, one.scale):
            for hook in HOOKS[name]:
                parameter.register_hook(hook)
    requireSameTraining(model, made(), reference=reference)


def test_hooksInInferenceChangeNothing():
    model = Network(lambda tensor: tensor.register_hook(clip))
    model.scale.register_hook(clip)
    x, target = dataOf(4)
    wrapper = poptorch.inferenceModel(model, sharded())
    torch.testing.assert_close(wrapper(x, target)[0], model(x, target)[0].detach())


@pytest.mark.parametrize(
    "register, error, message",
    [
        (lambda t: (t * 2, t.register_hook(clip)), poptorch.Error, "used already"),
        (lambda t: t.detach().register_hook(clip), RuntimeError, "require grad"),
        (lambda t: t.register_hook(clip).remove(), poptorch.Error, "be removed"),
    ],
)
def test_hooksThatCannotBe(register, error, message):
    trainer = poptorch.trainingModel(Network(register), sharded())
    with pytest.raises(error, match=message):
        trainer(*dataOf(4))


@pytest.mark.parametrize("isFull", [False, True])
def test_hooksOfModulesAreRefused(isFull):
    model = Network()
    kind = "register_full_backward_hook" if isFull else "register_backward_hook"
    getattr(model.last, kind)(lambda *_: None)
    trainer = poptorch.trainingModel(model, sharded())
    with pytest.raises(poptorch.Error, match="Backward hooks of modules.*last"):
        trainer(*dataOf(4))
    model.destroy()
    poptorch.inferenceModel(model, sharded())(*dataOf(4))


def test_detachedWithoutGradients():
    """detach_() under no_grad() detaches, as it does elsewhere."""

    def register(tensor):
        with torch.no_grad():
            tensor.detach_()

    requireSameTraining(Network(register), oneIpu())
