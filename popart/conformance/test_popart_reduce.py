"""Reductions, running sums, orderings and positions against PyTorch and NumPy."""

import numpy as np
import pytest
import torch

from operators import Case, check, ints, values

F16, F32 = np.float16, np.float32
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
            np.int64)


def product(a, axes, keep):
    for axis in sorted(axes, reverse=True):
        a = a.prod(axis, keepdim=keep)
    return a


# Operator, versions, function, range of the operand.
REDUCTIONS = {
    "ReduceL1": (lambda a, d, k: a.abs().sum(d, k), (-2, 2)),
    "ReduceL2": (lambda a, d, k: a.square().sum(d, k).sqrt(), (-2, 2)),
    "ReduceLogSum": (lambda a, d, k: a.sum(d, k).log(), (0.1, 2)),
    "ReduceLogSumExp": (lambda a, d, k: a.logsumexp(d, k), (-2, 2)),
    "ReduceMax": (lambda a, d, k: a.amax(d, k), (-2, 2)),
    "ReduceMean": (lambda a, d, k: a.mean(d, k), (-2, 2)),
    "ReduceMin": (lambda a, d, k: a.amin(d, k), (-2, 2)),
    "ReduceProd": (product, (-2, 2)),
    "ReduceSum": (lambda a, d, k: a.sum(d, k), (-2, 2)),
    "ReduceSumSquare": (lambda a, d, k: a.square().sum(d, k), (-2, 2)),
}


def reduce_cases():
    for operator, (function, (low, high)) in REDUCTIONS.items():
        def case(version, shape, axes, keep=True, dtype=F32, given=True,
                 operator=operator, function=function, low=low, high=high):
            attributes = {"keepdims": int(keep)}
            if given:
                attributes["axes"] = list(axes)
            return Case(operator, version,
                        [values(*shape, low=low, high=high, dtype=dtype)],
                        lambda a: function(a, axes, keep), attributes,
                        tolerance=2e-5)
        yield case(1, (3, 4, 5), (1,))
        yield case(11, (3, 4, 5), (1,), keep=False)
        yield case(11, (3, 4, 5), (0, 2), keep=False)
        yield case(11, (3, 4, 5), (-1,))
        yield case(11, (3, 4), (0, 1), keep=False, given=False)
        yield case(11, (3, 4), (0, 1), dtype=F16, given=False)
        yield case(11, (3, 1, 2), (1,), dtype=F16)
        yield case(11, (70,), (0,), keep=False)
    # Sums of nothing.
    yield Case("ReduceSum", 11, [values(0, 3)], lambda a: a.sum(0),
               {"axes": [0], "keepdims": 0})
    # Equal elements share the gradient; a norm of zeros has none.
    ties = np.array([[1, 2, 2], [3, 3, 3]], F32)
    yield Case("ReduceMax", 11, [ties], lambda a: a.amax(1), {"axes": [1], "keepdims": 0})
    yield Case("ReduceL2", 11, [np.zeros((2, 3), F32)],
               lambda a: a.norm(dim=1), {"axes": [1], "keepdims": 0})
    yield Case("ReduceProd", 11, [np.array([[2, 0, 3], [0, 4, 0]], F32)],
               lambda a: a.prod(1), {"axes": [1], "keepdims": 0})
    # A large sum of squares whose root is a half float.
    yield Case("ReduceL2", 11, [np.full((1, 400), 100, F16)],
               lambda a: a.norm(dim=1), {"axes": [1], "keepdims": 0})
    # Since 13 the axes of ReduceSum are an input.
    x = values(3, 4, 5)
    yield Case("ReduceSum", 13, [x, ints(0, -1)], lambda a, _: a.sum((0, 2)),
               {"keepdims": 0}, constants=(1,))
    yield Case("ReduceSum", 13, [x, ints()], lambda a, _: a.sum((0, 1, 2), True),
               constants=(1,))
    yield Case("ReduceSum", 13, [x, ints()], lambda a, _: a * 1,
               {"noop_with_empty_axes": 1}, constants=(1,))
    yield Case("ReduceSum", 13, [x, ints(3)], constants=(1,),
               error="outside a tensor of rank 3")


