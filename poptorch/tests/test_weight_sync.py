# Weights of a model that is another one than when it was compiled, and those that
# share memory.
import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch
from models import Small, smallData


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_weightsAreThoseThatTheModelHasNow():
    """Modules, buffers and types may change after the compilation."""
    torch.manual_seed(0)
    model = Small().eval()
    x, _ = smallData(4)
    wrapper = poptorch.inferenceModel(model, options())
    wrapper(x)
    model.b = nn.Linear(8, 3)
    wrapper.copyWeightsToDevice()
    close(wrapper(x), model(x).detach())
    model.half()
    wrapper.copyWeightsToDevice()
    close(wrapper(x), copy.deepcopy(model).float()(x).detach())
    wrapper.copyWeightsToHost()
    assert model.a.weight.dtype == torch.half
    model.b = nn.Linear(8, 5)
    with pytest.raises(poptorch.Error, match=r"b.weight was \[3, 8\].*\[5, 8\]"):
        wrapper.copyWeightsToDevice()
    del model.b
    with pytest.raises(poptorch.Error, match="b.weight was .* is gone"):
        wrapper.copyWeightsToHost()


def test_trainedWeightsAreFetchedIntoHalves():
    torch.manual_seed(0)
    model = Small()
    reference = copy.deepcopy(model)
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=0.1)
    )
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)
    for _ in range(2):
        trainer(*smallData(4))
        model.half()
        reference(*smallData(4))[1].backward()
        optimizer.step()
        optimizer.zero_grad()
    for name, parameter in reference.named_parameters():
        assert model.state_dict()[name].dtype == torch.half
        torch.testing.assert_close(
            model.state_dict()[name].float(), parameter.detach(),
            rtol=1e-3, atol=1e-3,
        )  # fmt: skip


class Sharing(nn.Module):
    """A buffer and a parameter, and others in the same memory."""

    def __init__(self, isApart, changes):
        super().__init__()
        memory = torch.zeros(8)
        self.register_buffer("a", memory[:4])
        self.register_buffer("b", memory[4:] if isApart else memory[2:6])
        self.weight = nn.Parameter(torch.ones(4))
        self.tied = nn.Parameter(torch.ones(4) if isApart else self.weight.data)
        self.changes = changes

    def forward(self, x):
        if self.changes:
            self.a.add_(1)
        y = x * self.weight + self.tied + self.a + self.b
        return y, F.mse_loss(y, x)


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("isTraining", [False, True])
def test_stateThatSharesMemory(changes, isTraining):
    """On the device each has memory of its own."""
    wrap = poptorch.trainingModel if isTraining else poptorch.inferenceModel
    x = torch.rand(4)
    for isApart in (False, True):
        model = Sharing(isApart, changes)
        reference = copy.deepcopy(model)
        wrapper = wrap(model, options())
        if (changes or isTraining) and not isApart:
            with pytest.raises(poptorch.Error, match="share memory"):
                wrapper(x)
            continue
        for _ in range(2 - isTraining):
            close(wrapper(x)[0], reference(x)[0].detach())
