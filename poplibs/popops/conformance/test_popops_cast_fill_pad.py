"""Casts, fills, scaled sums, loops and padding."""

import numpy as np
import pytest
from conformance import NAMES, Case, check, values

F, H, I, U = np.float32, np.float16, np.int32, np.uint32
LL, ULL, B = np.int64, np.uint64, np.bool_
SC, UC, S, US = np.int8, np.uint8, np.int16, np.uint16
TYPES = (F, H, B, SC, UC, S, US, I, U, LL, ULL)


def cast(x, t):
    """Floating point to integer stays within the range; NumPy's is undefined."""
    if np.issubdtype(x.dtype, np.floating) and np.issubdtype(t, np.integer):
        info = np.iinfo(t)
        numbers = np.nan_to_num(x.astype(np.float64), nan=0).flatten().tolist()
        return np.array([min(max(int(n), info.min), info.max) for n in numbers],
                        t).reshape(x.shape)
    return x.astype(t)


def cast_row(a, t, form="new", **kwargs):
    out = {} if form in ("new", "computeSet") else {"out": np.zeros(a.shape, t)}
    return Case("popops.cast", {"in": a, **out},
                {"type": NAMES[np.dtype(t)], "form": form},
                lambda v: cast(v["in"], t), types={"out": NAMES[np.dtype(t)]},
                **kwargs)


CASTS = [
    cast_row(values(*shape, dtype=a), t)
    for a in TYPES for t in TYPES for shape in ((3, 5), (600,))
] + [
    cast_row(values(*shape), t) for t in (H, I, UC) for shape in ((0,), (1,), ())
] + [
    cast_row(values(3, 5, dtype=a), t, form)
    for a, t in ((F, H), (H, F), (F, I), (F, F))
    for form in ("output", "program", "computeSet", "computeSetOutput")
] + [
    cast_row(np.array([1e9, -1e9, 3e10, -3e10, np.nan, 300.7, -129.2, 1e20], F), t)
    for t in (SC, UC, S, US, I, U, LL, B)
] + [
    cast_row(np.array([70000, -70000, 65519, 65520, 1e-8, 6e-8, 2049, 2051], F), H),
    Case("popops.cast", {"in": values(3), "out": values(4)},
         {"type": "float", "form": "output"},
         error=("poplibs_error", "the source has shape {3}, the destination {4}")),
    Case("popops.cast", {"in": values(3)}, {"type": "quarter"},
         error=("tensor_metadata_error", "a tensor of quarter without metadata")),
]


def filled(v, value, form):
    t = np.array(v["t"])
    flat = t.reshape(-1)
    if form == "regions":
        flat[[0, 2, 3]] = value
    else:
        flat[:] = value
    return {"t": t}


FILLS = [
    Case("popops.fill", {"t": values(3, 5, dtype=t)}, {"value": value, "form": form},
         lambda v, value=value, form=form: filled(v, value, form))
    for t in TYPES for value in (0.0, 1.0)
    for form in (("program", "mapping", "tile", "regions") if t in (F, H, I)
                 else ("program",))
] + [
    Case("popops.fill", {"t": values(*shape)}, {"value": 1.5},
         lambda v: filled(v, 1.5, "program")) for shape in ((0,), (1,), (), (700,))
]


def sums(t, b=None, sub=False, keeps=False, scale_a=None, scale_b=None, tensors=False,
         name=""):
    b = b or t
    inputs = {"a": values(41, dtype=t), "b": values(41, dtype=b, seed=1)}
    params = {"subtract": sub, "keepsA": keeps}
    s = {k: v for k, v in (("scaleA", scale_a), ("scaleB", scale_b)) if v is not None}
    if tensors:
        kind = tensors if isinstance(tensors, type) else (H if t == H else F)
        inputs.update({k: kind(v) for k, v in s.items()})
    else:
        params.update(s)

    def expected(v):
        a, x = v["a"].astype(np.float64), v["b"].astype(np.float64)
        left = a * (1.0 if scale_a is None else scale_a)
        left = a - left if keeps else left
        out = left + (-1 if sub else 1) * scale_b * x
        return {"a": out.astype(F if t == H else t)}

    return Case("popops.scaledAdd", inputs, params, expected, name=name,
                tolerance=2e-3 if H in (t, b) else None)


