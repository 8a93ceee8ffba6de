# One row per torch operator: forward and gradients against PyTorch, in both
# executors.
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import poptorch


class Row:
    """A function or module, and the shapes of its inputs. `low` and `high`
    bound the inputs' values; integer dtypes are drawn from [0, high)."""

    def __init__(self, name, function, *shapes, low=-2.0, high=2.0,
                 gradient=True, dtypes=()):  # fmt: skip
        self.name = name
        self.function = function
        self.shapes = shapes
        self.low = low
        self.high = high
        self.gradient = gradient
        self.dtypes = dtypes

    def inputs(self):
        generator = torch.Generator().manual_seed(0)
        tensors = []
        for i, shape in enumerate(self.shapes):
            dtype = self.dtypes[i] if i < len(self.dtypes) else torch.float
            if dtype.is_floating_point:
                unit = torch.rand(shape, generator=generator)
                tensors.append(self.low + (self.high - self.low) * unit)
            else:
                high = max(2, int(self.high))
                tensors.append(
                    torch.randint(0, high, shape, generator=generator)
                )
        return tensors


LONG = torch.int64
S = (4, 6)

ROWS = [
    # Element-wise, one operand.
    Row("abs", torch.abs, S),
    Row("asin", torch.asin, S, low=-0.9, high=0.9),
    Row("ceil", torch.ceil, S),
    Row("cos", torch.cos, S),
    Row("erf", torch.erf, S),
    Row("exp", torch.exp, S),
    Row("expm1", torch.expm1, S),
    Row("floor", torch.floor, S),
    Row("log", torch.log, S, low=0.1),
    Row("log1p", torch.log1p, S, low=-0.5),
    Row("log2", torch.log2, S, low=0.1),
    Row("log10", torch.log10, S, low=0.1),
    Row("neg", torch.neg, S),
    Row("reciprocal", torch.reciprocal, S, low=0.5),
    Row("relu", torch.relu, S),
    Row("round", torch.round, S, gradient=False),
    Row("rsqrt", torch.rsqrt, S, low=0.5),
    Row("sigmoid", torch.sigmoid, S),
    Row("sign", torch.sign, S, gradient=False),
    Row("sin", torch.sin, S),
    Row("sqrt", torch.sqrt, S, low=0.5),
    Row("square", torch.square, S),
    Row("tan", torch.tan, S, low=-1, high=1),
    Row("sinh", torch.sinh, S),
    Row("tanh", torch.tanh, S),
    Row("trunc", torch.trunc, S, gradient=False),
    Row("frac", torch.frac, S, gradient=False),
    # Element-wise, two operands; broadcasting.
    Row("add", torch.add, S, S),
    Row("add_alpha", lambda a, b: torch.add(a, b, alpha=3), S, S),
    Row("add_number", lambda a: a + 1.5, S),
    Row("add_broadcast", torch.add, S, (6,)),
    Row("sub", torch.sub, S, S),
    Row("rsub", lambda a: 3 - a, S),
    Row("mul", torch.mul, S, (4, 1)),
    Row("div", torch.div, S, S, low=0.5),
    Row("div_number", lambda a: a / 4, S),
    Row("div_floor", lambda a, b: torch.div(a, b, rounding_mode="floor"), S, S,
        low=0.5, gradient=False),
    Row("pow_number", lambda a: a**2, S),
    Row("pow", torch.pow, S, S, low=0.5),
    Row("maximum", torch.maximum, S, S),
    Row("minimum", torch.minimum, S, S),
    Row("atan2", torch.atan2, S, S, low=0.5, gradient=False),
    Row("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=2), S, S, S),
    Row("clamp", lambda a: a.clamp(-1, 1), S),
    Row("clamp_min", lambda a: a.clamp(min=0.3), S),
    Row("clamp_max", lambda a: a.clamp(max=0.3), S),
    Row("in_place", lambda a: (a * 1).mul_(3).add_(a), S),
    # Comparisons and choice.
    Row("eq", torch.eq, S, S, high=3, dtypes=(LONG, LONG), gradient=False),
    Row("gt", torch.gt, S, S, gradient=False),
    Row("ge_number", lambda a: a >= 0.5, S, gradient=False),
    Row("lt", torch.lt, S, (6,), gradient=False),
    Row("ne_number", lambda a: a != 1, S, high=3, dtypes=(LONG,),
        gradient=False),
    Row("logical_and", lambda a, b: (a > 0) & (b > 0), S, S, gradient=False),
    Row("logical_not", lambda a: torch.logical_not(a > 0), S, gradient=False),
    Row("where", lambda a, b: torch.where(a > 0, a, b), S, S),
    Row("masked_fill", lambda a: a.masked_fill(a > 0, -5.0), S),
    # Activations.
    Row("leaky_relu", lambda a: F.leaky_relu(a, 0.1), S),
    Row("elu", F.elu, S),
    Row("selu", F.selu, S),
    Row("celu", lambda a: F.celu(a, 1.5), S),
    Row("silu", F.silu, S),
    Row("mish", F.mish, S),
    Row("gelu", lambda a: F.gelu(a, approximate="tanh"), S),
    Row("softplus", F.softplus, S),
    Row("softsign", F.softsign, S),
    Row("logsigmoid", F.logsigmoid, S),
    Row("hardtanh", F.hardtanh, S),
    Row("relu6", F.relu6, S, high=8),
    Row("hardsigmoid", F.hardsigmoid, S, low=-4, high=4),
    Row("hardswish", F.hardswish, S, low=-4, high=4),
    Row("softmax", lambda a: F.softmax(a, -1), S),
    Row("softmax_middle", lambda a: F.softmax(a, 1), (2, 3, 4)),
    Row("log_softmax", lambda a: F.log_softmax(a, 1), S),
    Row("log_softmax_first", lambda a: F.log_softmax(a, 0), S),
    # Products.
    Row("linear", nn.Linear(6, 5), S),
    Row("linear_no_bias", nn.Linear(6, 5, bias=False), (2, 3, 6)),
    Row("matmul", torch.matmul, (3, 4), (4, 5)),
    Row("matmul_batched", torch.matmul, (2, 3, 4), (2, 4, 5)),
    Row("matmul_broadcast", torch.matmul, (2, 3, 4), (4, 5)),
    Row("bmm", torch.bmm, (2, 3, 4), (2, 4, 5)),
    Row("addmm", torch.addmm, (3, 5), (3, 4), (4, 5)),
    Row("conv", nn.Conv2d(2, 4, 3), (2, 2, 8, 8)),
    Row("conv_stride", nn.Conv2d(2, 4, 3, stride=2, padding=1), (2, 2, 9, 9)),
    Row("conv_groups", nn.Conv2d(4, 6, 3, groups=2), (2, 4, 6, 6)),
    Row("conv_dilated", nn.Conv2d(2, 3, 3, dilation=2), (1, 2, 9, 9)),
    Row("conv_no_bias", nn.Conv2d(2, 3, 1, bias=False), (2, 2, 4, 4)),
    # Pools and norms.
    Row("max_pool", lambda a: F.max_pool2d(a, 2), (2, 3, 6, 6)),
    Row("max_pool_padded", lambda a: F.max_pool2d(a, 3, 2, 1), (2, 3, 7, 7)),
    Row("adaptive_avg_pool", nn.AdaptiveAvgPool2d(1), (2, 3, 5, 5)),
    Row("group_norm", nn.GroupNorm(2, 4), (3, 4, 5, 5)),
    Row("group_norm_plain", nn.GroupNorm(2, 4, affine=False), (3, 4, 5)),
    Row("layer_norm", nn.LayerNorm(6), S),
    Row("layer_norm_two", nn.LayerNorm([3, 4]), (2, 3, 4)),
    Row("dropout_eval", nn.Dropout(0.5).eval(), S),
    # Shapes.
    Row("view", lambda a: a.view(2, -1) * 2, S),
    Row("reshape", lambda a: a.t().reshape(-1) * 2, S),
    Row("flatten", lambda a: a.flatten(1) * 2, (2, 3, 4)),
    Row("permute", lambda a: a.permute(2, 0, 1) * 2, (2, 3, 4)),
    Row("transpose", lambda a: a.transpose(-1, 0) * 2, (2, 3, 4)),
    Row("squeeze", lambda a: a.unsqueeze(1).squeeze() * 2, S),
    # Reductions.
    Row("sum", torch.sum, S),
    Row("sum_dim", lambda a: a.sum(1), (2, 3, 4)),
    Row("sum_keep", lambda a: a.sum((0, 2), keepdim=True), (2, 3, 4)),
    Row("mean", torch.mean, S),
    Row("mean_dim", lambda a: a.mean(-1), S),
    # Losses.
    Row("mse", F.mse_loss, S, S),
    Row("mse_sum", lambda a, b: F.mse_loss(a, b, reduction="sum"), S, S),
    Row("mse_none", lambda a, b: F.mse_loss(a, b, reduction="none"), S, S),
    Row("l1", F.l1_loss, S, S),
    Row("smooth_l1", F.smooth_l1_loss, S, S),
    Row("huber", lambda a, b: F.huber_loss(a, b, delta=0.7), S, S),
    Row("bce", lambda a, b: F.binary_cross_entropy(a, b.detach()), S, S,
        low=0.1, high=0.9),
    Row("bce_logits", lambda a, b: F.binary_cross_entropy_with_logits(
        a, b.detach()), S, S, low=0.0, high=1.0),
    Row("nll", lambda a, t: F.nll_loss(F.log_softmax(a, 1), t), S, (4,),
        high=6, dtypes=(torch.float, LONG)),
    Row("cross_entropy", F.cross_entropy, S, (4,), high=6,
        dtypes=(torch.float, LONG)),
    Row("cross_entropy_sum", lambda a, t: F.cross_entropy(
        a, t, reduction="sum"), S, (4,), high=6, dtypes=(torch.float, LONG)),
    Row("cross_entropy_ignore", lambda a, t: F.cross_entropy(
        a, t, ignore_index=1), S, (4,), high=3, dtypes=(torch.float, LONG)),
    Row("cross_entropy_2d", F.cross_entropy, (2, 5, 3), (2, 3), high=5,
        dtypes=(torch.float, LONG)),
]  # fmt: skip

BY_NAME = {row.name: row for row in ROWS}
NAMES = [row.name for row in ROWS]


class Differentiated(nn.Module):
    """The row's function of parameters, so that their gradients exist: the
    loss is the sum of the result times fixed weights."""

    def __init__(self, row, inputs):
        super().__init__()
        self.function = row.function
        self.values = nn.ParameterList(
            [nn.Parameter(t) for t in inputs if t.is_floating_point()]
        )

    def forward(self, unit, *integers):
        # The parameters are made activations: gradients go through `unit`.
        values = [v * unit for v in self.values]
        result = self.function(*values, *integers)
        return result, poptorch.identity_loss(result * 1, "sum")


def check(name):
    row = BY_NAME[name]
    torch.manual_seed(0)
    inputs = row.inputs()
    options = poptorch.Options().showCompilationProgressBar(False)
    expected = row.function(*inputs)
    inference = poptorch.inferenceModel(row.function, options)
    compare(inference(*inputs), expected)
    if row.gradient:
        checkGradient(row, inputs)


def checkGradient(row, inputs):
    """One step of SGD with rate 1 moves each parameter by its gradient."""
    integers = [t for t in inputs if not t.is_floating_point()]
    model = Differentiated(row, inputs)
    unit = torch.ones(())
    _, loss = model(unit, *integers)
    before = [p.detach().clone() for p in model.parameters()]
    gradients = torch.autograd.grad(
        loss, list(model.parameters()), allow_unused=True
    )
    options = poptorch.Options().showCompilationProgressBar(False)
    trainer = poptorch.trainingModel(
        model, options, torch.optim.SGD(model.parameters(), lr=1.0)
    )
    trainer(unit, *integers)
    trainer.copyWeightsToHost()
    for parameter, old, gradient in zip(
        model.parameters(), before, gradients
    ):
        if gradient is not None:
            compare(old - parameter.detach(), gradient)
    trainer.destroy()


def compare(result, expected):
    expected = expected.detach()
    if not expected.is_floating_point():
        assert torch.equal(result.to(expected.dtype), expected)
        return
    assert result.shape == expected.shape
    torch.testing.assert_close(result, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_operatorEqualsPyTorch(name):
    check(name)


@pytest.mark.parametrize("executor", ["reference"])
def test_allRowsIn(executor):
    """The executor is chosen once per process, so the others have their own."""
    environment = {**os.environ, "ASPEN_EXECUTOR": executor}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", str(Path(__file__)), "-k",
         "test_operatorEqualsPyTorch", "-p", "no:cacheprovider"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-4000:]
