# Training and evaluation mode: what the traced model sees of it, and the
# statistics that norms keep.
import copy

import pytest
import torch
from torch import nn

import poptorch


def options(iterations=1):
    return (
        poptorch.Options()
        .showCompilationProgressBar(False)
        .deviceIterations(iterations)
    )


class ModeSeen(nn.Module):
    """Its own flag, and that of a module in it."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Dropout(0.5)

    def forward(self, x):
        return x + (1 if self.training else 2) + 10 * self.inner.training


@pytest.mark.parametrize("mode", [True, False])
def test_wrappersSetTheModeOfWhatTheyTrace(mode):
    model = ModeSeen()
    model.train(not mode)
    wrapper = poptorch.inferenceModel(model, options())
    assert wrapper.train(mode) is wrapper
    assert wrapper.training == mode
    x = torch.zeros(2)
    assert torch.equal(wrapper(x), model(x))
    wrapper = poptorch.inferenceModel(model, options())
    assert wrapper.eval() is wrapper
    assert wrapper(x).tolist() == [2, 2]


def test_trainingWrappersToo():
    class WithLoss(ModeSeen):
        def forward(self, x):
            return poptorch.identity_loss(super().forward(x), "sum")

    model = WithLoss()
    model.weight = nn.Parameter(torch.zeros(1))
    wrapper = poptorch.trainingModel(model, options())
    wrapper.eval()
    assert wrapper(torch.zeros(2)).item() == 4
    wrapper.destroy()
    wrapper = poptorch.trainingModel(model, options())
    wrapper.train()
    assert wrapper(torch.zeros(2)).item() == 22


def test_theModeOfACompiledModelStays(capfd):
    wrapper = poptorch.inferenceModel(ModeSeen(), options())
    assert wrapper(torch.zeros(1)).item() == 11
    wrapper.train()
    assert "compiled in another mode" not in capfd.readouterr().err
    wrapper.eval()
    assert "compiled in another mode" in capfd.readouterr().err
    assert wrapper(torch.zeros(1)).item() == 11
    wrapper.destroy()
    assert wrapper(torch.zeros(1)).item() == 2


NORMS = {
    "BatchNorm1d": (lambda **v: nn.BatchNorm1d(3, **v), (4, 3)),
    "BatchNorm2d": (lambda **v: nn.BatchNorm2d(3, **v), (4, 3, 2, 2)),
    "BatchNorm3d": (lambda **v: nn.BatchNorm3d(3, **v), (2, 3, 2, 2, 2)),
    "InstanceNorm1d": (
        lambda **v: nn.InstanceNorm1d(3, track_running_stats=True, **v),
        (4, 3, 5),
    ),
    "InstanceNorm2d": (
        lambda **v: nn.InstanceNorm2d(3, track_running_stats=True, **v),
        (4, 3, 2, 2),
    ),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("isNested", [False, True])
def test_statisticsStayInInference(name, isNested):
    """What a call returns does not depend on the calls before."""
    torch.manual_seed(0)
    make, shape = NORMS[name]
    norm = make(affine=True)
    model = nn.Sequential(norm, nn.Tanh()) if isNested else norm
    before = copy.deepcopy(model.state_dict())
    wrapper = poptorch.inferenceModel(model, options(2))
    x = torch.randn(2 * shape[0], *shape[1:]) + 1
    expected = torch.cat([copy.deepcopy(model)(p) for p in x.chunk(2)])
    for _ in range(3):
        torch.testing.assert_close(
            wrapper(x), expected.detach(), rtol=1e-4, atol=1e-5
        )
    wrapper.copyWeightsToHost()
    for key, value in before.items():
        assert torch.equal(model.state_dict()[key], value), key


def test_functionalStatisticsStayInInference():
    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(3))
            self.register_buffer("variance", torch.ones(3))

        def forward(self, x):
            y = nn.functional.batch_norm(
                x, self.mean, self.variance, training=True
            )
            return y, self.mean + 0

    wrapper = poptorch.inferenceModel(Functional(), options())
    for _ in range(2):
        assert wrapper(torch.randn(4, 3) + 5)[1].tolist() == [0, 0, 0]
