"""Halves under the floating-point control: overflow and stochastic rounding."""

import numpy as np
import pytest
from conformance import Case, check, run, values

F, H = np.float32, np.float16
LARGEST = F(65504)
X = np.array([60000, -60000, 65519, 65520, -7e4, 1e9, 3, -0.1, 2049, 1e-8, np.inf],
             F)
WIDE = values(4, 30, low=-70000, high=70000, seed=3)
SMALL = values(4, 30, dtype=H, seed=4)


def overflow(y, control):
    """What is beyond the largest half; infinity itself is not."""
    y = np.asarray(y, F)
    beyond = (np.abs(y) >= 65520) & np.isfinite(y)
    return np.where(beyond, F(np.nan) if "nanoo" in control
                    else np.copysign(LARGEST, y), y)


def row(operation, inputs, expected, control, params=None, types=None, **kwargs):
    return Case(operation, inputs, {"floatControl": control, **(params or {})},
                lambda v: overflow(expected(v), control), types=types or {},
                **kwargs)


def half(*shape, high, seed=0):
    return values(*shape, dtype=H, low=-high, high=high, seed=seed)


HALF = {"out": "half"}
CASES = [
    case for control in ("clip", "nanoo") for case in (
        row("popops.cast", {"in": X}, lambda v: v["in"], control, {"type": "half"},
            HALF, tolerance=0),
        row("popops.cast", {"in": WIDE}, lambda v: v["in"], control,
            {"type": "half"}, HALF, tolerance=0),
        row("popops.add", {"a": half(40, high=6e4), "b": half(40, high=6e4, seed=1)},
            lambda v: v["a"] + v["b"], control, tolerance=0),
        row("popops.mulInPlace", {"a": half(5, 8, high=500),
                                  "b": half(5, 8, high=500, seed=1)},
            lambda v: v["a"] * v["b"], control, tolerance=0),
        row("popops.exp", {"a": half(60, high=20)}, lambda v: np.exp(v["a"]), control),
        row("popops.exp", {"a": half(20, high=2000)},
            lambda v: np.exp(np.minimum(v["a"], 80)), control),
        row("popops.reduce", {"in": half(30, 7, high=8000)},
            lambda v: v["in"].sum(0), control, {"op": "ADD", "dims": [0]}),
        row("poplin.matMul", {"a": half(9, 12, high=120), "b": half(12, 6, high=120)},
            lambda v: v["a"] @ v["b"], control),
        row("popnn.softmax", {"in": SMALL},
            lambda v: np.exp(v["in"]) / np.exp(v["in"]).sum(-1, keepdims=True),
            control),
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_overflow(case):
    check(case)


def stochastic(x, executor="fast", threads=2):
    case = Case("popops.cast", {"in": x}, {"type": "half", "floatControl": "esr"})
    return run(case, "plain", executor, threads)["out"][1]


def neighbours(x):
    """The halves below and above each number."""
    nearest = x.astype(H)
    below = np.where(nearest.astype(F) <= x, nearest,
                     np.nextafter(nearest, H(-np.inf)))
    return below, np.where(below.astype(F) == x, below,
                           np.nextafter(below, H(np.inf)))


@pytest.mark.parametrize("x", [1.0003, -2.7183, 1234.56, 3e-6, -1e-7],
                         ids=str)
def test_stochastic_rounding_is_unbiased(x):
    numbers = np.full(40000, x, F)
    found = stochastic(numbers)
    below, above = neighbours(numbers[:1])
    assert set(found) == {below[0], above[0]}
    step = float(above[0]) - float(below[0])
    # Five standard deviations of the mean of numbers one step apart.
    assert abs(found.astype(np.float64).mean() - float(F(x))) < 2.5 * step / 200


def test_stochastic_rounding_gives_neighbours():
    x = np.concatenate([values(3000, low=-9, high=9),
                        values(3000, low=-1e-4, high=1e-4, seed=1)])
    below, above = neighbours(x)
    found = stochastic(x)
    assert np.all((found == below) | (found == above))
    assert np.any(found == below) and np.any(found == above)


def test_stochastic_rounding_leaves_halves_alone():
    x = np.arange(0x7c00, dtype=np.uint16).view(H).astype(F)
    np.testing.assert_array_equal(stochastic(x).astype(F), x)


def test_stochastic_rounding_has_the_same_bits_everywhere():
    x = values(50, 77)
    wanted = stochastic(x, "reference", 1)
    for threads in (1, 2):
        np.testing.assert_array_equal(stochastic(x, "fast", threads), wanted)


def test_stochastic_sums_do_not_stall():
    """A small step is lost by rounding to nearest, not by rounding stochastically."""
    inputs = {"a": np.full(4000, 1, H), "b": np.full(4000, 1e-4, H)}
    found = {control: run(Case("popops.add", inputs, {"floatControl": control}),
                          "plain", "fast", 2)["out"][1].astype(np.float64).mean()
             for control in ("clip", "esr")}
    assert found["clip"] == 1
    assert abs(found["esr"] - 1 - float(H(1e-4))) < 2.5 * 2**-10 / np.sqrt(4000)
