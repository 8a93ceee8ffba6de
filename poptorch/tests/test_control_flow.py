# for_loop() and cond(): bodies that the device runs.
import pytest
import torch
from torch import nn

import poptorch


def run(function, *inputs):
    options = poptorch.Options().showCompilationProgressBar(False)
    return poptorch.inferenceModel(function, options)(*inputs)


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 7])
def test_loopHandsEachTurnWhatTheLastReturned(count):
    def body(x, y):
        return x + y, y * 2

    def model(x, y):
        return poptorch.for_loop(count, body, [x, y])

    x, y = torch.randn(3), torch.randn(3)
    a, b = x, y
    for _ in range(count):
        a, b = body(a, b)
    for result, expected in zip(run(model, x, y), (a, b)):
        close(result, expected)


def test_loopReadsWeightsConstantsAndActivations():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            offset = x * 0.5
            steps = torch.ones(4) * 3

            def body(y):
                return torch.tanh(self.layer(y)) + offset / steps

            return poptorch.for_loop(5, body, [x])[0]

    model = Model()
    x = torch.randn(2, 4)
    expected = x
    for _ in range(5):
        expected = torch.tanh(model.layer(expected)) + x * 0.5 / 3
    close(run(model, x), expected.detach())


def test_loopsNest():
    def model(x):
        def inner(y):
            return y * 2

        def outer(y, n):
            y = poptorch.for_loop(2, inner, [y])[0]
            return y + n, n + 1

        return poptorch.for_loop(3, outer, [x, torch.zeros(1)])[0]

    # ((x * 4 + 0) * 4 + 1) * 4 + 2
    x = torch.tensor([1.0, 2.0])
    close(run(model, x), x * 64 + 6)


def test_bodiesChangeCopies():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(2))

        def forward(self, x):
            view = x[:2]

            def body(y):
                y += 1
                self.seen.add_(1)
                return y + view

            y = poptorch.for_loop(3, body, [view])[0]
            return y, x, view + self.seen

    x = torch.tensor([1.0, 2.0, 3.0])
    y, same, view = run(Model(), x)
    close(y, x[:2] * 4 + 3)
    close(same, x)
    close(view, x[:2])


def test_tensorPassedTwiceIsTwoTensors():
    def model(x):
        return poptorch.for_loop(2, lambda a, b: (a + b, b), [x, x])

    a, b = run(model, torch.ones(2))
    close(a, torch.full((2,), 3.0))
    close(b, torch.ones(2))


def test_loopOnTheCpuIsOneTurn():
    result = poptorch.for_loop(9, lambda x: x * 2, [torch.ones(2)])
    assert torch.equal(result[0], torch.full((2,), 2.0))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_conditionTakesOneOfTwoBodies(sign):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.tensor([2.0, 3.0]))

        def forward(self, x):
            doubled = x * 2

            def positive(y):
                return y * self.w, doubled

            def negative(y, z):
                return y - z, torch.zeros(2)

            return poptorch.cond(
                x.sum() > 0, positive, [x], negative, [x, doubled]
            )

    x = torch.tensor([1.0, 2.0]) * sign
    model = Model()
    expected = [t.detach() for t in model(x)]
    for result, value in zip(run(model, x), expected):
        close(result, value)


def test_conditionInALoop():
    def model(x):
        def body(y):
            return poptorch.cond(
                y.max() < 10, lambda t: t * 3, [y], lambda t: t - 1, [y]
            )[0]

        return poptorch.for_loop(6, body, [x])[0]

    x = torch.tensor([1.0, 2.0])
    expected = x
    for _ in range(6):
        expected = expected * 3 if expected.max() < 10 else expected - 1
    close(run(model, x), expected)


def test_bothAreForInferenceOnly():
    def train(function):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(2))

            def forward(self, x):
                y = function(x * self.w)
                return poptorch.identity_loss(y, "sum")

        options = poptorch.Options().showCompilationProgressBar(False)
        poptorch.trainingModel(Model(), options)(torch.ones(2))

    with pytest.raises(
        poptorch.Error, match=r"poptorch.for_loop\(\) is only supported in inf"
    ):
        train(lambda x: poptorch.for_loop(2, lambda y: y * 2, [x])[0])
    with pytest.raises(
        poptorch.Error, match=r"poptorch.cond\(\) is only supported in inf"
    ):
        train(lambda x: poptorch.cond(
            x.sum() > 0, lambda y: y, [x], lambda y: y * 2, [x])[0])  # fmt: skip


def test_wrongArgumentsAreNamed():
    x = torch.ones(2)
    for inputs in (x, (x,), [x, 1]):
        with pytest.raises(ValueError, match="inputs to be a list of tensors"):
            poptorch.for_loop(2, lambda y: y, inputs)
    with pytest.raises(ValueError, match="takes a number of turns"):
        poptorch.for_loop(x, lambda y: y, [x])
    with pytest.raises(ValueError, match="then_inps to be a list"):
        poptorch.cond(x, lambda y: y, x, lambda y: y, [x])
    with pytest.raises(ValueError, match="else_inps to be a list"):
        poptorch.cond(x, lambda y: y, [x], lambda y: y, x)


def test_bodiesThatDoNotFitAreErrors():
    x = torch.ones(2)
    for message, model in (
        ("must return as many tensors as it takes, 1, not 2",
         lambda t: poptorch.for_loop(2, lambda y: (y, y), [t])),
        (r"input 0 and output 0 must have the same type and shape, not "
         r"FLOAT\[2\] and FLOAT\[4\]",
         lambda t: poptorch.for_loop(2, lambda y: torch.cat([y, y]), [t])),
        ("both bodies must return equally many tensors, not 1 and 2",
         lambda t: poptorch.cond(t.sum() > 0, lambda y: y, [t],
                                 lambda y: (y, y), [t])),
        ("bodies' outputs 0 must have the same type and shape",
         lambda t: poptorch.cond(t.sum() > 0, lambda y: y, [t],
                                 lambda y: y[:1], [t])),
        ("a body must return tensors",
         lambda t: poptorch.for_loop(2, lambda y: "no tensor", [t])),
        ("Unsupported ops found in compiled model: .aten::special_airy",
         lambda t: poptorch.for_loop(2, torch.special.airy_ai, [t])),
    ):  # fmt: skip
        with pytest.raises(poptorch.Error, match=message):
            run(model, x)
