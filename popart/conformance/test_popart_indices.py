"""Operators that go by indices against PyTorch and NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, ints, values

F16, F32 = np.float16, np.float32
TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
         np.bool_)


def gathered(axis):
    def function(a, indices):
        shape = a.shape[:axis] + indices.shape + a.shape[axis + 1:]
        flat = indices.reshape(-1).long() % max(1, a.shape[axis])
        return a.index_select(axis, flat).reshape(shape)
    return function


def gather_cases():
    x = values(4, 5, 3)
    for version, dtype in ((1, np.int32), (11, np.int64), (13, np.int32)):
        for axis in (0, 1, 2):
            yield Case("Gather", version, [x, np.array([[2, 0], [1, 2]], dtype)],
                       gathered(axis), {"axis": axis})
    yield Case("Gather", 11, [x, ints(-1, 0, -4, -1)], gathered(0))
    yield Case("Gather", 11, [x, np.array(2, np.int64)], gathered(1), {"axis": -2})
    yield Case("Gather", 11, [x.astype(F16), ints(3, 3, 1)], gathered(0))
    yield Case("Gather", 11, [x, np.zeros((0, 2), np.int32)], gathered(0))
    yield Case("Gather", 11, [values(6), np.array([[5, 0]], np.int64)], gathered(0))
    for dtype in TYPES:
        yield Case("Gather", 13, [values(3, 4, dtype=dtype), ints(2, 0)],
                   lambda a, i: np.take(a, i, 0), uses_torch=False)
    yield Case("Gather", 1, [x, values(2)], error="must be INT32 or INT64")


def scattered(axis, reduction="none"):
    def function(a, indices, updates):
        indices = indices.long() % a.shape[axis]
        if reduction == "add":
            return a.scatter_add(axis, indices, updates)
        return a.scatter(axis, indices, updates)
    return function


def scatter_cases():
    x = values(4, 5)
    for operator, versions in (("Scatter", (9, 11)),
                               ("ScatterElements", (11, 13, 16))):
        for version in versions:
            yield Case(operator, version,
                       [x, np.array([[3, 1, 0], [0, 2, 1]]), values(2, 3, seed=1)],
                       scattered(0))
            yield Case(operator, version,
                       [x, np.array([[4], [0], [2], [3]]), values(4, 1, seed=1)],
                       scattered(1), {"axis": 1})
    yield Case("ScatterElements", 11, [x, np.array([[-1, -5]]), values(1, 2, seed=1)],
               scattered(1), {"axis": -1})
    yield Case("ScatterElements", 16,
               [x, np.array([[3, 3], [3, 0]]), values(2, 2, seed=1)],
               scattered(0, "add"), {"reduction": "add"})
    yield Case("ScatterElements", 11,
               [x.astype(F16), np.array([[3, 1]]), values(1, 2, dtype=F16, seed=1)],
               scattered(0))
    for dtype in TYPES:
        yield Case("ScatterElements", 11,
                   [values(4, dtype=dtype), ints(2, 0),
                    values(2, dtype=dtype, seed=1)],
                   lambda a, i, u: np.array([u[1], a[1], u[0], a[3]]),
                   uses_torch=False)
    yield Case("ScatterElements", 16, [x, ints(1)[None], values(1, 1)],
               attributes={"reduction": "mul"}, error="not supported")
    yield Case("ScatterElements", 11, [x, ints(1, 2)[None], values(1, 1)],
               error="need indices of that shape")


def one_hot(axis, depth):
    def function(indices, _, given):
        mask = F.one_hot(indices.long() % depth, depth).bool()
        mask = mask.movedim(-1, axis)
        return torch.where(mask, given[1], given[0])
    return function


def one_hot_cases():
    indices = np.array([[2, 0, 1], [3, 3, 0]])
    for version in (9, 11):
        for axis in (-1, 0, 1):
            yield Case("OneHot", version,
                       [indices, np.array(4), np.array([0.5, 2], F32)],
                       one_hot(axis, 4), {"axis": axis}, constants=(1,),
                       types=[F32])
    yield Case("OneHot", 11, [indices - 4, ints(4), np.array([0, 1], F16)],
               one_hot(-1, 4), constants=(1,), types=[F16])
    yield Case("OneHot", 11, [indices.astype(F32), np.array(4.0, F32),
                              np.array([0, 1], np.int32)],
               lambda i, d, v: np.eye(4)[i.astype(int)], constants=(1,),
               uses_torch=False, types=[np.int32])
    yield Case("OneHot", 11, [ints(7, 1), np.array(3), np.array([5, 9], np.int64)],
               lambda i, d, v: np.array([[5, 5, 5], [5, 9, 5]]), constants=(1,),
               uses_torch=False)
    yield Case("OneHot", 9, [indices, np.array(4), values(2)],
               error="must be a constant")


@pytest.mark.parametrize(
    "case", [*gather_cases(), *scatter_cases(), *one_hot_cases()], ids=str)
def test_indices(case):
    check(case)
