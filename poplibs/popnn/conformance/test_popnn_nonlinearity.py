"""Non-linearities and their gradients against PyTorch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from conformance import Case, check, values

FUNCTIONS = {
    "SIGMOID": torch.sigmoid,
    "HARD_SIGMOID": lambda x: (0.2 * x + 0.5).clamp(0, 1),
    "RELU": torch.relu,
    "TANH": torch.tanh,
    "GELU": lambda x: F.gelu(x, approximate="tanh"),
    "GELU_ERF": F.gelu,
    "SWISH": F.silu,
    "SOFTMAX": lambda x: x.softmax(-1),
    "SOFTMAX_STABLE": lambda x: x.softmax(-1),
    "SOFTMAX_SCALED": lambda x: 16384 * x.softmax(-1),
}
OF_INPUT = ("GELU", "GELU_ERF", "SWISH")
SHAPES = ((1,), (3, 10), (2, 33), (130, 7), (2, 3, 4))
TYPES = (np.float32, np.float16)


def is_elementwise(kind):
    return not kind.startswith("SOFTMAX")


def forward(kind, computes):
    def expected(inputs):
        y = FUNCTIONS[kind](torch.tensor(inputs["in"])).numpy()
        scaling = 16384.0 if kind == "SOFTMAX_SCALED" else 1.0
        results = {"out": y, "inPlace": y, "scaling": np.float32(scaling)}
        if computes:
            results["computeSet"] = y
        return results
    return expected


def forward_row(kind, shape, dtype):
    computes = is_elementwise(kind)
    return Case("popnn.nonLinearity",
                {"in": values(*shape, dtype=dtype, low=-4, high=4)},
                {"type": kind, "computeSet": computes},
                forward(kind, computes), types={"scaling": "float"},
                tolerance=2e-5 if dtype == np.float32 else 4e-3)


def gradient_row(kind, shape, dtype):
    x = torch.tensor(values(*shape, low=-4, high=4), requires_grad=True)
    y = FUNCTIONS[kind](x)
    dy = values(*shape, dtype=dtype, seed=1)
    y.backward(torch.tensor(dy.astype(np.float32)))
    act = (x if kind in OF_INPUT else y).detach().numpy().astype(dtype)
    computes = is_elementwise(kind)

    def expected(_):
        results = {"out": x.grad.numpy()}
        if computes:
            results["computeSet"] = x.grad.numpy()
        return results
    return Case("popnn.nonLinearityInputGradient",
                {"act": act, "outGrad": dy},
                {"type": kind, "computeSet": computes}, expected,
                tolerance=2e-5 if dtype == np.float32 else 2e-2)


def log_softmax(inputs):
    y = torch.tensor(inputs["in"]).log_softmax(-1).numpy()
    return {"out": y, "inPlace": y}


ROWS = [
    forward_row(kind, shape, dtype)
    for kind in FUNCTIONS for shape in SHAPES for dtype in TYPES
] + [
    gradient_row(kind, shape, dtype)
    for kind in FUNCTIONS if kind != "SOFTMAX_SCALED"
    for shape in SHAPES for dtype in TYPES
] + [
    Case("popnn.logSoftmax", {"in": values(*shape, dtype=dtype)},
         expected=log_softmax)
    for shape in SHAPES for dtype in TYPES
] + [
    Case("popnn.softmax", {"in": values(*shape, dtype=dtype, low=50, high=80)},
         expected=lambda t: torch.softmax(torch.tensor(t["in"]), -1).numpy())
    for dtype in TYPES for shape in ((1, 1), (3, 10), (2, 33), (130, 7))
]

ERRORS = [
    Case("popnn.nonLinearity", {"in": values(2, 3)},
         {"type": "SOFTMAX", "computeSet": True},
         error=("poplibs_error", "Compute set variant of softmax not implemented")),
    Case("popnn.nonLinearityInputGradient",
         {"act": values(2, 3), "outGrad": values(3, 2)}, {"type": "RELU"},
         error=("poplibs_error", "they must be the same")),
]


@pytest.mark.parametrize("case", ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)
