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


class Sliced(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.values = nn.Parameter(torch.arange(24.0).reshape(4, 6))

    def forward(self, start):
        y = self.function(self.values * 1, start)
        return y, poptorch.identity_loss(y * y, "sum")


def checkTraining(function, reference, start):
    model = Sliced(function)
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=1.0)
    )
    values = model.values.detach().clone().requires_grad_()
    expected = reference(values)
    (gradient,) = torch.autograd.grad((expected * expected).sum(), values)
    torch.testing.assert_close(trainer(start)[0], expected.detach())
    trainer.copyWeightsToHost()
    torch.testing.assert_close(
        model.values.detach(), values.detach() - gradient
    )


@pytest.mark.parametrize("start", [0, 1, 3])
def test_dynamicSlice(start):
    def function(x, i):
        return poptorch.dynamic_slice(x, 1, i, 3, 2)

    checkTraining(
        function, lambda x: x[:, start : start + 3 : 2], index(start)
    )


def test_dynamicSliceOnTheCpu():
    x = torch.arange(12).reshape(3, 4)
    y = poptorch.dynamic_slice(x, 1, torch.tensor(2), 2, 1)
    assert torch.equal(y, x[:, 2:])


def test_sliceWithATensorStart():
    checkTraining(lambda x, i: x[1:, i : i + 3], lambda x: x[1:, 2:5],
                  index(2))


def test_sliceWithATensorStartBehindAnEllipsis():
    y = run(lambda x, i: x[..., i : i + 2, None],
            torch.arange(24.0).reshape(2, 2, 6), index(3))
    assert torch.equal(
        y, torch.arange(24.0).reshape(2, 2, 6)[..., 3:5, None]
    )


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


def test_dynamicUpdate():
    source = torch.full((4, 2), -1.0)

    def function(x, i):
        return poptorch.dynamic_update(x, torch.full((4, 2), -1.0), 1, i, 2)

    def reference(x):
        return torch.cat([x[:, :3], source, x[:, 5:]], 1)

    checkTraining(function, reference, index(3))


@pytest.mark.parametrize("size, start", [(1, 5), (4, 0), (4, 2), (5, 1), (6, 0)])
def test_dynamicUpdateOfAnySize(size, start):
    source = torch.full((4, size), -1.0)

    def function(x, i):
        return poptorch.dynamic_update(x, torch.full((4, size), -1.0), 1, i, size)

    def reference(x):
        return torch.cat([x[:, :start], source, x[:, start + size :]], 1)

    checkTraining(function, reference, index(start))


def test_dynamicUpdateOfAnotherSizeThanItsSource():
    def function(x, i):
        return poptorch.dynamic_update(x, x[:, :2], 1, i, 3)

    with pytest.raises(poptorch.Error, match="src must have size 3 in dimens"):
        run(function, torch.zeros(4, 6), index(1))


def test_updateOfASliceWithATensorStart():
    def function(x, i):
        x = x * 1
        x[1:, i : i + 3] *= 2
        x[i] = x[0]
        return x

    def reference(x):
        x = x * 1
        x[1:, 2:5] *= 2
        x[2] = x[0]
        return x

    checkTraining(function, reference, index(2))


def test_printTensor(capfd):
    def function(x):
        return poptorch.ipu_print_tensor(x, "seen") * 2

    y = run(function, torch.tensor([1.0, 2.0, 3.0]))
    assert torch.equal(y, torch.tensor([2.0, 4.0, 6.0]))
    printed = capfd.readouterr().err
    assert "seen" in printed
    assert "(1.000,2.000,3.000)" in printed


def test_printTensorPrintsTheGradient(capfd):
    model = Sliced(lambda x, i: poptorch.ipu_print_tensor(x, "seen"))
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=1.0)
    )
    trainer(index(0))
    printed = capfd.readouterr().err
    assert printed.index("seen:") < printed.index("seen_gradient:")


def test_ctcBeamSearch():
    # Of a path the likeliest label at each step, repetitions and blanks out.
    labels = torch.tensor([[1, 1, 0, 2, 2, 0, 1]])
    probabilities = torch.full((7, 1, 3), 1e-6)
    probabilities.scatter_(2, labels.t().unsqueeze(2), 1.0)

    def function(x, lengths):
        return poptorch.ctc_beam_search_decoder(x, lengths, beam_width=4)

    scores, lengths, paths = run(
        function, probabilities.log(), torch.tensor([7], dtype=torch.int32)
    )
    assert scores.shape == (1, 1) and lengths.tolist() == [[3]]
    assert paths.shape == (1, 1, 7)
    assert paths[0, 0, :3].tolist() == [1, 2, 1]


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


def cyclesOfEqualLayers(names, outlining=True):
    """Of as many layers as there are names, each in a scope of its name."""
    torch.manual_seed(3)
    layers = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in names)

    def function(x):
        for name, layer in zip(names, layers):
            with poptorch.Attribute(__outline={"layer": name}):
                x = torch.tanh(layer(x))
        return x

    options = poptorch.Options().showCompilationProgressBar(False)
    options.logCycleCount(True)
    options._Popart.set("enableOutlining", outlining)
    executor = poptorch.inferenceModel(Wrapped(function, layers), options)
    x = torch.randn(4, 16)
    assert torch.allclose(executor(x), function(x), atol=1e-6)
    return executor.cycleCount()


class Wrapped(torch.nn.Module):
    def __init__(self, function, layers):
        super().__init__()
        self.layers = layers
        self.function = function

    def forward(self, x):
        return self.function(x)


def test_outlineAttributesKeepOperationsApart():
    apart = cyclesOfEqualLayers("abcd", outlining=False)
    assert cyclesOfEqualLayers("abcd") == apart
    # Tensors are copied in and out of the function that layers share.
    assert cyclesOfEqualLayers("aaaa") > apart
    with pytest.raises(poptorch.Error, match="takes a dictionary"):
        poptorch.Attribute(__outline="layer")


class Product(nn.Module):
    def __init__(self, mode, factor, keep_precision=False):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 24))
        self.arguments = (mode, factor, keep_precision)

    def forward(self, x):
        y = poptorch.serializedMatMul(x, self.weight, *self.arguments)
        return y, poptorch.identity_loss(y * y, reduction="mean")


def productAfterTraining(mode, factor, half=False):
    """Result, weight and cycles of three steps."""
    torch.manual_seed(5)
    model = Product(mode, factor, half)
    x = torch.randn(8, 16)
    if half:
        model, x = model.half(), x.half()
    options = poptorch.Options().showCompilationProgressBar(False)
    options.logCycleCount(True)
    optimizer = poptorch.optim.SGD(model.parameters(), lr=1.0)
    executor = poptorch.trainingModel(model, options, optimizer)
    for _ in range(3):
        y, _ = executor(x)
    return y.float(), model.weight.detach().float(), executor.cycleCount()


@pytest.mark.parametrize("half", [False, True])
def test_serializedProductsAreTheSameInMorePieces(half):
    modes = poptorch.MatMulSerializationMode
    y, weight, cycles = productAfterTraining(modes.Disabled, 0, half)
    for mode in (modes.InputChannels, modes.ReducingDim, modes.OutputChannels):
        other = productAfterTraining(mode, 4, half)
        assert torch.equal(other[0], y) and torch.equal(other[1], weight)
        assert other[2] > cycles


def test_serializationNeedsAFactorOfTheDimension():
    mode = poptorch.MatMulSerializationMode.OutputChannels
    with pytest.raises(poptorch.Error, match="24 elements.*a factor of 7"):
        productAfterTraining(mode, 7)
