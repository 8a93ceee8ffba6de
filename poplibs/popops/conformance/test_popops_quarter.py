"""Casts to and from 8-bit floats against their definition."""

import numpy as np
import pytest
from conformance import Case, check, values

F, H = np.float32, np.float16
FORMATS = {"F143": (3, 8), "F152": (2, 16)}  # bits of the mantissa, bias


def table(format_name, scale=0):
    """The value of each code: a sign, an exponent and a mantissa; what would be
    negative zero is the only NaN."""
    mantissa_bits, bias = FORMATS[format_name]
    found = []
    for code in range(256):
        exponent = (code & 127) >> mantissa_bits
        mantissa = (code & 127) % 2**mantissa_bits / 2**mantissa_bits
        size = ((1 + mantissa) * 2.0**(exponent - bias) if exponent
                else mantissa * 2.0**(1 - bias))
        found.append(size * 2.0**scale * (-1 if code > 127 else 1))
    found[128] = np.nan
    return np.array(found)


def quarters(x, format_name, scale=0):
    """The codes of the nearest values, of two the even one; NaN is 128."""
    positive = table(format_name, scale)[:128]
    codes = []
    for number in np.asarray(x, np.float64).flatten():
        if np.isnan(number):
            codes.append(128)
            continue
        gaps = np.abs(positive - min(abs(number), positive[-1]))
        nearest = np.flatnonzero(gaps == gaps.min())
        code = next((n for n in nearest if n % 2 == 0), nearest[0])
        codes.append(code + (128 if number < 0 and code else 0))
    return np.array(codes, np.uint8).reshape(np.shape(x))


X = np.concatenate([values(300, low=-300, high=300), values(200, low=-0.02, high=0.02),
                    np.array([0, 1, -1.5, 240, 248, 1e9, -1e9, 57344, 61440, np.nan,
                              np.inf, -np.inf, 2**-11, 3 * 2**-11, 2**-18, 2**-20],
                             F)])
with np.errstate(over="ignore"):
    HALVES = X.astype(H)
CODES = np.arange(256, dtype=np.uint8).reshape(16, 16)
SCALES = (0, 3, -5, 31, -32)


def to_row(x, format_name, scale, form="new", **kwargs):
    return Case("popops.castQuarter", {"in": x},
                {"type": "quarter", "to format": format_name, "to scale": scale,
                 "form": form},
                lambda v: quarters(v["in"], format_name, scale),
                types={"out": "quarter"}, **kwargs)


def from_row(codes, format_name, scale, t):
    return Case("popops.castQuarter", {"in": codes},
                {"type": t, "format": format_name, "scale": scale},
                lambda v: table(format_name, scale)[v["in"]].astype(F),
                input_types={"in": "quarter"}, types={"out": t}, tolerance=0)


def requantised(v):
    return quarters(table("F143", 1)[v["in"]], "F152", -2)


CASES = [
    to_row(x, f, s) for x in (X, HALVES) for f in FORMATS for s in SCALES
] + [
    to_row(t(values(5, 9, low=-30, high=30)), f, 1, "computeSet")
    for t in (F, H) for f in FORMATS
] + [
    to_row(x, "F143", 0) for x in (F(3), np.zeros((0,), F), values(4, 5, dtype=np.int32))
] + [
    from_row(CODES, f, s, t) for f in FORMATS for s in SCALES for t in ("float", "half")
] + [
    Case("popops.castQuarter", {"in": CODES},
         {"type": "quarter", "format": "F143", "scale": 1, "to format": "F152",
          "to scale": -2}, requantised, input_types={"in": "quarter"},
         types={"out": "quarter"}),
    Case("popops.castQuarter", {"in": values(3, 70)},
         {"type": "quarter", "to format": "F152", "form": "output"},
         lambda v: {"out": quarters(v["in"], "F152"),
                    "back": table("F152")[quarters(v["in"], "F152")]},
         types={"out": "quarter", "back": "float"}),
    Case("popops.castQuarter", {"in": values(3)}, {"type": "quarter", "to scale": 32},
         error=("tensor_metadata_error", "it must be in [-32, 31]")),
    Case("popops.castQuarter", {"in": CODES},
         {"type": "quarter", "form": "computeSet"}, input_types={"in": "quarter"},
         error=("poplibs_error", "from quarter to quarter takes two passes")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_conforms(case):
    check(case)


def test_definition():
    """Figures that were published for the two formats."""
    assert np.nanmax(table("F143")) == 240 and np.nanmax(table("F152")) == 57344
    assert table("F143")[1] == 2**-10 and table("F152")[1] == 2**-17