SUMS = [
    sums(t, b, sub, False, scale_a, 0.25, tensors)
    for t, b in ((F, F), (H, H), (F, H), (H, F)) for sub in (False, True)
    for scale_a in (None, 2.0) for tensors in (False, True, F)
] + [
    sums(t, None, False, True, 0.5, 0.25, tensors)
    for t in (F, H) for tensors in (False, True)
] + [
    sums(t, None, sub, scale_b=3.0) for t in (I, U) for sub in (False,)
] + [
    # 0.1 is no half: scaled by the float, the result is another half.
    Case("popops.scaledAdd", {"a": np.array([0], H), "b": np.array([2048], H)},
         {"scaleB": 0.1}, lambda v: {"a": np.array([204.8], F)}, tolerance=0),
    Case("popops.scaledAdd", {"a": np.array([0], H), "b": np.array([2048], H)},
         {"scaleB": 0.1}, lambda v: {"a": np.array([2048 * float(H(0.1))], F)},
         options={"scaleFloatToHalfTolerance": "1e-3"}, tolerance=0),
    # Rounded once: 1 + 2049 * 1.5 is 3074.5, which halves hold as 3074.
    Case("popops.scaledAdd", {"a": np.array([0.5], H), "b": np.array([2050], H)},
         {"scaleB": 1.5}, lambda v: {"a": np.array([3075.5], F)}, tolerance=0),
    Case("popops.scaledAdd", {"a": values(3), "b": values(1)}, {"scaleB": 1.0},
         error=("poplibs_error", "A has shape {3} and B {1}; they must be the same")),
    Case("popops.scaledAdd", {"a": values(3), "b": values(3), "scaleB": values(2)},
         error=("poplibs_error", "a scale has shape {2}; it must have one element")),
    Case("popops.scaledAdd", {"a": values(3), "b": values(3)}, {"scaleB": 1.0},
         options={"scaleFloatToHalfTolerance": "x"},
         error=("invalid_option", "Not a floating point number")),
]

LOOPS = [
    Case("popops.countedLoop", {"sum": np.zeros(1, U)},
         {"begin": begin, "end": end, "step": step},
         lambda v, r=range(begin, end, step): {"sum": np.array([sum(r)], U)},
         views=("plain",))
    for begin, end, step in ((0, 5, 1), (3, 11, 3), (4, 4, 1), (5, 2, 1))
] + [
    Case("popops.countedLoop", {"sum": np.zeros(1, U)}, {"end": 4, "short": True},
         lambda v: {"sum": np.array([6], U)}, views=("plain",)),
    Case("popops.countedLoop", {"sum": np.zeros(1, U)},
         {"begin": 0, "end": 1, "step": 0},
         error=("poplibs_error", "the step must not be 0")),
] + [
    Case("popops.countedForLoop",
         {"sum": np.zeros(1, t), "count": np.zeros(1, t), "limit": np.array([limit], t)},
         {"begin": begin, "step": step},
         lambda v, r=range(begin, limit, step), limit=limit, t=t: {
             "sum": np.array([sum(r)], t), "count": np.array([limit], t)},
         views=("plain",))
    for t, begin, limit, step in ((I, 0, 5, 1), (I, 6, -3, -3), (U, 2, 10, 4),
                                  (I, 3, 3, 1))
] + [
    Case("popops.countedForLoop", {"sum": np.zeros(1, I), "limit": np.array([4], I)},
         {"begin": 0, "step": 1}, lambda v: {"sum": np.array([4], I)},
         views=("plain",)),
    Case("popops.countedForLoop",
         {"sum": np.zeros(1, F), "count": np.zeros(1, F), "limit": np.ones(1, F)},
         {"begin": 0, "step": 1},
         error=("poplibs_error",
                "countedForLoop: count must have type INT or UNSIGNED_INT")),
]


def pad_row(array, lower, upper, mode="constant", **params):
    def expected(v):
        x = v["in"]
        slices = tuple(slice(max(0, -l), n - max(0, -u))
                       for l, u, n in zip(lower, upper, x.shape))
        amounts = [(max(0, l), max(0, u)) for l, u in zip(lower, upper)]
        value = {"constant_values": params.get("value", 0)}
        return np.pad(x[slices], amounts, mode, **(value if mode == "constant"
                                                   else {}))

    return Case("popops.pad", {"in": array},
                {"lower": list(lower), "upper": list(upper), "mode": mode, **params},
                expected)


PADS = [
    pad_row(values(3, 4, dtype=t), lower, upper, value=value, edgeMapping=edge)
    for t, value in ((F, 1.5), (H, 1.5), (I, 7))
    for lower, upper in (((1, 0), (0, 2)), ((2, 1), (1, 1)), ((-1, 1), (0, -2)))
    for edge in (False, True)
] + [
    pad_row(values(3, 4), lower, upper, mode)
    for mode in ("edge", "reflect")
    for lower, upper in (((1, 0), (0, 2)), ((2, 3), (2, 1)), ((-1, 1), (0, -2)))
] + [
    Case("popops.pad", {"in": values(3, 4)},
         {"lower": [1], "upper": [2], "dim": 1, "mode": mode},
         lambda v, mode=mode: np.pad(v["in"], [(0, 0), (1, 2)], mode))
    for mode in ("constant", "edge", "reflect")
] + [
    Case("popops.pad", {"in": values(3, 4), "value": F(2.5)},
         {"lower": [1, 0], "upper": [0, 2]},
         lambda v: np.pad(v["in"], [(1, 0), (0, 2)], constant_values=2.5)),
    Case("popops.pad", {"in": values(3)}, {"lower": [-2], "upper": [-2]},
         error=("poplibs_error", "cannot be taken from dimension 0")),
    Case("popops.pad", {"in": values(3)}, {"lower": [3], "upper": [0],
                                           "mode": "reflect"},
         error=("poplibs_error", "there may be 2")),
    Case("popops.pad", {"in": values(3)}, {"lower": [1, 1], "upper": [0]},
         error=("poplibs_error", "each dimension needs one")),
]


@pytest.mark.parametrize("case", CASTS + FILLS + SUMS + LOOPS + PADS, ids=str)
def test_conforms(case):
    check(case)
