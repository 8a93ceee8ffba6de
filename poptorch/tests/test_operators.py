# PopTorch's own operators on values.
import pytest
import torch
from torch import nn

import poptorch


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def run(function, *inputs):
    return poptorch.inferenceModel(function, options())(*inputs)


def index(value):
    return torch.tensor([value], dtype=torch.int32)


def test_dynamicSliceOnTheCpu():
    x = torch.arange(12).reshape(3, 4)
    y = poptorch.dynamic_slice(x, 1, torch.tensor(2), 2, 1)
    assert torch.equal(y, x[:, 2:])


@pytest.mark.parametrize("function, message", [
    (lambda x, i: x[i : i + 4], r"The size of the slice \(4\) must be a "
     r"factor of the slicing dimension \(6\)."),
    (lambda x, i: x[: i], "The size of the sliced tensor must be a constant"),
    (lambda x, i: x[i : i * 2],
     "The size of the sliced tensor must be a constant"),
])  # fmt: skip
def test_slicesThatAreRefused(function, message):
    with pytest.raises(poptorch.Error, match=message):
        run(function, torch.zeros(6), index(1))


def test_multiConvGivesTheSameValues():
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Conv2d(2, 3, 3)
            self.b = nn.Conv2d(2, 3, 3)

        def forward(self, x):
            context = (
                poptorch.MultiConv()
                .availableMemoryProportions(0.4)
                .partialsTypes([torch.float32, torch.float16])
                .enableConvDithering(True)
                .planType(poptorch.MultiConvPlanType.Serial)
                .perConvReservedTiles(100)
                .cycleBackOff(0.3)
            )
            with context:
                return self.a(x) + self.b(x)

    model = Pair()
    x = torch.randn(1, 2, 5, 5)
    expected = model(x).detach()  # the context also works on the CPU
    torch.testing.assert_close(run(model, x), expected, rtol=1e-5, atol=1e-5)


def test_multiConvDoesNotNest():
    def function(x):
        with poptorch.MultiConv(), poptorch.MultiConv():
            return x + 1

    with pytest.raises(
        poptorch.Error, match="Nested poptorch.MultiConv is not supported."
    ):
        run(function, torch.zeros(2))
    with poptorch.MultiConv():
        pass  # the error left nothing behind


POINTS = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [5.0, 1.0], [0.0, 3.0]]


def test_farthestPoints():
    # From (0, 0) the farthest is (5, 1), then (0, 3).
    def function(points):
        return poptorch.fps(points, [0, 5], ratio=0.6)

    points = torch.tensor(POINTS)
    assert function(points).tolist() == [0, 3, 4]
    assert run(function, points).tolist() == [0, 3, 4]


def test_farthestPointsOfTwoClouds():
    def function(points):
        return poptorch.fps(points, [0, 2, 5], ratio=0.5)

    assert run(function, torch.tensor(POINTS)).tolist() == [0, 2, 4]


def test_nearestPoints():
    x = torch.tensor([[0.4, 0.0], [4.0, 2.0]])
    y = torch.tensor(POINTS)
    assert run(poptorch.nearest, x, y).tolist() == [0, 3]

    def batched(x, y):
        return poptorch.nearest(x, y, [1, 0], [0, 0, 1, 1, 0])

    assert run(batched, x, y).tolist() == [2, 1]


def test_attributesAreAccepted():
    def function(x):
        with poptorch.Attribute(__outline={"layer": "embedding"}):
            return x + 1

    assert torch.equal(run(function, torch.zeros(2)), torch.ones(2))
