"""Element-wise ai.onnx operators against PyTorch, or NumPy where it has none."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, values

F16, F32 = np.float16, np.float32
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
            np.int64, np.uint64)


def zero_gradient(function):
    """torch's steps have gradients of zero, as PopART's do."""
    return lambda a: function(a) + 0 * a


# Operator, versions, function, range of the operand.
UNARY = [
    ("Abs", (6, 13), torch.abs, (-2, 2)),
    ("Acos", (7,), torch.acos, (-0.9, 0.9)),
    ("Acosh", (9,), torch.acosh, (1.1, 4)),
    ("Asin", (7,), torch.asin, (-0.9, 0.9)),
    ("Asinh", (9,), torch.asinh, (-3, 3)),
    ("Atan", (7,), torch.atan, (-3, 3)),
    ("Atanh", (9,), torch.atanh, (-0.9, 0.9)),
    ("Ceil", (1, 6, 13), zero_gradient(torch.ceil), (-3, 3)),
    ("Cos", (7,), torch.cos, (-3, 3)),
    ("Cosh", (9,), torch.cosh, (-2, 2)),
    ("Erf", (9, 13), torch.erf, (-2, 2)),
    ("Exp", (6, 13), torch.exp, (-2, 2)),
    ("Floor", (1, 6, 13), zero_gradient(torch.floor), (-3, 3)),
    ("Identity", (1, 13, 14, 16), lambda a: a * 1, (-2, 2)),
    ("Log", (6, 13), torch.log, (0.3, 4)),
    ("Neg", (6, 13), torch.neg, (-2, 2)),
    ("Reciprocal", (6, 13), torch.reciprocal, (0.4, 2)),
    ("Relu", (6, 13, 14), torch.relu, (-2, 2)),
    ("Round", (11,), zero_gradient(torch.round), (-3, 3)),
    ("Sigmoid", (6, 13), torch.sigmoid, (-3, 3)),
    ("Sign", (9, 13), zero_gradient(torch.sign), (-2, 2)),
    ("Sin", (7,), torch.sin, (-3, 3)),
    ("Sinh", (9,), torch.sinh, (-2, 2)),
    ("Softplus", (1,), F.softplus, (-3, 3)),
    ("Softsign", (1,), F.softsign, (-3, 3)),
    ("Sqrt", (6, 13), torch.sqrt, (0.3, 4)),
    ("Tan", (7,), torch.tan, (-1, 1)),
    ("Tanh", (6, 13), torch.tanh, (-2, 2)),
]

WITH_NUMBERS = [
    ("Elu", (1, 6), {}, F.elu),
    ("Elu", (6,), {"alpha": 0.5}, lambda a: F.elu(a, 0.5)),
    ("HardSigmoid", (1, 6), {}, lambda a: torch.clamp(0.2 * a + 0.5, 0, 1)),
    ("HardSigmoid", (6,), {"alpha": 0.8, "beta": 0.25},
     lambda a: torch.clamp(0.8 * a + 0.25, 0, 1)),
    ("LeakyRelu", (1, 6, 16), {}, F.leaky_relu),
    ("LeakyRelu", (6,), {"alpha": -0.5}, lambda a: F.leaky_relu(a, -0.5)),
    ("Selu", (1, 6), {}, F.selu),
    ("Selu", (6,), {"alpha": 2.0, "gamma": 3.0},
     lambda a: 3 * F.elu(a, 2.0)),
    ("Shrink", (9,), {}, F.hardshrink),
    ("Shrink", (9,), {"bias": 0.75, "lambd": 0.75},
     lambda a: F.softshrink(a, 0.75)),
    ("ThresholdedRelu", (10,), {}, lambda a: F.threshold(a, 1.0, 0.0)),
    ("ThresholdedRelu", (10,), {"alpha": 0.5},
     lambda a: F.threshold(a, 0.5, 0.0)),
    ("Clip", (6,), {"min": -0.5, "max": 1.0}, lambda a: torch.clamp(a, -0.5, 1)),
    ("Clip", (6,), {}, lambda a: a * 1),
    ("Clip", (6,), {"max": 0.25}, lambda a: torch.clamp(a, max=0.25)),
]


def unary_cases():
    for operator, versions, function, (low, high) in UNARY:
        for version in versions:
            yield Case(operator, version, [values(3, 5, low=low, high=high)],
                       function)
        for shape in ((), (1,), (0, 3), (70,)):
            yield Case(operator, versions[-1], [values(*shape, low=low, high=high)],
                       function)
        yield Case(operator, versions[-1],
                   [values(4, 9, low=low, high=high, dtype=F16)], function)
    for operator, versions, attributes, function in WITH_NUMBERS:
        for version in versions:
            for dtype in (F32, F16):
                yield Case(operator, version, [values(4, 9, dtype=dtype)],
                           function, attributes)


def integer_cases():
    for dtype in INTEGERS:
        x = values(4, 6, dtype=dtype)
        if dtype not in (np.int64, np.uint64):
            yield Case("Abs", 13, [x], np.abs, uses_torch=False)
        yield Case("Sign", 13, [x], np.sign, uses_torch=False)
        if np.issubdtype(dtype, np.signedinteger):
            yield Case("Neg", 13, [x], np.negative, uses_torch=False)
        yield Case("Shrink", 9, [x], lambda a: np.where(np.abs(
            a.astype(F32)) > 3.5, a, 0), {"lambd": 3.5}, uses_torch=False)
        yield Case("Clip", 12, [x, np.array(2, dtype), np.array(7, dtype)],
                   lambda a, low, high: np.clip(a, low, high),
                   constants=(1, 2), uses_torch=False)


def limits(*given):
    return [None if v is None else np.array(v, F32) for v in given]


CLIP = [
    Case("Clip", version, [values(3, 7), *limits(low, high)],
         lambda a, low, high: (a * 1 if low is None and high is None
                               else torch.clamp(a, low, high)),
         constants=(1, 2))
    for version in (11, 12, 13)
    for low, high in ((-0.5, 1), (None, 1), (-0.5, None), (None, None), (1, -1))
] + [
    Case("Clip", 11, [values(3), *limits(0.0, 1)], error="must be a constant"),
    # Large and infinite limits.
    Case("Clip", 6, [values(3)], lambda a: a * 1,
         {"min": -3.402823e38, "max": 3.402823e38}),
    Case("Clip", 6, [values(3, dtype=F16)], lambda a: a * 1,
         {"min": -float("inf"), "max": 3.402823e38}),
]

SPECIAL = np.array([0, -0.0, 1.5, -2.5, 0.5, 2.5, np.inf, -np.inf, np.nan], F32)

TESTS = [
    Case("IsNaN", 9, [SPECIAL], np.isnan, uses_torch=False, types=[np.bool_]),
    Case("IsNaN", 13, [SPECIAL.astype(F16)], np.isnan, uses_torch=False,
         types=[np.bool_]),
    Case("Round", 11, [SPECIAL], np.round, uses_torch=False),
] + [
    Case("IsInf", 10, [SPECIAL], function, attributes, uses_torch=False,
         types=[np.bool_])
    for attributes, function in (
        ({}, np.isinf), ({"detect_negative": 0}, np.isposinf),
        ({"detect_positive": 0}, np.isneginf),
        ({"detect_positive": 0, "detect_negative": 0},
         lambda a: np.zeros(a.shape, np.bool_)))
]


@pytest.mark.parametrize("case", list(unary_cases()), ids=str)
def test_unary(case):
    check(case)


@pytest.mark.parametrize("case", list(integer_cases()), ids=str)
def test_integers(case):
    check(case)


@pytest.mark.parametrize("case", CLIP + TESTS, ids=str)
def test_limits_and_tests(case):
    check(case)
