"""Selection, sorting, encodings, checks and running sums."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

U = np.uint32
MASKED = 0xFFFFFFFF
KEYS = (np.float32, np.float16, np.int32, np.uint32)


def top(x, k, largest, order):
    """Values and positions; equal elements keep their order."""
    x = x.astype(np.float64)
    chosen = np.argsort(-x if largest else x, axis=-1, kind="stable")[..., :k]
    chosen = np.sort(chosen, axis=-1)
    keys = np.take_along_axis(x, chosen, -1)
    down = largest if order == "NONE" else order == "DESCENDING"
    again = np.argsort(-keys if down else keys, axis=-1, kind="stable")
    return np.take_along_axis(chosen, again, -1)


def repeated(*shape, dtype=np.float32, seed=0):
    """Values among which some are equal."""
    return np.round(values(*shape, dtype=np.float32, seed=seed, low=0, high=9)
                    ).astype(dtype)


def top_case(operation, x, k, largest, order, extra=None):
    def expected(t):
        at = top(t["in"], k, largest, order)
        result = {"out": np.take_along_axis(t["in"], at, -1)}
        if operation == "topKWithPermutation":
            result["positions"] = at
        if operation == "topKKeyValue":
            result["values"] = np.take_along_axis(t["values"], at, -1)
        return result
    types = {"positions": "unsigned int"}
    if extra:
        types["values"] = {np.dtype(np.float32): "float",
                           np.dtype(np.bool_): "bool"}[extra["values"].dtype]
    return Case(f"popops.{operation}", {"in": x, **(extra or {})},
                {"k": k, "largest": largest, "order": order}, expected,
                types=types)


ROWS = [
    top_case("topKWithPermutation", repeated(*shape, dtype=dtype), k, largest,
             order)
    for dtype in KEYS
    for shape, k in (((3, 12), 5), ((3, 12), 12))
    for largest in (True, False)
    for order in ("NONE", "ASCENDING", "DESCENDING")
] + [
    top_case("topK", repeated(*shape), k, True, "DESCENDING")
    for shape, k in (((1,), 1), ((7,), 3), ((7,), 0), ((2, 3, 5), 2),
                     ((4, 1), 1), ((200, 130), 10), ((1, 5000), 5000),
                     ((0, 4), 2))
] + [
    top_case("topKKeyValue", repeated(4, 9, dtype=dtype), 4, largest,
             "ASCENDING", {"values": payload})
    for dtype in KEYS for largest in (True, False)
    for payload in (values(4, 9, seed=3), values(4, 9, dtype=np.bool_))
] + [
    Case("popops.topK", {"in": values(3, 4)},
         {"k": 5, "largest": True, "order": "NONE"},
         error=("poplibs_error", "[popops::topK] k is 5; the innermost "
                                 "dimension of shape {3,4} has fewer")),
    Case("popops.topKKeyValue", {"in": values(3, 4), "values": values(4, 3)},
         {"k": 2, "largest": True, "order": "NONE"},
         error=("poplibs_error", "the keys have shape {3,4} and the values")),
    Case("popops.topK", {"in": values(3, 4, dtype=np.bool_)},
         {"k": 2, "largest": True, "order": "NONE"},
         error=("poplibs_error", "keys has type bool; allowed: float, half")),
]


def by_keys(t, dim):
    order = np.argsort(t["keys"], axis=dim, kind="stable")
    return np.take_along_axis(t["values"], order, dim)


ROWS += [
    Case(f"popops.{name}", {"in": repeated(*shape, dtype=dtype)}, {"dim": dim},
         lambda t, d=dim: np.sort(t["in"], axis=d))
    for name in ("sort", "sortInPlace") for dtype in KEYS
    for shape, dim in (((9,), 0), ((4, 7), 0), ((4, 7), 1), ((3, 5, 2), 1))
] + [
    Case("popops.sortKeyValue",
         {"keys": repeated(*shape), "values": values(*shape, seed=1)},
         {"dim": dim}, lambda t, d=dim: by_keys(t, d))
    for shape, dim in (((9,), 0), ((4, 7), 0), ((4, 7), 1))
] + [
    Case("popops.sortKeyValueInPlace",
         {"keys": repeated(4, 7), "values": values(4, 7, seed=1)}, {"dim": 0},
         lambda t: {"keys": np.sort(t["keys"], 0), "values": by_keys(t, 0)}),
    Case("popops.sort", {"in": values(3)}, {"dim": 1},
         error=("poplibs_error", "dimension 1 is not one of shape {3}")),
]


def running(t, op, dim, exclusive, reverse):
    x = np.flip(t["in"], dim) if reverse else t["in"]
    function = np.cumsum if op == "ADD" else np.cumprod
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    y = function(x, axis=dim, dtype=wide)
    if exclusive:
        y = np.roll(y, 1, dim)
        first = [slice(None)] * x.ndim
        first[dim] = 0
        y[tuple(first)] = 0 if op == "ADD" else 1
    return np.flip(y, dim) if reverse else y


ROWS += [
    Case("popops.cumulate", {"in": values(*shape, dtype=dtype)},
         {"op": op, "dim": dim, "exclusive": exclusive, "reverse": reverse},
         lambda t, a=(op, dim, exclusive, reverse): running(t, *a),
         tolerance=1e-2 if dtype == np.float16 else None)
    for op in ("ADD", "MUL") for dtype in KEYS
    for shape, dim in (((7,), 0), ((4, 5), 0), ((4, 5), 1), ((2, 3, 4), 1))
    for exclusive, reverse in ((False, False), (True, False), (True, True))
] + [
    Case("popops.cumulate", {"in": values(*shape)}, {"op": "ADD", "dim": dim},
         lambda t, d=dim: torch.cumsum(torch.tensor(t["in"]), d).numpy())
    for shape, dim in (((1,), 0), ((0,), 0), ((3, 0), 0), ((300, 200), 0),
                       ((200, 300), 1))
]


def one_hot(t, classes, on=1, off=0):
    where = t["indices"][:, None] == np.arange(classes)
    return np.where(where, t.get("on", on), t.get("off", off))


ROWS += [
    Case("popops.encodeOneHot", {"indices": np.array(entries, dtype)},
         {"classes": classes, "type": kind},
         lambda t, c=classes: one_hot(t, c), types={"out": kind})
    for entries, dtype in (((3, 0, 0, 2), U), ((1,), U), ((), U),
                           ((MASKED, 1, 9), U), ((2, -1), np.int32))
    for classes in (1, 4, 37)
    for kind in ("float", "half", "int", "unsigned int")
] + [
    Case("popops.encodeOneHot",
         {"indices": np.array([2, 0, MASKED], U), "on": np.float32(0.9),
          "off": np.float32(0.05)}, {"classes": 5, "type": "float"},
         lambda t: one_hot(t, 5), types={"out": "float"}),
    Case("popops.encodeOneHot",
         {"indices": np.array([2], U), "on": np.float16(1), "off": np.float16(0)},
         {"classes": 5, "type": "float"},
         error=("poplibs_error", "on and off have types half and half; the "
                                 "encoding has float")),
    Case("popops.encodeOneHot", {"indices": values(2, 2, dtype=np.int32)},
         {"classes": 5, "type": "float"},
         error=("poplibs_error", "the encoding must have a row for each index")),
] + [
    Case("popops.iota", {"t": np.zeros(n, dtype)}, {"start": start},
         lambda t, n=n, s=start, d=dtype: np.arange(s, s + n).astype(d))
    for n in (0, 1, 5, 1000) for dtype, start in ((U, 0), (U, 7), (np.int32, -3))
] + [
    Case("popops.iota", {"t": np.zeros((2, 2), U)}, {"start": 0},
         error=("poplibs_error", "its rank must be 1 at most")),
    Case("popops.iota", {"t": np.zeros(2, np.int32)},
         {"start": 0, "isSigned": False},
         error=("poplibs_error", "has type int and the start unsigned int")),
]


def with_value(value, n=1000, dtype=np.float32):
    x = values(n, dtype=dtype)
    x[n // 2] = value
    return x


ROWS += [
    Case(f"popops.{name}", {"in": with_value(value, dtype=dtype)}, {},
         lambda t, f=function: np.any(f(t["in"])), types={"out": "bool"})
    for name, function in (("hasNaN", np.isnan),
                           ("hasNaNOrInf", lambda x: ~np.isfinite(x)))
    for value in (0, -np.inf, np.inf, np.nan)
    for dtype in (np.float32, np.float16)
] + [
    Case("popops.hasNaN", {"in": values(0)}, {}, lambda t: np.bool_(False),
         types={"out": "bool"}),
    Case("popops.hasNaN", {"in": values(3, dtype=np.int32)},
         error=("poplibs_error", "x has type int; allowed: float, half")),
] + [
    Case("popops.allTrue", {"in": array}, {}, lambda t: np.all(t["in"]))
    for array in (np.ones((3, 4), bool), np.ones(1, bool), np.zeros(1, bool),
                  np.arange(9) > 0, np.ones(0, bool))
] + [
    Case("popops.allTrue", {"in": values(3)},
         error=("poplibs_error", "the tensor has type float; it must be BOOL")),
]


def select_rows(t):
    def one(row, index):
        if index == MASKED:
            return 0
        return row[index] if index < len(row) else np.nan
    return np.array([one(row, i) for row, i in zip(t["params"], t["indices"])],
                    np.float32)


def update_rows(t):
    result = t["params"].copy()
    for row, index in zip(result, t["indices"]):
        if index < len(row):
            row[index] -= 1
    return result


ROWS += [
    Case(f"popops.{name}",
         {"params": values(len(where), 6, dtype=dtype),
          "indices": np.array(where, U)}, {}, expected)
    for name, expected in (("selectScalarFromRows", select_rows),
                           ("updateScalarInRows", update_rows))
    for where in ((5, 0, 0), (1,), (2, MASKED, 6, 3))
    for dtype in (np.float32, np.float16)
] + [
    Case("popops.selectScalarFromRows",
         {"params": values(3, 4), "indices": np.array([0, 1], U)},
         error=("poplibs_error", "there must be an index for each row")),
    Case("popops.updateScalarInRows",
         {"params": values(2, 4, dtype=np.int32), "indices": np.array([0, 1], U)},
         error=("poplibs_error", "it must be FLOAT or HALF")),
] + [
    Case("popops.histogram",
         {"in": values(*shape, dtype=dtype),
          "levels": np.array([-1, 0, 0.5], dtype)}, {"absolute": absolute},
         lambda t, a=absolute: np.histogram(
             np.abs(t["in"]) if a else t["in"],
             np.array([-np.inf, -1, 0, 0.5, np.inf]))[0],
         types={"out": "unsigned int"})
    for shape in ((40,), (5, 7), (0,)) for absolute in (True, False)
    for dtype in (np.float32, np.float16)
] + [
    Case("popops.histogram", {"in": values(3), "levels": values(1)},
         {"absolute": False}, options={"bins": "3"},
         error=("invalid_option", "Unrecognised option 'bins'")),
] + [
    Case("popops.sequenceSlice",
         {"in": values(6, 3), "to": values(7, 3, seed=1),
          "n": np.array([2, 0, 3], U), "inOffset": np.array([1, 5, 3], U),
          "outOffset": np.array([5, 0, 0], U)}, {"zeroUnused": zero},
         lambda t, z=zero: np.concatenate(
             [t["in"][3:6], (0 if z else 1) * t["to"][3:5], t["in"][1:3]]))
    for zero in (True, False)
] + [
    Case("popops.normaliseImage",
         {"in": image, "offsets": np.array([1, 2, 3], dtype),
          "scales": np.array([0.5, 2, 1], dtype)}, {"scale": 0.25},
         lambda t: np.concatenate(
             [(t["in"] * np.float32(0.25) - t["offsets"]) * t["scales"],
              np.zeros((*t["in"].shape[:-1], 1))], -1),
         types={"out": "half" if dtype == np.float16 else "float"},
         tolerance=5e-3)
    for image, dtype in ((values(4, 5, 3), np.float32),
                         (values(4, 5, 3, dtype=np.float16), np.float16),
                         (np.arange(60, dtype=np.uint8).reshape(4, 5, 3),
                          np.float16))
] + [
    Case("popops.normaliseImage",
         {"in": values(4, 4), "offsets": values(3), "scales": values(3)},
         {"scale": 1.0}, error=("poplibs_error", "must be 3 channels")),
] + [
    Case("popops.CircBuf", {"in": values(rows, 5)}, {"size": 4, "back": back},
         lambda t, r=rows, b=back: {"out": t["in"][r - 1 - b],
                                    "index": np.array([r % 4])},
         types={"index": "unsigned int"})
    for rows, back in ((1, 0), (4, 3), (6, 0), (6, 2))
] + [
    Case("popops.CircBuf", {"in": values(1, 5)}, {"size": 4, "back": 4},
         error=("poplibs_error", "entry 4 back is not in a buffer of 4")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)


def test_torch_agrees_on_the_largest():
    x = values(5, 40)
    best, positions = torch.topk(torch.tensor(x), 7)
    check(Case("popops.topKWithPermutation", {"in": x},
               {"k": 7, "largest": True, "order": "DESCENDING"},
               lambda t: {"out": best.numpy(), "positions": positions.numpy()},
               types={"positions": "unsigned int"}))
