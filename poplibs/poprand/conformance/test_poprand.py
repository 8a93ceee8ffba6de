"""Random numbers, worked out by a second Philox in NumPy."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

SEED = np.array([1234567890, 42], np.uint32)
MODIFIER = 7


def philox(counter: np.ndarray, key) -> np.ndarray:
    """Ten rounds over an array [..., 4] of counters."""
    c = [counter[..., i].astype(np.uint64) for i in range(4)]
    k = [int(key[0]), int(key[1])]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a = np.uint64(0xD2511F53) * c[0]
        b = np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low,
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return np.stack(c, -1)


def words(shape, seed=SEED, modifier=MODIFIER) -> np.ndarray:
    """The word of each element: blocks of 64 elements are the first words of
    sixteen counters, then their second words, and so on."""
    count = int(np.prod(shape))
    blocks = -(-count // 64)
    counter = np.zeros((blocks * 16, 4), np.uint64)
    counter[:, 0] = np.arange(blocks * 16)
    counter[:, 2] = modifier
    drawn = philox(counter, seed).reshape(blocks, 16, 4).swapaxes(1, 2)
    return drawn.reshape(-1)[:count].reshape(shape)


def unit(shape, **where):
    return (words(shape, **where) >> np.uint64(8)) / 2.0**24


def quantile(shape, inside=1.0):
    signed = words(shape).astype(np.int64)
    signed = np.where(signed >= 2**31, signed - 2**32, signed) >> 8
    x = inside * (2 * signed + 1) / 2.0**24
    return np.sqrt(2) * torch.erfinv(torch.tensor(x)).numpy()


def hits(shape, probability):
    return (words(shape) >> np.uint64(1)) < round(probability * 2**31)


def draw(name, shape, type_name, expected, tolerance=None, **params):
    return Case(f"poprand.{name}", {"like": values(*shape), "seed": SEED},
                {"modifier": MODIFIER, "type": type_name, **params},
                lambda t: expected(shape), types={"out": type_name},
                tolerance=tolerance)


SHAPES = ((1,), (5, 13), (64,), (3, 700), (2, 3, 5, 7))
ALPHA = 1.5
INSIDE = float(torch.erf(torch.tensor(ALPHA / np.sqrt(2), dtype=torch.float64)))

ROWS = [
    row for shape in SHAPES for row in (
        *(draw("uniform", shape, t, lambda s: 8 * unit(s) - 3, min=-3.0, max=5.0)
          for t in ("float", "half")),
        draw("uniform", shape, "int",
             lambda s: -2 + ((words(s) * np.uint64(6)) >> np.uint64(32))
             .astype(np.int32), min=-2.0, max=3.0),
        *(draw("normal", shape, t, lambda s: 2 + 0.5 * quantile(s),
               mean=2.0, stdDev=0.5) for t in ("float", "half")),
        *(draw("truncatedNormal", shape, t, lambda s: 3 * quantile(s, INSIDE) - 1,
               mean=-1.0, stdDev=3.0, alpha=ALPHA) for t in ("float", "half")),
        *(draw("bernoulli", shape, t, lambda s: hits(s, 0.3), prob=0.3)
          for t in ("float", "half", "int")),
        draw("logUniform", shape, "float", lambda s: 0.1 * 1000**unit(s),
             min=0.1, max=100.0, tolerance=1e-4),
        draw("logUniform", shape, "half", lambda s: 0.1 * 1000**unit(s),
             min=0.1, max=100.0),
    )
] + [
    Case("poprand.dropout", {"in": values(*shape, dtype=dtype), "seed": SEED},
         {"modifier": MODIFIER, "keep": 0.8, "scale": 1.25},
         lambda t: np.where(hits(t["in"].shape, 0.8), 1.25 * t["in"], 0))
    for shape in SHAPES for dtype in (np.float32, np.float16)
] + [
    Case("poprand.shapedDropout",
         {"in": values(4, 30), "like": values(4, 1), "seed": SEED},
         {"modifier": MODIFIER, "keep": 0.5, "scale": 2.0},
         lambda t: t["in"] * hits((4, 1), 0.5) * 2),
    Case("poprand.bernoulli", {"like": values(100), "seed": SEED},
         {"type": "float", "prob": 1.0}, lambda t: np.ones(100)),
    Case("poprand.bernoulli", {"like": values(100), "seed": SEED},
         {"type": "float", "prob": 0.0}, lambda t: np.zeros(100)),
    Case("poprand.uniform", {"like": values(4), "seed": np.zeros(3, np.uint32)},
         {"type": "float", "min": 0.0, "max": 1.0},
         error=("poplibs_error", "seed tensor must have")),
    Case("poprand.uniform", {"like": values(4), "seed": np.zeros(2, np.int32)},
         {"type": "float", "min": 0.0, "max": 1.0},
         error=("poplibs_error", "seed tensor must have")),
    Case("poprand.uniform", {"like": values(4), "seed": SEED},
         {"type": "int", "min": 0.0, "max": 3e9},
         error=("poplibs_error", "for INT")),
    Case("poprand.normal", {"like": values(4), "seed": SEED},
         {"type": "int", "mean": 0.0, "stdDev": 1.0},
         error=("poplibs_error", "")),
    Case("poprand.bernoulli", {"like": values(4), "seed": SEED},
         {"type": "float", "prob": 1.5}, error=("poplibs_error", "[0, 1]")),
    Case("poprand.dropout", {"in": values(4, dtype=np.int32), "seed": SEED},
         {"keep": 0.5, "scale": 2.0}, error=("poplibs_error", "dropout")),
]


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_conforms(case):
    check(case)
