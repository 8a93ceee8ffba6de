"""No operation, nor its gradient, fills a few tiles while the others have room.

Each row is an operation on tensors of ordinary sizes. It is compiled for an IPU
model, and the fullest tile is compared with the mean of all: the bound is what an
even spread leaves for the grains of mappings and for what one tile has to keep."""

import re

import pytest
import torch
import torch.nn.functional as F

import poptorch

MEAN_TIMES = 3
TILE_BYTES = 24 * 1024  # of 638,976


def floats(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def indices(below, *shape):
    generator = torch.Generator().manual_seed(below)
    return torch.randint(0, below, shape, generator=generator)


def alongAxes(name, function, shapes, indexed=False):
    """The function of each dimension of tensors of each shape, with as many
    indices as the tensor has elements where it takes them."""
    for shape in shapes:
        for axis in range(len(shape)):
            text = "x".join(map(str, shape))
            inputs = [floats(*shape)]
            if indexed:
                inputs.append(indices(shape[axis], *shape))
            yield pytest.param(
                lambda *inputs, axis=axis: function(*inputs, axis),
                inputs,
                id=f"{name} {text} along {axis}",
            )


def row(name, function, *inputs):
    return pytest.param(function, list(inputs), id=name)


SHAPES = [(8, 256, 128), (65536, 8), (262144,)]

OPERATIONS = [
    *alongAxes("max", lambda x, d: x.max(d)[0], SHAPES),
    *alongAxes("topk", lambda x, d: x.topk(3, d)[0], [(8, 256, 128)]),
    *alongAxes("sort", lambda x, d: x.sort(d)[0], [(512, 1024)]),
    *alongAxes(
        "gather", lambda x, i, d: x.gather(d, i), [(512, 1024), (262144,)], True
    ),
    *alongAxes(
        "scatter_add",
        lambda x, i, d: torch.zeros_like(x).scatter_add(d, i, x),
        [(65536, 8), (262144,)],
        True,
    ),
    *alongAxes(
        "select one",
        lambda x, d: x.index_select(d, torch.tensor([1])),
        SHAPES,
    ),
    *alongAxes("softmax", lambda x, d: x.softmax(d), [(8, 64, 28, 28)]),
    row("median", lambda x: x.median(), floats(512, 1024)),
    row(
        "log_softmax, gather",
        lambda x, i: x.log_softmax(-1).gather(1, i),
        floats(64, 1000),
        indices(1000, 64, 1),
    ),
    row(
        "embedding of one",
        lambda w, i: F.embedding(i, w),
        floats(20000, 64),
        indices(20000, 1),
    ),
    row(
        "embedding",
        lambda w, i: F.embedding(i, w),
        floats(30522, 64),
        indices(30522, 8, 128),
    ),
    row("pad", lambda x: F.pad(x, [1, 2] * 5), floats(4, 16, 8, 20, 24)),
    row("pad rows", lambda x: F.pad(x, [1, 2, 1, 2]), floats(65536, 8)),
    *(
        row(
            f"pad {mode}",
            lambda x, mode=mode: F.pad(x, [3, 3, 3, 3], mode=mode),
            floats(4, 32, 56, 56),
        )
        for mode in ("reflect", "replicate")
    ),
]


class Inference(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Training(torch.nn.Module):
    """The first input is trained, by the squares of what comes out."""

    def __init__(self, function, weight):
        super().__init__()
        self.function = function
        self.weight = torch.nn.Parameter(weight)

    def forward(self, unused, *inputs):
        y = self.function(self.weight, *inputs)
        return poptorch.identity_loss(y * y, reduction="sum")


def options():
    result = poptorch.Options()
    result.useIpuModel(True)
    return result.showCompilationProgressBar(False)


def number(pattern, text):
    return float(re.search(pattern, text)[1].replace(",", ""))


def checkBalance(executor, inputs):
    executor.compile(*inputs)
    text = executor.getProfileSummary()
    executor.destroy()
    fullest = number(r"Maximum \(Including Gaps\): ([\d,]+)", text)
    total = number(r"Total:\n\s+Including Gaps:\s+([\d,]+)", text)
    mean = total / number(r"Total Tiles:\s+([\d,]+)", text)
    assert fullest < MEAN_TIMES * mean + TILE_BYTES


@pytest.mark.parametrize("function, inputs", OPERATIONS)
def test_inference(function, inputs):
    model = poptorch.inferenceModel(Inference(function), options())
    checkBalance(model, inputs)


@pytest.mark.parametrize("function, inputs", OPERATIONS)
def test_training(function, inputs):
    module = Training(function, inputs[0])
    optimizer = poptorch.optim.SGD(module.parameters(), lr=0.1)
    model = poptorch.trainingModel(module, options(), optimizer)
    checkBalance(model, [torch.zeros(1), *inputs[1:]])


class ManyScales(torch.nn.Module):
    """Hundreds of small parameters, with state of the optimiser for each."""

    def __init__(self):
        super().__init__()
        self.scales = torch.nn.ParameterList(
            torch.nn.Parameter(floats(64)) for _ in range(200)
        )

    def forward(self, x):
        for scale in self.scales:
            x = torch.tanh(x * scale)
        return poptorch.identity_loss(x, reduction="sum")


def test_smallTensorsTakeTurns():
    module = ManyScales()
    optimizer = poptorch.optim.SGD(
        module.parameters(), lr=0.1, momentum=0.9, use_combined_accum=False
    )
    model = poptorch.trainingModel(module, options(), optimizer)
    checkBalance(model, [floats(64, 64)])
