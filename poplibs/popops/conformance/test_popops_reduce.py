"""Reductions: every operation, type, form and edge shape."""

import numpy as np
import pytest
from conformance import Case, check, values

F, H, I, U = np.float32, np.float16, np.int32, np.uint32
LL, ULL, B = np.int64, np.uint64, np.bool_

NUMBERS = {
    "ADD": lambda x, d: np.sum(x, d, dtype=x.dtype),
    "SQUARE_ADD": lambda x, d: np.sum(x * x, d, dtype=x.dtype),
    "MUL": lambda x, d: np.prod(x, d, dtype=x.dtype),
    "MIN": np.min,
    "MAX": np.max,
}
LOGICAL = {"LOGICAL_AND": np.all, "LOGICAL_OR": np.any}


def log_add(x, dims):
    return np.log(np.sum(np.exp(x.astype(np.float64)), dims)).astype(F)


def row(op, array, dims, function, operation="popops.reduce", params=(), **kwargs):
    return Case(operation, {"in": array},
                {"dims": list(dims), "op": op, **dict(params)},
                lambda t: function(t["in"], tuple(dims)), **kwargs)


SHAPES = [((1,), [0]), ((7,), [0]), ((3, 5), [1]), ((3, 5), [0]), ((3, 5), []),
          ((2, 3, 4), [0, 2]), ((2, 3, 4), [2, 0]), ((1, 130), [1]),
          ((67, 3), [0]), ((5, 1, 9), [1]), ((300, 700), [0, 1]),
          ((2, 3, 1025), [1])]

ROWS = [
    row(op, values(*shape, dtype=t), dims, f)
    for op, f in NUMBERS.items() for t in (F, H, I, U, LL, ULL)
    for shape, dims in SHAPES
    if not (t == H and op in ("MUL", "SQUARE_ADD", "ADD") and len(shape) == 2
            and shape[0] == 300)  # beyond the range of halves, or its precision
] + [
    row(op, values(*shape, dtype=B), dims, f)
    for op, f in LOGICAL.items() for shape, dims in SHAPES
] + [
    row("LOG_ADD", values(*shape, dtype=t, low=-30, high=30), dims, log_add)
    for t in (F, H) for shape, dims in SHAPES
] + [  # nothing to reduce
    row(op, np.zeros((3, 0), F), [1], lambda x, d, v=v: np.full(3, v, F))
    for op, v in (("ADD", 0), ("SQUARE_ADD", 0), ("MUL", 1), ("MIN", np.inf),
                  ("MAX", -np.inf))
] + [
    row(op, np.zeros((0,), B), [0], lambda x, d, v=v: np.array(v))
    for op, v in (("LOGICAL_AND", True), ("LOGICAL_OR", False))
] + [
    row("ADD", np.zeros((0, 3), F), [1], NUMBERS["ADD"]),
    row("LOG_ADD", np.zeros((3, 0), F), [1], log_add,
        error=("poplibs_error", "LOG_ADD of no elements")),
] + [  # float and half
    row("ADD", values(40, 60, dtype=a), [1], NUMBERS["ADD"],
        params={"type": name}, types={"out": name})
    for a, name in ((F, "half"), (H, "float"))
] + [  # the older form
    row(op, values(4, 9, dtype=t), [0], f, params={"computeSets": True})
    for op, f, t in (("ADD", NUMBERS["ADD"], F), ("MAX", np.max, H),
                     ("LOGICAL_OR", np.any, B), ("LOG_ADD", log_add, F))
]

OUTPUT_ROWS = [
    Case("popops.reduceWithOutput",
         {"in": values(6, 5, dtype=t), "out": values(5, dtype=o, seed=2),
          **({"scale": np.float32(0.5)} if scaled else {})},
         {"dims": [0], "op": op, "update": update, "computeSets": sets},
         lambda t, op=op, update=update, scaled=scaled:
             NUMBERS[op](t["in"], (0,)) * (t["in"].dtype.type(0.5) if scaled
                                           else t["in"].dtype.type(1))
             + (t["out"] if update else t["out"].dtype.type(0)),
         types={"out": name})
    for op in ("ADD", "SQUARE_ADD") for update in (False, True)
    for t, o, name, scaled in ((F, F, "float", False), (F, F, "float", True),
                               (H, H, "half", True), (H, F, "float", True),
                               (F, H, "half", True), (I, I, "int", False))
    for sets in (False, True)
] + [
    Case("popops.reduceMany",
         {"in": values(6, 5, dtype=t), "scale": np.float32(1 / 6),
          "out": values(5, dtype=t, seed=3)},
         {"dims": [0]},
         lambda t: {"mean": t["in"].mean(0), "power": (t["in"] ** 2).sum(0),
                    "out": t["out"] + t["in"].sum(0)},
         types={"power": "float"})
    for t in (F, H)
]

IN = {"in": values(3, 4)}
ERRORS = [
    Case("popops.reduce", IN, {"dims": [2], "op": "ADD"},
         error=("poplibs_error", "dimension 2 is not one of shape")),
    Case("popops.reduce", IN, {"dims": [1, 1], "op": "ADD"},
         error=("poplibs_error", "dims has 1 more than once")),
    Case("popops.reduce", IN, {"dims": [1], "op": "ADD", "update": True},
         error=("poplibs_error", "Cannot do an update using reduce(); call "
                                 "reduceWithOutput() instead.")),
    Case("popops.reduce", {**IN, "scale": np.float32(2)},
         {"dims": [1], "op": "MAX"},
         error=("poplibs_error", "only ADD and SQUARE_ADD may have them")),
    Case("popops.reduce", {**IN, "scale": values(2)}, {"dims": [1], "op": "ADD"},
         error=("poplibs_error", "the scale must be one FLOAT")),
    Case("popops.reduce", IN, {"dims": [1], "op": "LOGICAL_AND"},
         error=("poplibs_error", "x has type float; allowed: bool")),
    Case("popops.reduce", IN, {"dims": [1], "op": "ADD", "type": "int"},
         error=("poplibs_error", "only float and half may differ")),
    Case("popops.reduce", IN, {"dims": [1], "op": "ADD"},
         options={"accumType.interTile": "int"},
         error=("invalid_option", "Invalid value 'int' for option "
                                  "'accumType.interTile': Not one of the values: "
                                  "['float', 'half']")),
    Case("popops.reduce", IN, {"dims": [1], "op": "ADD"}, options={"speed": "1"},
         error=("invalid_option", "Unrecognised option 'speed'")),
    Case("popops.reduceWithOutput", {**IN, "out": values(4)},
         {"dims": [1], "op": "ADD"},
         error=("poplibs_error", "the result has shape {3}, the output {4}")),
]


@pytest.mark.parametrize("case", ROWS + OUTPUT_ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)
