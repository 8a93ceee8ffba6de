# The rows of the operator tests and how one is checked: forward and gradients
# against PyTorch, in inference, in training and in half precision.
import copy

import pytest
import torch
from torch import nn

import poptorch


class Floats:
    """Evenly drawn numbers."""

    def __init__(self, *shape, low=-2.0, high=2.0):
        self.shape, self.low, self.high = shape, low, high

    def draw(self, generator):
        unit = torch.rand(self.shape, generator=generator)
        return self.low + (self.high - self.low) * unit


class Distinct(Floats):
    """Numbers no two of which are equal or close: what is sorted has one
    order, in half precision as well."""

    def draw(self, generator):
        count = torch.Size(self.shape).numel()
        order = torch.randperm(count, generator=generator)
        step = (self.high - self.low) / count
        return (self.low + step * order).reshape(self.shape)


class Integers:
    def __init__(self, *shape, low=0, high=2, dtype=torch.int64):
        self.shape, self.low, self.high, self.dtype = shape, low, high, dtype

    def draw(self, generator):
        drawn = torch.randint(
            self.low, self.high, self.shape, generator=generator
        )
        return drawn.to(self.dtype)


class Given:
    """These very values."""

    def __init__(self, values, dtype=None):
        self.values, self.dtype = values, dtype

    def draw(self, generator):
        return torch.tensor(self.values, dtype=self.dtype)


class Row:
    """A function or module of tensors, and its inputs; a tuple is a shape of
    floats. `gradient` and `half` say whether those are compared."""

    def __init__(self, name, function, *inputs, gradient=True, half=True):
        self.name = name
        self.function = function
        self._inputs = inputs
        self.gradient = gradient
        self.half = half

    def inputs(self):
        generator = torch.Generator().manual_seed(0)
        return [
            (Floats(*i) if isinstance(i, tuple) else i).draw(generator)
            for i in self._inputs
        ]


class Differentiated(nn.Module):
    """The row's function of parameters, so that their gradients exist: the
    loss is the sum of the results times fixed weights."""

    def __init__(self, row, inputs, results):
        super().__init__()
        self.function = row.function
        self.values = nn.ParameterList(
            [nn.Parameter(t.clone()) for t in inputs if t.is_floating_point()]
        )
        self._isFloat = [t.is_floating_point() for t in inputs]
        for i, result in enumerate(results):
            if result.is_floating_point():
                weights = torch.linspace(0.5, 1.5, result.numel())
                self.register_buffer(
                    f"weights{i}", weights.reshape(result.shape)
                )

    def forward(self, unit, *integers):
        # The parameters are made activations: gradients go through `unit`.
        values = iter([v * unit for v in self.values])
        others = iter(integers)
        results = flat(
            self.function(
                *(next(values if f else others) for f in self._isFloat)
            )
        )
        terms = [
            (result * getattr(self, f"weights{i}")).sum()
            for i, result in enumerate(results)
            if result.is_floating_point()
        ]
        return results, poptorch.identity_loss(sum(terms), "sum")


def flat(results):
    return [results] if isinstance(results, torch.Tensor) else list(results)


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def check(row):
    torch.manual_seed(0)
    inputs = row.inputs()
    function = copy.deepcopy(row.function)
    with torch.no_grad():
        expected = flat(copy.deepcopy(function)(*inputs))
    inference = poptorch.inferenceModel(function, options())
    compareAll(inference(*inputs), expected)
    inference.destroy()
    if not any(t.is_floating_point() for t in inputs):
        return
    if row.gradient and any(t.is_floating_point() for t in expected):
        checkTraining(row, inputs, expected)
    if row.half:
        checkHalf(row, inputs)


def checkTraining(row, inputs, results):
    """One step of SGD with rate 1 moves each parameter by its gradient."""
    integers = [t for t in inputs if not t.is_floating_point()]
    model = Differentiated(row, inputs, results)
    expected = copy.deepcopy(model)
    unit = torch.ones(())
    outputs, loss = expected(unit, *integers)
    before = list(expected.parameters())
    gradients = torch.autograd.grad(loss, before, allow_unused=True)
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=1.0)
    )
    compareAll(trainer(unit, *integers)[0], outputs)
    trainer.copyWeightsToHost()
    for parameter, old, gradient in zip(
        model.parameters(), before, gradients
    ):
        if gradient is not None:
            compare((old - parameter).detach(), gradient)
    for name, buffer in expected.named_buffers():
        if buffer.is_floating_point():
            compare(dict(model.named_buffers())[name], buffer)
    trainer.destroy()


def checkHalf(row, inputs):
    """Half precision against float of the same rounded values."""
    rounded = [t.half() if t.is_floating_point() else t for t in inputs]
    function, exact = row.function, row.function
    if isinstance(function, nn.Module):
        function = copy.deepcopy(function).half()
        exact = copy.deepcopy(function).float()
    with torch.no_grad():
        expected = flat(
            exact(*(t.float() if t.is_floating_point() else t for t in rounded))
        )
    inference = poptorch.inferenceModel(function, options())
    for result, wanted in zip(flat(inference(*rounded)), expected):
        if wanted.is_floating_point():
            assert result.dtype in (torch.half, torch.float)
            compare(result.float(), wanted, 1e-2)
        else:
            compare(result, wanted)
    inference.destroy()


def compareAll(results, expected):
    results = flat(results)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        compare(result, wanted)


def compare(result, expected, tolerance=2e-5):
    expected = expected.detach()
    assert result.shape == expected.shape
    if not expected.is_floating_point():
        assert torch.equal(result.to(expected.dtype), expected)
        return
    torch.testing.assert_close(
        result, expected, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def rowTest(rows):
    """A test function with one case for each row."""
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)

    @pytest.mark.parametrize("row", rows, ids=names)
    def test(row):
        check(row)

    return test
