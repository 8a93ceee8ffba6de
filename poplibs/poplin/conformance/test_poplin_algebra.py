"""Multi-convolutions, Cholesky factors, triangular systems and grids."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

SHAPES = [(1, 1), (2, 2), (7, 7), (40, 40), (3, 5, 5), (2, 3, 17, 17), (0, 3, 3),
          (130, 130)]


def positive_definite(*shape, dtype=np.float32):
    half = values(*shape, dtype=np.float64, low=-1, high=1)
    product = half @ np.swapaxes(half, -1, -2) / shape[-1]
    return (product + np.eye(shape[-1])).astype(dtype)


def triangular(*shape, dtype=np.float32):
    """Far from singular in either triangle."""
    size = shape[-1]
    off = values(*shape, dtype=np.float64, low=-1, high=1) / size
    return (off + np.eye(size) * (1.5 + off)).astype(dtype)


def factor(lower):
    def expected(t):
        found = np.linalg.cholesky(t["a"].astype(np.float64))
        return found if lower else np.swapaxes(found, -1, -2)
    return expected


def kept(a, lower):
    return np.tril(a) if lower else np.triu(a)


def masked(lower, unit):
    def expected(t):
        result = kept(t["a"], lower)
        if unit:
            diagonal = np.eye(t["a"].shape[-1], dtype=bool)
            result = np.where(diagonal, np.float32(1), result)
        return result
    return expected


def solution(left, lower, unit):
    def expected(t):
        a = torch.tensor(masked(lower, unit)(t).astype(np.float64))
        b = torch.tensor(t["b"].astype(np.float64))
        return torch.linalg.solve_triangular(a, b, upper=not lower, left=left,
                                             unitriangular=unit).numpy()
    return expected


def right_hand_side(shape, count, left, dtype=np.float32):
    *groups, size, _ = shape
    matrix = (size, count) if left else (count, size)
    return values(*groups, *matrix, seed=1, dtype=dtype)


def pair(x, w, seed):
    y = torch.nn.functional.conv2d(torch.tensor(values(*x)),
                                   torch.tensor(values(*w))).shape
    return values(*x, seed=seed), values(*w, seed=seed + 1)[None], values(
        *y, seed=seed + 2)


def multi(t):
    results = {}
    for i in "01":
        x = torch.tensor(t["x" + i], requires_grad=True)
        w = torch.tensor(t["w" + i][0], requires_grad=True)
        y = torch.nn.functional.conv2d(x, w)
        y.backward(torch.tensor(t["dy" + i]))
        dw = w.grad.numpy()[None]
        results.update({"y" + i: y.detach().numpy(), "dx" + i: x.grad.numpy(),
                        "dw" + i: dw, "w" + i: t["w" + i] - 0.5 * dw})
    return results


FIRST = pair((2, 3, 6, 5), (4, 3, 3, 2), 0)
SECOND = pair((1, 2, 4, 4), (2, 2, 1, 1), 5)
BOTH = {name + str(i): value for i, three in enumerate((FIRST, SECOND))
        for name, value in zip(("x", "w", "dy"), three)}

ROWS = [
    Case(operation, {"a": positive_definite(*shape)}, {"lower": lower},
         factor(lower), tolerance=1e-4)
    for operation in ("poplin.cholesky", "poplin.choleskyInPlace")
    for shape in SHAPES
    for lower in (False, True)
] + [
    # The other triangle does not count.
    Case("poplin.cholesky", {"a": kept(positive_definite(6, 6), lower) +
                             np.float32(99) * kept(np.ones((6, 6)), not lower)
                             .astype(np.float32) *
                             (1 - np.eye(6, dtype=np.float32))},
         {"lower": lower},
         lambda t, lower=lower: factor(lower)({"a": positive_definite(6, 6)}))
    for lower in (False, True)
] + [
    Case("poplin.cholesky", {"a": positive_definite(9, 9, dtype=np.float16)},
         {"lower": True}, factor(True), tolerance=5e-3),
    Case("poplin.cholesky", {"a": -np.eye(2, dtype=np.float32)}, {"lower": True},
         lambda t: np.array([[np.nan, 0], [np.nan, np.nan]])),
] + [
    Case("poplin.triangularSolve",
         {"a": triangular(*shape), "b": right_hand_side(shape, count, left)},
         {"left": left, "lower": lower, "unitDiagonal": unit},
         solution(left, lower, unit), tolerance=1e-4)
    for shape in SHAPES
    for count in (1, 20)
    for left in (False, True)
    for lower in (False, True)
    for unit in (False, True)
] + [
    Case("poplin.triangularSolve",
         {"a": triangular(8, 8, dtype=np.float16),
          "b": right_hand_side((8, 8), 3, True, np.float16)},
         {"left": True, "lower": True}, solution(True, True, False),
         tolerance=5e-3),
    Case("poplin.triangularSolve",
         {"a": triangular(200, 200), "b": right_hand_side((200, 200), 300, True)},
         {"left": True, "lower": True}, solution(True, True, False),
         {"blockSize": "32", "partialsType": "float"}, 1e-4),
] + [
    Case("poplin.triangularMask", {"a": values(*shape)},
         {"lower": lower, "unitDiagonal": unit}, masked(lower, unit), tolerance=0)
    for shape in SHAPES
    for lower in (False, True)
    for unit in (False, True)
] + [
    Case("poplin.linspace", {}, {"type": name, "left": left, "right": right,
                                 "count": count},
         lambda t, a=left, b=right, n=count: np.linspace(a, b, n),
         types={"out": name})
    for name in ("float", "half")
    for left, right, count in ((0.0, 1.0, 11), (-3.0, 2.5, 100), (2.0, -2.0, 5),
                               (1.5, 9.0, 1), (0.0, 1.0, 0), (0.0, 1.0, 2))
] + [
    Case("poplin.meshgrid2d", {"x": values(x), "y": values(y, seed=1)},
         expected=lambda t: dict(zip("xy", np.meshgrid(t["x"], t["y"]))))
    for x, y in ((3, 4), (1, 5), (6, 1))
] + [
    Case("poplin.multiConvolution", BOTH, expected=multi, options=options,
         tolerance=2e-5)
    for options in ({}, {"planType": "serial"},
                    {"planType": "parallel", "perConvReservedTiles": "10",
                     "cycleBackOff": "0.2"})
] + [
    Case("poplin.cholesky", {"a": values(3, 4)}, {"lower": True},
         error=("poplibs_error", "a has shape {3,4}; its last two dimensions must "
                "be equal")),
    Case("poplin.cholesky", {"a": values(3, 3)}, {"lower": True},
         options={"blockSize": "0"},
         error=("invalid_option", "Value must be greater than or equal to 1")),
    Case("poplin.cholesky", {"a": values(3, 3)}, {"lower": True},
         options={"blockSize": "few"},
         error=("invalid_option", "Not a valid integer")),
    Case("poplin.cholesky", {"a": values(3, 3)}, {"lower": True},
         options={"blocks": "2"},
         error=("invalid_option", "Unrecognised option 'blocks'")),
    Case("poplin.triangularSolve", {"a": values(3, 3), "b": values(2, 3)},
         {"left": True, "lower": True},
         error=("poplibs_error", "b has 2 rows; a has 3")),
    Case("poplin.triangularSolve", {"a": values(2, 3, 3), "b": values(1, 3, 3)},
         {"left": True, "lower": True},
         error=("poplibs_error", "all but the last two dimensions must be equal")),
    Case("poplin.linspace", {}, {"type": "int", "left": 0.0, "right": 1.0,
                                 "count": 3},
         error=("poplibs_error", "it must be float or half")),
    Case("poplin.meshgrid2d", {"x": values(3, 1), "y": values(2)},
         error=("poplibs_error", "their rank must be 1")),
    Case("poplin.multiConvolution", BOTH, options={"planType": "both"},
         error=("invalid_option", "Not one of the values: ['serial', 'parallel']")),
    Case("poplin.multiConvolution", BOTH, options={"plan": "serial"},
         error=("invalid_option", "Unrecognised option 'plan'")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
