"""Rearrangements, and B-splines against the recursion that defines them."""

import numpy as np
import pytest
from conformance import Case, check, values

F, H, I, UC = np.float32, np.float16, np.int32, np.uint8

REARRANGED = [
    Case("popops.partialTranspose", {"in": values(*shape, dtype=t)},
         expected=lambda v: np.swapaxes(v["in"], -1, -2))
    for shape in ((4, 8), (3, 5, 7), (1, 1)) for t in (F, H, I)
] + [
    Case("popops.regroup", {"in": values(6, 8, dtype=t)}, {"size": 4},
         lambda v: v["in"]) for t in (F, H)
] + [
    Case("popops.regroupToSize", {"in": values(*shape, dtype=t)},
         {"size": size}, lambda v: v["in"])
    for shape in ((8, 6), (5, 3), (1, 4)) for size in (1, 4, 16)
    for t in (F, H)
] + [
    Case("popops.regroupToSize", {"in": values(4, 4)}, {"size": 0},
         error=("poplibs_error", "a group has one element at least")),
] + [
    Case("popops.partialTranspose", {"in": values(4)},
         error=("poplibs_error", "no two dimensions to swap")),
    Case("popops.regroup", {"in": values(6, 8)}, {"size": 3},
         error=("poplibs_error", "groups of 3 in dimension 1")),
]


def cardinal(degree, x):
    """The B-spline of a degree on the knots 0, 1, ..., degree + 1 (Cox, de Boor)."""
    if degree == 0:
        return np.where((x >= 0) & (x < 1), 1.0, 0.0)
    return (x * cardinal(degree - 1, x)
            + (degree + 1 - x) * cardinal(degree - 1, x - 1)) / degree


def basis(v, degree):
    products, index = [], []
    for edge in v["pseudo"].astype(np.float64):
        for s in range((degree + 1)**len(edge)):
            product, weight, stride, pieces = 1.0, 0, 1, s
            for x, size, is_open in zip(edge, v["kernelSize"], v["isOpen"]):
                piece, pieces = pieces % (degree + 1), pieces // (degree + 1)
                x = x * (int(size) - (degree if is_open else 0))
                whole = int(np.floor(x))
                product *= cardinal(degree, x - whole + degree - piece)
                weight += (whole + piece) % int(size) * stride
                stride *= int(size)
            products.append(product)
            index.append(weight)
    shape = (len(v["pseudo"]), -1)
    return {"basis": np.array(products).reshape(shape),
            "index": np.array(index, I).reshape(shape)}


def basis_row(edges, sizes, is_open, degree, t=F):
    # Off the knots, where a rounding would choose another piece.
    pseudo = (np.arange(edges * len(sizes)) * 37 % 101 + 0.37) / 102
    return Case("popops.splineBasis",
                {"pseudo": pseudo.reshape(edges, len(sizes)).astype(t),
                 "kernelSize": np.array(sizes, I), "isOpen": np.array(is_open, UC)},
                {"degree": degree}, lambda v: basis(v, degree), types={"index": "int"})


SPLINES = [
    basis_row(edges, sizes, is_open, degree, t)
    for t in (F, H) for degree in (1, 2, 3)
    for edges, sizes, is_open in ((1, [5], [1]), (40, [5], [0]), (30, [4, 6], [1, 0]),
                                  (9, [4, 5, 6], [1, 1, 0]))
] + [
    Case("popops.splineWeighting",
         {"x": values(e, i, dtype=t), "weight": values(k, i, o, dtype=t, seed=1),
          "basis": values(e, s, dtype=t, seed=2),
          "index": (np.arange(e * s) * 7 % k).reshape(e, s).astype(I)},
         expected=lambda v: np.einsum("es,esio,ei->eo", v["basis"],
                                      v["weight"][v["index"]], v["x"]),
         tolerance=2e-2 if t == H else None)
    for t in (F, H) for e, i, o, k, s in ((1, 1, 1, 1, 1), (30, 6, 5, 25, 4),
                                          (200, 3, 8, 25, 9))
] + [
    Case("popops.splineBasis", {"pseudo": values(3, 2), "kernelSize": np.array([3, 3], I),
                                "isOpen": np.array([1, 1], UC)}, {"degree": 4},
         error=("poplibs_error", "degree 4; it must be 1, 2 or 3")),
]


@pytest.mark.parametrize("case", REARRANGED + SPLINES, ids=str)
def test_conforms(case):
    check(case)
