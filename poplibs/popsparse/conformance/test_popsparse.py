"""Sparse matrices: products, layers and tables beside dense ones of NumPy."""

import numpy as np
import pytest
from conformance import PLAIN, Case, check, values

SHAPE = (12, 8)
BLOCKS = ((1, 1), (4, 4), (3, 2))


def sparse(shape=SHAPE, block=(1, 1), share=0.3, seed=0):
    """A matrix in which this share of the blocks is not 0."""
    down, across = shape[0] // block[0], shape[1] // block[1]
    chosen = np.random.default_rng(seed).permutation(down * across)
    mask = np.zeros(down * across, bool)
    mask[chosen[:round(share * down * across)]] = True
    mask = mask.reshape(down, across)
    return values(*shape, seed=seed) * np.kron(mask, np.ones(block, bool))


def params(matrix, block, **extra):
    return {"matrix": matrix.ravel().tolist(), "shape": list(matrix.shape),
            "block": list(block), **extra}


def product(name, side, block, dtype=np.float32, transpose=(False, False),
            **extra):
    """`side` is where the dense operand is: "lhs" or "rhs"."""
    matrix = sparse(block=block)
    in_product = matrix.T if transpose[side == "lhs"] else matrix
    inner = in_product.shape[0 if side == "lhs" else 1]
    shape = (5, inner) if side == "lhs" else (inner, 5)
    if transpose[side == "rhs"]:
        shape = shape[::-1]

    def expected(tensors):
        dense = tensors[side][0]
        dense = dense.T if transpose[side == "rhs"] else dense
        operands = (dense, in_product) if side == "lhs" else (in_product, dense)
        return np.matmul(*operands)[None]

    options = extra.pop("options", {})
    return Case(f"popsparse.{name}", {side: values(1, *shape, dtype=dtype)},
                params(matrix, block, transposeLHS=transpose[0],
                       transposeRHS=transpose[1], **extra), expected,
                options=options, views=(PLAIN,),
                tolerance=2e-2 if dtype == np.float16 else None)


def transposed(name, side, **extra):
    return [product(name, side, (3, 2), transpose=(lhs, rhs), **extra)
            for lhs in (False, True) for rhs in (False, True)]


def layer(block, ratio, dtype=np.float32):
    weights = sparse(block=block, seed=3)

    def expected(tensors):
        x, dy = tensors["x"], tensors["dy"]
        return {"y": x @ weights.T, "dx": dy @ weights,
                "dw": dy.T @ x * (weights != 0)}

    return Case("popsparse.dynamic.fullyConnected",
                {"x": values(6, SHAPE[1], dtype=dtype),
                 "dy": values(6, SHAPE[0], dtype=dtype, seed=1)},
                params(weights, block, ratio=ratio), expected, views=(PLAIN,),
                tolerance=2e-2 if dtype == np.float16 else None)


def table(block, indices, scale):
    matrix = sparse(block=block, seed=5)

    def expected(tensors):
        after = matrix.copy()
        np.add.at(after, indices, np.float32(scale) * tensors["slices"])
        after *= matrix != 0
        return {"before": matrix[indices], "after": after[indices]}

    return Case("popsparse.dynamic.embedding",
                {"slices": values(len(indices), SHAPE[1]),
                 "indices": np.array(indices, np.uint32)},
                params(matrix, block, ratio=0.5, scale=scale), expected,
                views=(PLAIN,))


DYNAMIC = "dynamic.sparseDenseMatMul"
ROWS = [
    # Room for as many blocks as there are, and for more.
    *(product(DYNAMIC, "rhs", block, ratio=ratio, format=format)
      for block in BLOCKS for ratio in (0.34, 1.0)
      for format in ("COO", "CSR", "CSC")),
    *transposed(DYNAMIC, "rhs", ratio=0.5),
    *transposed("static_.sparseDenseMatMul", "rhs"),
    *transposed("static_.denseSparseMatMul", "lhs"),
    *(product(name, side, (4, 4), np.float16, **extra)
      for name, side, extra in ((DYNAMIC, "rhs", {"ratio": 0.5}),
                                ("static_.sparseDenseMatMul", "rhs", {}),
                                ("static_.denseSparseMatMul", "lhs", {}))),
    product(DYNAMIC, "rhs", (1, 1), ratio=0.5,
            options={"metaInfoBucketOversizeProportion": "0.5",
                     "availableMemoryProportion": "0.3",
                     "partialsType": "float", "doGradAPass": "true",
                     "sharedBuckets": "false"}),
    *(layer(block, ratio) for block in BLOCKS for ratio in (0.34, 1.0)),
    layer((4, 4), 0.5, np.float16),
    *(table(block, [3, 0, 11], -0.5) for block in BLOCKS),
    table((1, 1), [3, 3, 0], 2.0),
]


def error(kind, part, matrix=None, block=(1, 1), options=None, **extra):
    matrix = sparse() if matrix is None else matrix
    extra = {"ratio": 0.5, **extra}
    return Case("popsparse." + DYNAMIC, {"rhs": values(1, SHAPE[1], 5)},
                params(matrix, block, **extra), options=options or {},
                error=(kind, part))


ROWS += [
    error("poplibs_error", "there is room for", ratio=0.1),
    error("poplibs_error", "at most 1", ratio=1.5),
    error("poplibs_error", "must divide", block=(5, 1)),
    error("invalid_option", "Unrecognised option 'speed'",
          options={"speed": "high"}),
    error("invalid_option", "sharedBuckets", options={"sharedBuckets": "yes"}),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
