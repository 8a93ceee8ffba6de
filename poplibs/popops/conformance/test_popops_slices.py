"""Slices, lookups, gathers and scatters at offsets that only the run knows."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

U = np.uint32
ALL_TYPES = (np.float32, np.float16, np.int32, np.uint32, np.bool_, np.uint8,
             np.int16, np.int64)
ARITHMETIC = (np.float32, np.float16, np.int32, np.uint32)


def indices(*entries, shape=None, dtype=U):
    array = np.array(entries, dtype)
    return array.reshape(shape or (len(entries), 1))


def take(t, dims, starts, sizes):
    """The slice, which goes on at the front where it passes the end."""
    for dim, start, size in zip(dims, starts, sizes):
        t = np.take(t, np.arange(start, start + size), axis=dim, mode="wrap")
    return t


def places(t, dims, starts, sizes):
    """Where the slice lies, for indexing."""
    where = [np.arange(extent) for extent in t.shape]
    for dim, start, size in zip(dims, starts, sizes):
        where[dim] = np.arange(start, start + size) % t.shape[dim]
    return np.ix_(*where)


def updated(t, dims, starts, sizes, s):
    t = t.copy()
    t[places(t, dims, starts, sizes)] = s
    return t


SLICES = [  # shape, dims, offsets, sizes
    ((5,), [0], [2], [1]),
    ((5,), [0], [4], [3]),
    ((4, 6), [0], [3], [1]),
    ((4, 6), [1], [2], [3]),
    ((4, 6), [1], [5], [2]),
    ((4, 6), [0, 1], [1, 4], [2, 3]),
    ((4, 6), [1, 0], [4, 3], [3, 2]),
    ((3, 4, 5), [1], [2], [2]),
    ((3, 4, 5), [0, 2], [2, 4], [2, 2]),
    ((3, 4, 5), [0, 1, 2], [0, 1, 2], [1, 1, 1]),
    ((3, 1, 7), [2], [6], [7]),
    ((2, 600), [0], [1], [1]),
    ((4, 6), [], [], []),
    ((4, 6), [0], [1], [0]),
]

ROWS = [
    Case(f"popops.{name}", {"t": values(*shape), "offset": np.array(offsets, U)},
         {"dims": dims, "sizes": sizes},
         lambda t, o=offsets, d=dims, s=sizes: take(t["t"], d, o, s))
    for name in ("dynamicSlice", "dynamicSliceWithOutput")
    for shape, dims, offsets, sizes in SLICES
] + [
    Case("popops.dynamicUpdate",
         {"t": values(*shape), "offset": np.array(offsets, U),
          "s": take(values(*shape, seed=1), dims, offsets, sizes)},
         {"dims": dims, "sizes": sizes},
         lambda t, o=offsets, d=dims, s=sizes: updated(t["t"], d, o, s, t["s"]))
    for shape, dims, offsets, sizes in SLICES
] + [
    Case(f"popops.{name}",
         {"t": values(4, 33, dtype=dtype), "offset": np.array([3], U),
          "s": values(1, 33, dtype=dtype, seed=1)},
         {"dims": [0], "sizes": [1]}, expected)
    for dtype in ALL_TYPES
    for name, expected in (
        ("dynamicSlice", lambda t: t["t"][3:]),
        ("dynamicUpdate", lambda t: np.concatenate([t["t"][:3], t["s"]])))
] + [  # offsets outside
    Case("popops.dynamicSlice", {"t": values(4, 6), "offset": np.array([4], U)},
         {"dims": [0], "sizes": [2]}, lambda t: np.zeros((2, 6)), name="outside"),
    Case("popops.dynamicSlice", {"t": values(4, 6), "offset": np.array([4], U)},
         {"dims": [0], "sizes": [2]}, lambda t: t["t"][:2],
         options={"remapOutOfBoundIndices": "true"}),
    Case("popops.dynamicUpdate",
         {"t": values(4, 6), "offset": np.array([7], U), "s": values(2, 6)},
         {"dims": [0], "sizes": [2]}, lambda t: t["t"], name="outside"),
    Case("popops.dynamicUpdate",
         {"t": values(4, 6), "offset": np.array([7], U), "s": values(2, 6)},
         {"dims": [0], "sizes": [2]},
         lambda t: np.concatenate([t["s"], t["t"][2:]]),
         options={"remapOutOfBoundIndices": "true"}),
]

LOOKUPS = [  # table, indices
    ((5, 3), (4, 0, 0, 2)),
    ((1, 1), (0,)),
    ((7, 1), (6, 6, 6)),
    ((3, 64), (1,)),
    ((50, 130), tuple(range(49, -1, -1))),
    ((100, 16), tuple(i * 37 % 100 for i in range(300))),
    ((4, 2), ()),
]


def lookup(t):
    return t["t"][t["offsets"][:, 0]][:, None]


def combine(function):
    def expected(t):
        result = t["t"].copy()
        for row, update in zip(t["offsets"][:, 0], t["s"]):
            if row < len(result):
                result[row] = function(result[row], update[0],
                                       t.get("scale", 1))
        return result
    return expected


UPDATES = {
    "multiUpdate": lambda old, new, scale: new,
    "multiUpdateMax": lambda old, new, scale: np.maximum(old, new),
    "multiUpdateMul": lambda old, new, scale: old * new,
    "multiUpdateAdd": lambda old, new, scale: old + new * scale,
}


def update_inputs(table, rows, dtype, seed=0):
    return {"t": values(*table, dtype=dtype, seed=seed),
            "s": values(len(rows), 1, table[1], dtype=dtype, seed=seed + 1),
            "offsets": indices(*rows),
            "scale": np.array(3, dtype)}


ROWS += [
    Case("popops.multiSlice",
         {"t": values(*table), "offsets": indices(*rows)}, {"planned": planned},
         lookup)
    for table, rows in LOOKUPS for planned in (False, True)
] + [
    Case("popops.multiSlice",
         {"t": values(6, 5, dtype=dtype), "offsets": indices(5, 1, 1)}, {},
         lookup)
    for dtype in ALL_TYPES
] + [
    Case("popops.multiSlice",
         {"t": values(6, 5), "offsets": indices(5, 9, 1, 6)}, {},
         lambda t: np.stack([t["t"][5:6], np.zeros((1, 5)), t["t"][1:2],
                             np.zeros((1, 5))]), name="outside"),
    Case("popops.multiSlice",
         {"t": values(6, 5), "offsets": indices(5, 9)}, {},
         lambda t: t["t"][[5, 0]][:, None],
         options={"remapOutOfBoundIndices": "true"}),
    Case("popops.multiSlice",
         {"t": values(6, 5), "offsets": indices(2, 4, 0)},
         {"dims": [1], "sizes": [2]},
         lambda t: np.stack([take(t["t"], [1], [o], [2]) for o in (2, 4, 0)]),
         name="columns"),
    Case("popops.multiSlice",
         {"t": values(3, 4, 5), "offsets": indices(2, 3, 0, 1, shape=(2, 2))},
         {"dims": [0, 1], "sizes": [1, 2]},
         lambda t: np.stack([take(t["t"], [0, 1], o, [1, 2])
                             for o in ((2, 3), (0, 1))]), name="two dimensions"),
    Case("popops.multiSlice",
         {"t": values(6, 5), "offsets": indices(5, 1)}, {}, lookup,
         options={"validateIndices": "true"}),
    Case("popops.groupedMultiSlice",
         {"t": values(3, 6, 5),
          "offsets": np.array([[0, 5], [1, 1], [9, 4]], U)[..., None]}, {},
         lambda t: np.stack([t["t"][0, [0, 5]], t["t"][1, [1, 1]],
                             np.stack([np.zeros(5), t["t"][2, 4]])])[:, :, None]),
    Case("popops.multiSlice (static)", {"t": values(4, 6)},
         {"offsets": [3, 0, 3], "dim": 0}, lambda t: t["t"][[3, 0, 3]]),
    Case("popops.multiSlice (static)", {"t": values(4, 6)},
         {"offsets": [5, 1], "dim": 1}, lambda t: t["t"][:, [5, 1]]),
] + [
    Case(f"popops.{name}", update_inputs(table, rows, dtype),
         {"planned": planned}, combine(function), tolerance=tolerance)
    for name, function in UPDATES.items()
    for dtype, tolerance in ((np.float32, 1e-5), (np.float16, 1e-2),
                             (np.int32, None), (np.uint32, None))
    for table, rows, planned in (((5, 3), (4, 0, 0, 2), False),
                                 ((1, 1), (0,), False), ((4, 2), (), False),
                                 ((5, 64), (3, 3, 9, 3), True))
] + [
    Case("popops.multiUpdateAdd",
         update_inputs((40, 96), [i * 7 % 40 for i in range(500)], np.float32),
         {}, combine(UPDATES["multiUpdateAdd"]), tolerance=1e-4, name="large"),
    Case("popops.multiUpdateAdd",
         {**update_inputs((5, 3), (1, 1), np.float16),
          "scale": np.array(0.5, np.float32)},
         {}, combine(UPDATES["multiUpdateAdd"]), name="float scale"),
    Case("popops.multiUpdateAdd (static)",
         {"t": values(4, 6), "s": values(4, 2, seed=1),
          "scale": np.float32(2)}, {"offsets": [5, 1], "dim": 1},
         lambda t: t["t"] + 2 * np.stack(
             [{5: t["s"][:, 0], 1: t["s"][:, 1]}.get(i, np.zeros(4))
              for i in range(6)], 1)),
] + [
    Case(f"popops.grouped{name[0].upper()}{name[1:]}",
         {"t": values(2, 4, 3), "s": values(2, 3, 1, 3, seed=1),
          "offsets": np.array([[0, 3, 0], [7, 1, 1]], U)[..., None],
          "scale": np.float32(2)}, {},
         lambda t, f=function: np.stack(
             [combine(f)({"t": t["t"][g], "s": t["s"][g], "scale": t["scale"],
                          "offsets": t["offsets"][g]}) for g in range(2)]))
    for name, function in UPDATES.items()
]

ROWS += [
    Case("popops.gather (axis)",
         {"in": values(*shape), "indices": np.array(where, U)}, {"axis": axis},
         lambda t, a=axis: np.take(t["in"], t["indices"], axis=a))
    for shape in ((5,), (5, 6), (5, 6, 7))
    for axis in range(len(shape))
    for where in ([3, 0, 3], [[0, 1], [4, 4]], [])
] + [
    Case("popops.gather (axis)", {"in": values(9, 4), "indices": np.array(2, U)},
         {"axis": 0}, lambda t: t["in"][2]),
]


def gather_elements(t):  # rows of a matrix by (row, column) starts
    return np.stack([t["in"][i:i + 2, j] for i, j in t["indices"]])


ROWS += [
    Case("popops.gather",  # XLA's example: columns of a matrix
         {"in": values(3, 3), "indices": np.array([0, 2], np.int32)},
         {"indexVectorDim": 1, "offsetDims": [0], "sliceSizes": [3, 1],
          "collapsedSliceDims": [1], "startIndexMap": [1]},
         lambda t: t["in"][:, [0, 2]], name="columns"),
    Case("popops.gather",
         {"in": values(3, 3), "indices": np.array([[0, 2], [2, 1]], np.int32)},
         {"indexVectorDim": 2, "offsetDims": [1], "sliceSizes": [3, 1],
          "collapsedSliceDims": [1], "startIndexMap": [1]},
         lambda t: np.stack([t["in"][:, [0, 2]], t["in"][:, [2, 1]]]),
         name="batches"),
    Case("popops.gather",
         {"in": values(4, 5), "indices": np.array([[0, 1], [2, 4]], U)},
         {"indexVectorDim": 1, "offsetDims": [1], "sliceSizes": [2, 1],
          "collapsedSliceDims": [1], "startIndexMap": [0, 1]}, gather_elements,
         name="pairs"),
    Case("popops.gather",
         {"in": values(4, 5), "indices": np.array([[9, 1], [-3, 4]], np.int32)},
         {"indexVectorDim": 1, "offsetDims": [1], "sliceSizes": [2, 1],
          "collapsedSliceDims": [1], "startIndexMap": [0, 1]},
         lambda t: np.stack([t["in"][2:4, 1], t["in"][0:2, 4]]), name="clamped"),
    Case("popops.gather",
         {"in": values(4, 5), "indices": np.array([[0, 2], [1, 4]], U)},
         {"indexVectorDim": 0, "offsetDims": [], "sliceSizes": [1, 1],
          "collapsedSliceDims": [0, 1], "startIndexMap": [0, 1]},
         lambda t: t["in"][[0, 2], [1, 4]], name="elements"),
]


def scatter_case(operand, where, updates, window, inserted, dims, expected,
                 vector_dim=1, **extra):
    return Case("popops.scatter",
                {"operand": operand, "indices": where, "updates": updates},
                {"indexVectorDim": vector_dim, "updateWindowDims": window,
                 "insertWindowDims": inserted, "scatterDimsToOperandDims": dims,
                 **extra}, expected)


def scattered(function):
    def expected(t):
        result = t["operand"].copy()
        for row, update in zip(t["indices"], t["updates"]):
            result[row] = function(result[row], update)
        return result
    return expected


def scattered_elements(t):
    result = t["operand"].copy()
    for (i, j), update in zip(t["indices"], t["updates"]):
        result[i, j] = update
    return result


ROWS += [
    scatter_case(values(5, 3), np.array([4, 0, 4], np.int32),
                 values(3, 3, seed=1), [1], [0], [0],
                 scattered(lambda old, new: new)),
    scatter_case(values(5, 3), np.array([4, 0, 4], np.int32),
                 values(3, 3, seed=1), [1], [0], [0],
                 scattered(lambda old, new: old + new), compute="add"),
    scatter_case(values(5, 3), np.array([4, 9, 1], U), values(3, 3, seed=1),
                 [1], [0], [0],
                 lambda t: np.stack([t["operand"][0], t["updates"][2],
                                     t["operand"][2], t["operand"][3],
                                     t["updates"][0]])),
    scatter_case(values(5, 3), np.array([[4, 0], [2, 1]], U), values(2, seed=1),
                 [], [0, 1], [0, 1], scattered_elements),
    scatter_case(values(6), np.array([1, 5], U), values(2, 2, seed=1), [1], [],
                 [0], lambda t: np.concatenate(
                     [t["operand"][:1], t["updates"][0], t["operand"][3:]])),
    scatter_case(values(4, 5), np.array([2], U), values(1, 3, seed=1), [1], [0],
                 [0], lambda t: np.concatenate(
                     [t["operand"][:2],
                      np.concatenate([t["updates"], t["operand"][2:3, 3:]], 1),
                      t["operand"][3:]])),
    scatter_case(values(5, 3, dtype=np.int32), np.array([], U),
                 values(0, 3, dtype=np.int32), [1], [0], [0],
                 lambda t: t["operand"]),
]


def slice_error(message, kind="poplibs_error", operation="popops.dynamicSlice",
                shape=(4, 6), offset=np.array([0], U), dims=(0,), sizes=(1,),
                **options):
    return Case(operation, {"t": values(*shape), "offset": offset},
                {"dims": list(dims), "sizes": list(sizes)},
                error=(kind, message), options=options)


def multi_error(message, operation="popops.multiSlice", kind="poplibs_error",
                offsets=indices(0), s=None, dims=(0,), **options):
    return Case(operation,
                {"t": values(4, 6), "offsets": offsets,
                 "s": values(1, 1, 6) if s is None else s},
                {"dims": list(dims), "sizes": [1] * len(dims)},
                error=(kind, message), options=options)


ROWS += [
    slice_error("Unknown vertex type popops::DynamicSlice1D",
                "unknown_vertex_type", "popops.dynamicSlice (no codelets)"),
    slice_error("Unrecognised option 'speed'", "invalid_option", speed="1"),
    slice_error("Invalid value 'yes' for option 'remapOutOfBoundIndices': Not "
                "one of the values: ['true', 'false']", "invalid_option",
                remapOutOfBoundIndices="yes"),
    slice_error("Invalid value 'x' for option 'availableMemoryProportion': Not "
                "a floating point number", "invalid_option",
                availableMemoryProportion="x"),
    slice_error("Invalid value '-1' for option 'availableMemoryProportion': "
                "Value must be greater than or equal to 0", "invalid_option",
                availableMemoryProportion="-1"),
    slice_error("dims has 1 entries and sizes 2", sizes=(1, 1)),
    slice_error("dimension 2 is not one of shape", dims=(2,)),
    slice_error("a slice of 5 does not fit dimension 0", sizes=(5,)),
    slice_error("the offset has shape", offset=np.array([0, 0], U)),
    slice_error("the offsets have type float; they must be UNSIGNED_INT",
                offset=np.array([0], np.float32)),
    multi_error("the offsets have shape {1}; it must be {indices,1}",
                offsets=np.array([0], U)),
    multi_error("dims is empty", offsets=np.zeros((1, 0), U), dims=()),
    multi_error("the updates have shape {1,1,1,5}; the slices have {1,1,1,6}",
                "popops.multiUpdate", s=values(1, 1, 5)),
    multi_error("the updates have type half and the tensor float",
                "popops.multiUpdate", s=values(1, 1, 6, dtype=np.float16)),
    multi_error("an index is not below 4, the size of dimension 0",
                kind="application_runtime_error", offsets=indices(4),
                validateIndices="true"),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)


def test_torch_agrees_on_embeddings():
    """Lookup and scattered sum are torch's embedding and its gradient."""
    table, rows = values(20, 8), [3, 3, 19, 0, 3]
    weights = torch.tensor(table, requires_grad=True)
    seed = values(5, 8, seed=1)
    found = torch.nn.functional.embedding(torch.tensor(rows), weights)
    found.backward(torch.tensor(seed))
    check(Case("popops.multiSlice", {"t": table, "offsets": indices(*rows)}, {},
               lambda t: found.detach().numpy()[:, None]))
    check(Case("popops.multiUpdateAdd",
               {"t": np.zeros_like(table), "s": seed[:, None],
                "offsets": indices(*rows), "scale": np.float32(1)}, {},
               lambda t: weights.grad.numpy()))
