"""Block-sparse products and softmax beside dense ones of NumPy."""

import numpy as np
import pytest
from conformance import PLAIN, Case, check, values

M, K, N = 12, 8, 6
BLOCK = (4, 2, 3)
MASKS = ("None", "ZeroUpperTriangle", "ZeroLowerTriangle")


def flags(dim, block, seed=0):
    """Which blocks are there; the first row of them is empty but for one."""
    shape = dim[0] // block[0], dim[1] // block[1]
    chosen = np.random.default_rng(seed).random(shape) < 0.6
    chosen[0] = False
    chosen[0, -1] = True
    return chosen


def cut(dense, chosen, block):
    """The blocks that are there: [blocks, elements]."""
    down, across = chosen.shape
    blocks = dense.reshape(down, block[0], across, block[1]).swapaxes(1, 2)
    return blocks[chosen].reshape(-1, block[0] * block[1])


def paste(blocks, chosen, block, elsewhere=0):
    down, across = chosen.shape
    dense = np.full((down, across, *block), elsewhere, blocks.dtype)
    dense[chosen] = blocks.reshape(-1, *block)
    return dense.swapaxes(1, 2).reshape(down * block[0], across * block[1])


def kept(mask, chosen, block):
    """False for the elements that are left out of blocks on the diagonal."""
    rows = np.arange(chosen.shape[0] * block[0])[:, None]
    columns = np.arange(chosen.shape[1] * block[1])
    first_row, first_column = (rows // block[0] * block[0],
                               columns // block[1] * block[1])
    crossed = ((first_row < first_column + block[1])
               & (first_column < first_row + block[0]))
    out = {"None": np.zeros_like(crossed), "ZeroUpperTriangle": columns > rows,
           "ZeroLowerTriangle": columns < rows}[mask]
    return ~(out & crossed)


def dense_times_sparse(transpose, dtype=np.float32, **extra):
    dim, block = ((N, K), (BLOCK[2], BLOCK[1])) if transpose else (
        (K, N), BLOCK[1:])
    chosen = flags(dim, block)

    def expected(tensors):
        rhs = paste(tensors["rhs"], chosen, block)
        return tensors["lhs"] @ (rhs.T if transpose else rhs)

    return Case("popsparse.bsMatMul, dense times sparse",
                {"lhs": values(M, K, dtype=dtype),
                 "rhs": values(chosen.sum(), block[0] * block[1], dtype=dtype)},
                {"dim": [M, K, N], "block": list(BLOCK),
                 "sparsity": chosen.ravel().astype(int).tolist(),
                 "transpose": transpose, **extra.pop("params", {})},
                extra.pop("expected", expected), views=(PLAIN,),
                tolerance=2e-2 if dtype == np.float16 else None, **extra)


def sparse_result(mask, block=BLOCK):
    chosen = flags((M, N), (block[0], block[2]))
    of_result = (block[0], block[2])
    keep = kept(mask, chosen, of_result)
    return Case("popsparse.bsMatMul, sparse result",
                {"lhs": values(M, K), "rhs": values(K, N, seed=1)},
                {"dim": [M, K, N], "block": list(block), "mask": mask,
                 "sparsity": chosen.ravel().astype(int).tolist()},
                lambda t: cut(t["lhs"] @ t["rhs"] * keep, chosen, of_result),
                views=(PLAIN,))


def softmax(mask, block, dim=(12, 12), dtype=np.float32):
    chosen = flags(dim, block, seed=2)
    keep = kept(mask, chosen, block)

    def expected(tensors):
        there = paste(np.ones_like(tensors["in"]), chosen, block) * keep
        x = paste(tensors["in"], chosen, block)
        y = np.exp(x - x.max(1, keepdims=True)) * there
        total = y.sum(1, keepdims=True)
        y = y / np.where(total == 0, 1, total)
        dy = paste(tensors["dy"], chosen, block)
        dx = y * (dy - (y * dy).sum(1, keepdims=True))
        y = cut(y, chosen, block)
        return {"y": y, "in": y, "dx": cut(dx, chosen, block)}

    shape = chosen.sum(), block[0] * block[1]
    return Case("popsparse.bsSoftmax",
                {"in": values(*shape, dtype=dtype),
                 "dy": values(*shape, dtype=dtype, seed=1)},
                {"dim": list(dim), "block": list(block), "mask": mask,
                 "sparsity": chosen.ravel().astype(int).tolist()}, expected,
                views=(PLAIN,), tolerance=1e-2 if dtype == np.float16 else None)


ROWS = [
    *(dense_times_sparse(transpose, dtype) for transpose in (False, True)
      for dtype in (np.float32, np.float16)),
    dense_times_sparse(False, options={"memoryCycleRatio": "0.5"}),
    *(sparse_result(mask) for mask in MASKS),
    sparse_result("ZeroUpperTriangle", (3, 2, 3)),
    *(softmax(mask, block) for mask in MASKS
      for block in ((4, 4), (3, 6), (6, 2))),
    softmax("None", (4, 4), dtype=np.float16),
    softmax("None", (2, 4), dim=(4, 12)),
    dense_times_sparse(False, params={"groups": 2}, expected=None,
                       error=("poplibs_error", "one is allowed")),
    dense_times_sparse(False, params={"block": [4, 3, 3]}, expected=None,
                       error=("poplibs_error", "must divide")),
    dense_times_sparse(False, params={"sparsity": [1, 0]}, expected=None,
                       error=("poplibs_error", "sparsity of 2")),
    dense_times_sparse(False, options={"speed": "high"}, expected=None,
                       error=("invalid_option", "Unrecognised option 'speed'")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
