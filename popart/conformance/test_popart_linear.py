"""Matrix products and softmax against PyTorch and NumPy."""

import numpy as np
import pytest
import torch

from operators import Case, check, values

F16, F32 = np.float16, np.float32

PRODUCTS = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)),
            ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)),
            ((2, 1, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)),
            ((0, 3), (3, 4)), ((1, 1), (1, 1))]


def product_cases():
    for a, b in PRODUCTS:
        for version, dtype in ((9, F32), (13, F16)):
            yield Case("MatMul", version,
                       [values(*a, dtype=dtype), values(*b, dtype=dtype, seed=1)],
                       torch.matmul, tolerance=1e-4)
        yield Case("MatMul", 9, [values(*a, dtype=np.int32),
                                 values(*b, dtype=np.int32, seed=1)],
                   np.matmul, uses_torch=False)
    yield Case("MatMul", 1, [values(2, 3), values(4, 3)], error="do not multiply")
    yield Case("MatMul", 1, [values(), values(4, 3)], error="no matrix")


def gemm(alpha, beta, trans_a, trans_b):
    def function(a, b, c=None):
        y = alpha * ((a.T if trans_a else a) @ (b.T if trans_b else b))
        return y if c is None else y + beta * c
    return function


def gemm_cases():
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            for version, dtype in ((7, F32), (9, F32), (11, F16), (13, F32)):
                a = values(*((3, 2) if trans_a else (2, 3)), dtype=dtype)
                b = values(*((4, 3) if trans_b else (3, 4)), dtype=dtype, seed=1)
                yield Case("Gemm", version, [a, b, values(4, dtype=dtype, seed=2)],
                           gemm(0.5, -2, trans_a, trans_b),
                           {"alpha": 0.5, "beta": -2.0, "transA": trans_a,
                            "transB": trans_b}, tolerance=1e-4)
    for c in ((2, 4), (2, 1), (1,), ()):
        yield Case("Gemm", 7, [values(2, 3), values(3, 4), values(*c)],
                   gemm(1, 1, 0, 0), tolerance=1e-4)
    yield Case("Gemm", 11, [values(2, 3), values(3, 4)], gemm(1, 1, 0, 0),
               tolerance=1e-4)
    yield Case("Gemm", 6, [values(2, 3), values(3, 4), values(4)],
               gemm(1, 1, 0, 0), {"broadcast": 1}, tolerance=1e-4)
    yield Case("Gemm", 7, [values(2, 3), values(3, 4), values(5, 2, 4)],
               error="does not broadcast to")


def flattened(function, axis):
    def result(a):
        rows = int(np.prod(a.shape[:axis]))
        return function(a.reshape(rows, -1), 1).reshape(a.shape)
    return result


def softmax_cases():
    for operator, function in (("Softmax", torch.softmax),
                               ("LogSoftmax", torch.log_softmax)):
        for dtype in (F32, F16):
            x = values(2, 3, 4, dtype=dtype)
            for version in (1, 11):
                for axis in (0, 1, 2):
                    yield Case(operator, version, [x], flattened(function, axis),
                               {"axis": axis})
                yield Case(operator, version, [x], flattened(function, 1))
            for axis in (0, 1, -1):
                yield Case(operator, 13, [x],
                           lambda a, f=function, d=axis: f(a, d), {"axis": axis})
            yield Case(operator, 13, [x], lambda a, f=function: f(a, -1))
        yield Case(operator, 13, [np.array([[1e4, 1e4 + 1]], F32)],
                   lambda a, f=function: f(a, 1))


@pytest.mark.parametrize(
    "case", [*product_cases(), *gemm_cases(), *softmax_cases()], ids=str)
def test_linear(case):
    check(case)