def integer_cases():
    for dtype in INTEGERS:
        x = values(3, 5, dtype=dtype)
        functions = {"ReduceMax": np.max, "ReduceMin": np.min}
        if np.dtype(dtype).itemsize >= 4:
            functions |= {"ReduceSum": np.sum, "ReduceProd": np.prod,
                          "ReduceL1": lambda a, axis: np.abs(a).sum(axis),
                          "ReduceSumSquare": lambda a, axis: (a * a).sum(axis),
                          "ReduceMean": lambda a, axis: np.trunc(a.mean(axis))}
        for operator, function in functions.items():
            yield Case(operator, 13, [x], lambda a, f=function: f(a, axis=0),
                       {"axes": [0], "keepdims": 0}, uses_torch=False)
        for operator, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
            yield Case(operator, 13, [x], lambda a, f=function: f(a, axis=1),
                       {"axis": 1, "keepdims": 0}, uses_torch=False,
                       types=[np.int32])
        yield Case("TopK", 11, [x, ints(2)],
                   lambda a, _: -np.sort(-a.astype(np.int64), axis=1)[:, :2],
                   constants=(1,), uses_torch=False, outputs=2,
                   types=[dtype, np.int64])
    for dtype in (np.int32, np.int64, np.uint32):
        yield Case("CumSum", 14, [values(3, 5, dtype=dtype), np.array(1, np.int32)],
                   lambda a, _: np.cumsum(a, 1), constants=(1,), uses_torch=False)


def cumulated(a, axis, exclusive, reverse):
    a = a.flip(axis) if reverse else a
    total = a.cumsum(axis)
    total = total - a if exclusive else total
    return total.flip(axis) if reverse else total


CUMSUM = [
    Case("CumSum", version, [values(3, 4, 5, dtype=dtype), np.array(axis, np.int32)],
         lambda a, _, x=axis, e=exclusive, r=reverse: cumulated(a, x, e, r),
         {"exclusive": exclusive, "reverse": reverse}, constants=(1,),
         tolerance=1e-4)
    for version, dtype in ((11, F32), (14, F16))
    for axis in (0, 1, -1) for exclusive in (0, 1) for reverse in (0, 1)
] + [Case("CumSum", 11, [values(3), ints(0)], error="must be a constant")]


def last_position(function, axis):
    return lambda a: a.shape[axis] - 1 - function(np.flip(a, axis), axis=axis)


def order_cases():
    ties = np.array([[2, 2, 1], [0, 3, 3]], F32)
    for operator, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for dtype in (F32, F16):
            x = values(3, 4, 5, dtype=dtype)
            for axis in (0, 1, -1):
                yield Case(operator, 11, [x],
                           lambda a, f=function, d=axis: f(a, axis=d),
                           {"axis": axis, "keepdims": 0}, uses_torch=False,
                           types=[np.int32])
            yield Case(operator, 1, [x],
                       lambda a, f=function: f(a, axis=0)[None], uses_torch=False,
                       types=[np.int32])
        yield Case(operator, 12, [ties], lambda a, f=function: f(a, axis=1),
                   {"axis": 1, "keepdims": 0}, uses_torch=False, types=[np.int32])
        yield Case(operator, 13, [ties], last_position(function, 1),
                   {"axis": 1, "keepdims": 0, "select_last_index": 1},
                   uses_torch=False, types=[np.int32])
    for dtype in (F32, F16):
        x = values(3, 6, 4, dtype=dtype)
        types = [dtype, np.int64]
        yield Case("TopK", 1, [x], lambda a: torch.topk(a, 3), {"k": 3},
                   outputs=2, types=types)
        yield Case("TopK", 10, [x, ints(4)], lambda a, k: torch.topk(a, 4, 1),
                   {"axis": 1}, constants=(1,), outputs=2, types=types)
        yield Case("TopK", 11, [x, ints(2)],
                   lambda a, k: torch.topk(a, 2, 0, largest=False),
                   {"axis": 0, "largest": 0}, constants=(1,), outputs=2,
                   types=types)
    yield Case("TopK", 11, [values(4), ints(5)], constants=(1,), outputs=2,
               error="no so many elements")


@pytest.mark.parametrize("case", list(reduce_cases()), ids=str)
def test_reductions(case):
    check(case)


@pytest.mark.parametrize("case", list(integer_cases()), ids=str)
def test_integers(case):
    check(case)


@pytest.mark.parametrize("case", CUMSUM + list(order_cases()), ids=str)
def test_sums_and_orders(case):
    check(case)
