"""Poolings over one to three field dimensions against PyTorch."""

import itertools

import numpy as np
import pytest
import torch
from conformance import Case, check, values

# shape, kernel, stride, padding or truncation below and above
GEOMETRY = [
    ((1, 1, 1), [1], [1], [0], [0]),
    ((2, 3, 9), [3], [2], [1], [1]),
    ((2, 4, 8, 6), [2, 2], [2, 2], [0, 0], [0, 0]),
    ((2, 3, 7, 9), [3, 2], [2, 1], [1, -1], [0, -2]),
    ((1, 5, 12, 11), [5, 3], [1, 3], [2, 1], [2, 1]),
    ((1, 2, 5, 6, 4), [2, 3, 2], [1, 2, 2], [1, 0, -1], [0, 1, 1]),
]


def windows(x, kernel, stride, lower, upper):
    """[N, C, outputs..., window], NaN where a window sees padding."""
    for dim, (low, high) in enumerate(zip(lower, upper)):
        size = x.shape[dim + 2]
        x = x.narrow(dim + 2, max(-low, 0), size - max(-low, 0) - max(-high, 0))
    pads = [max(p, 0) for pair in zip(lower, upper) for p in pair]
    pads = list(itertools.chain(*[pads[i:i + 2]
                                  for i in range(len(pads) - 2, -1, -2)]))
    x = torch.nn.functional.pad(x, pads, value=float("nan"))
    for dim, (k, s) in enumerate(zip(kernel, stride)):
        x = x.unfold(dim + 2, k, s)
    return x.flatten(2 + len(kernel))


def pooled(kind, x, geometry):
    w = windows(x, *geometry)
    valid = ~w.isnan()
    if kind == "MAX":
        return torch.where(valid, w, torch.tensor(-np.inf,
                                                  dtype=w.dtype)).amax(-1)
    total = torch.where(valid, w, torch.zeros_like(w)).sum(-1)
    return total / valid.sum(-1).clamp(min=1) if kind == "AVG" else total


def gradient(kind, geometry, scaled):
    """amax shares a gradient among equals; not scaled, each gets all of it."""
    def expected(inputs):
        x = torch.tensor(inputs["in"], dtype=torch.float64, requires_grad=True)
        dy = torch.tensor(inputs["pooledGrad"], dtype=torch.float64)
        if kind == "MAX" and not scaled:
            w = windows(x, *geometry)
            top = pooled(kind, x, geometry).detach()
            hits = torch.where(w.detach() == top[..., None], w,
                               torch.zeros_like(w)).sum(-1)
            hits.backward(dy)
        else:
            pooled(kind, x, geometry).backward(dy)
        result = {"out": x.grad.numpy()}
        if kind != "MAX":
            result["withoutInput"] = x.grad.numpy()
        return result
    return expected


def forward_row(kind, dtype, shape, *geometry):
    kernel, stride, lower, upper = geometry
    return Case("popnn.pool", {"in": values(*shape, dtype=dtype)},
                {"type": kind, "kernel": kernel, "stride": stride,
                 "lower": lower, "upper": upper},
                lambda t: pooled(kind, torch.tensor(t["in"]), geometry).numpy())


def gradient_row(kind, dtype, scaled, shape, *geometry):
    kernel, stride, lower, upper = geometry
    # Few different values, so that windows have equal maxima.
    x = np.round(values(*shape, dtype=dtype)).astype(dtype)
    out = pooled(kind, torch.tensor(x, dtype=torch.float64), geometry).shape
    return Case("popnn.poolInputGradient",
                {"in": x, "pooledGrad": values(*out, dtype=dtype, seed=1)},
                {"type": kind, "kernel": kernel, "stride": stride,
                 "lower": lower, "upper": upper, "scaled": scaled,
                 "withoutInput": kind != "MAX"},
                gradient(kind, geometry, scaled),
                tolerance=1e-2 if dtype == np.float16 else None)


TYPES = (np.float32, np.float16)
ROWS = [
    forward_row(kind, dtype, *geometry)
    for kind in ("MAX", "AVG", "SUM") for dtype in TYPES for geometry in GEOMETRY
] + [
    gradient_row(kind, dtype, scaled, *geometry)
    for kind in ("MAX", "AVG", "SUM") for dtype in TYPES
    for scaled in ((False, True) if kind == "MAX" else (False,))
    for geometry in GEOMETRY
]


def broken(kind, text, options=None, operation="popnn.pool", **changes):
    params = {"type": "MAX", "kernel": [2], "stride": [1], "lower": [0],
              "upper": [0], **changes}
    return Case(operation, {"in": values(1, 1, 4),
                            "pooledGrad": values(1, 1, 3)},
                params, options=options or {}, error=(kind, text))


ERRORS = [
    broken("poplibs_error", "the kernel has 9 elements in dimension 0; the "
           "padded input has only 4", kernel=[9]),
    broken("poplibs_error", "mismatch of dimensions", stride=[1, 1]),
    broken("poplibs_error", "needs the input and the pooled tensor",
           operation="popnn.poolInputGradient", withoutInput=True),
    broken("invalid_option", "Unrecognised option 'speed'", {"speed": "1"}),
    broken("invalid_option", "Invalid value 'maybe' for option "
           "'optimizeForSpeed': Not one of the values: ['true', 'false']",
           {"optimizeForSpeed": "maybe"}),
]


@pytest.mark.parametrize("case", ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)
