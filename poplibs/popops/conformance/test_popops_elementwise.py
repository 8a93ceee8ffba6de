"""Element-wise functions: every operator, type, form and edge shape."""

import math

import numpy as np
import pytest
from conformance import Case, check, values

F, H, I, U = np.float32, np.float16, np.int32, np.uint32
LL, ULL, B = np.int64, np.uint64, np.bool_
SC, UC, S, US = np.int8, np.uint8, np.int16, np.uint16
INTS = (SC, UC, S, US, I, U, LL, ULL)
BOOL = {"out": "bool"}

erf = np.vectorize(math.erf, otypes=[np.float64])


def clz(x):
    bits = 8 * x.dtype.itemsize
    return np.array([bits - int(v & ((1 << bits) - 1)).bit_length()
                     for v in x.flatten().tolist()], x.dtype).reshape(x.shape)


def popcount(x):
    bits = 8 * x.dtype.itemsize
    return np.array([(v & ((1 << bits) - 1)).bit_count()
                     for v in x.flatten().tolist()], x.dtype).reshape(x.shape)


def round_away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def power(a, b):
    """Integers as the device computes them: 2^-1 is 0."""
    if np.issubdtype(a.dtype, np.floating):
        return np.power(a, b)
    return np.trunc(np.power(a.astype(np.float64), b)).astype(a.dtype)


def divide(a, b):
    if np.issubdtype(a.dtype, np.floating):
        return a / b
    return np.trunc(a.astype(np.float64) / b).astype(a.dtype)


def shift_right(a, b):
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return (a.view(unsigned) >> b.view(unsigned)).view(a.dtype)


# Operator: function, types, range of operands.
UNARY = {
    "abs": (np.abs, (F, H, *INTS), (-2, 2)),
    "asin": (np.arcsin, (F, H), (-1, 1)),
    "bitwiseNot": (np.invert, INTS, (-2, 2)),
    "cbrt": (np.cbrt, (F, H), (-2, 2)),
    "ceil": (np.ceil, (F, H), (-2, 2)),
    "cos": (np.cos, (F, H), (-2, 2)),
    "countLeadingZeros": (clz, INTS, (-2, 2)),
    "erf": (erf, (F, H), (-2, 2)),
    "exp": (np.exp, (F, H), (-2, 2)),
    "exp2": (np.exp2, (F, H), (-2, 2)),
    "expm1": (np.expm1, (F, H), (-2, 2)),
    "floor": (np.floor, (F, H), (-2, 2)),
    "geluErf": (lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), (F, H), (-2, 2)),
    "inv": (lambda x: 1 / x, (F, H), (0.5, 2)),
    "log": (np.log, (F, H), (0.1, 2)),
    "log1p": (np.log1p, (F, H), (-0.5, 2)),
    "logicalNot": (np.logical_not, (B,), (0, 1)),
    "nearbyint": (np.rint, (F, H), (-3, 3)),
    "neg": (np.negative, (F, H, SC, S, I, LL), (-2, 2)),
    "popcount": (popcount, INTS, (-2, 2)),
    "round": (round_away, (F, H), (-3, 3)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (F, H), (0.1, 2)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), (F, H), (-2, 2)),
    "signum": (np.sign, (F, H, I), (-2, 2)),
    "sin": (np.sin, (F, H), (-2, 2)),
    "sqrt": (lambda x: np.sqrt(x).astype(x.dtype), (F, H, I), (0, 2)),
    "square": (np.square, (F, H, *INTS), (-1, 1)),
    "tan": (np.tan, (F, H), (-1, 1)),
    "tanh": (np.tanh, (F, H), (-2, 2)),
}
BINARY = {
    "add": (np.add, (F, H, *INTS)),
    "atan2": (np.arctan2, (F, H)),
    "bitwiseAnd": (np.bitwise_and, INTS),
    "bitwiseOr": (np.bitwise_or, INTS),
    "bitwiseXor": (np.bitwise_xor, INTS),
    "bitwiseXnor": (lambda a, b: ~(a ^ b), INTS),
    "div": (divide, (F, H, *INTS)),
    "invStdDevToVariance": (lambda a, b: 1 / (a * a) - b, (F, H)),
    "max": (np.maximum, (F, H, *INTS)),
    "min": (np.minimum, (F, H, *INTS)),
    "mul": (np.multiply, (F, H, *INTS)),
    "pow": (power, (F, H, I)),
    "rem": (np.fmod, (F, H, *INTS)),
    "shiftLeft": (np.left_shift, INTS),
    "shiftRight": (shift_right, INTS),
    "shiftRightSignExtend": (np.right_shift, (SC, S, I, LL)),
    "sub": (np.subtract, (F, H, *INTS)),
    "varianceToInvStdDev": (lambda a, b: 1 / np.sqrt(a + b), (F, H)),
}
TESTS = {
    "eq": (np.equal, (F, H, B, *INTS)),
    "gt": (np.greater, (F, H, B, *INTS)),
    "gteq": (np.greater_equal, (F, H, B, *INTS)),
    "logicalAnd": (np.logical_and, (B,)),
    "logicalOr": (np.logical_or, (B,)),
    "lt": (np.less, (F, H, B, *INTS)),
    "lteq": (np.less_equal, (F, H, B, *INTS)),
    "neq": (np.not_equal, (F, H, B, *INTS)),
}
SHAPES = ((0,), (1,), (7,), (3, 5), (2, 3, 4), (1, 130), (600,))


def operand(name, shape, dtype, seed):
    """Second operands are positive, small, and never 0."""
    if name.startswith("shift"):
        return values(*shape, dtype=dtype, seed=seed, low=0, high=1).clip(0, 7)
    if dtype == B:
        return values(*shape, dtype=dtype, seed=seed)
    if np.issubdtype(dtype, np.floating):
        return values(*shape, dtype=dtype, seed=seed, low=0.5, high=2)
    return values(*shape, dtype=dtype, seed=seed, low=0, high=1).clip(1, 3)


def first(name, shape, dtype):
    positive = name in ("pow", "varianceToInvStdDev", "invStdDevToVariance")
    return values(*shape, dtype=dtype, low=0.5 if positive else -2)


# Operators whose vector forms differ from NumPy's by more.
LOOSE = {"tan": 1e-4, "pow": 1e-4, "rem": 1e-5}


def unary_rows():
    for name, (function, types, (low, high)) in UNARY.items():
        for t in types:
            for shape in SHAPES if t in (F, H) else ((7,), (3, 5)):
                yield Case(f"popops.{name}",
                           {"a": values(*shape, dtype=t, low=low, high=high)},
                           expected=lambda v, f=function: f(v["a"]))
        t = types[0]
        a = values(3, 5, dtype=t, low=low, high=high)
        yield Case(f"popops.{name}InPlace", {"a": a},
                   expected=lambda v, f=function: f(v["a"]))
        yield Case(f"popops.{name}WithOutput", {"a": a, "out": np.zeros_like(a)},
                   expected=lambda v, f=function: f(v["a"]))


def binary_rows(table, types_of_result):
    for name, (function, types) in table.items():
        for t in types:
            for shape in SHAPES if t in (F, H) else ((1,), (3, 5), (600,)):
                yield Case(f"popops.{name}",
                           {"a": first(name, shape, t),
                            "b": operand(name, shape, t, 1)},
                           expected=lambda v, f=function: f(v["a"], v["b"]),
                           types=types_of_result,
                           tolerance=LOOSE.get(name) if t == F else None)
        t = types[0]
        a, b = first(name, (3, 5), t), operand(name, (3, 5), t, 1)
        for left, right in ((a, b[0]), (a[:1], b[:, :1]), (a, b[0, 0]),
                            (a[:, :1], b)):
            yield Case(f"popops.{name}", {"a": left, "b": right},
                       expected=lambda v, f=function: f(v["a"], v["b"]),
                       types=types_of_result, name="broadcast")
        result = {"out": "bool"} if types_of_result else {}
        if not types_of_result or t == B:
            yield Case(f"popops.{name}InPlace", {"a": a, "b": b},
                       expected=lambda v, f=function: f(v["a"], v["b"]))
        out = np.zeros(a.shape, B) if types_of_result else np.zeros_like(a)
        yield Case(f"popops.{name}WithOutput", {"a": a, "b": b, "out": out},
                   expected=lambda v, f=function: f(v["a"], v["b"]),
                   types=result)
        for t in set(types) & {F, H, I, U, LL}:
            yield from constant_rows(name, function, t, types_of_result)


def constant_rows(name, function, t, result):
    a = first(name, (3, 5), t)
    b = operand(name, (3, 5), t, 1)
    number = 2.0 if t in (F, H) else 2
    as_array = (F if t == H else t)(number)
    yield Case(f"popops.{name}", {"a": a}, {"b": number},
               lambda v: function(v["a"], np.full_like(v["a"], as_array)),
               types=result)
    yield Case(f"popops.{name}", {"b": b}, {"a": number},
               lambda v: function(np.full_like(v["b"], as_array), v["b"]),
               types=result)
    if not result:
        yield Case(f"popops.{name}InPlace", {"a": a}, {"b": number},
                   lambda v: function(v["a"], np.full_like(v["a"], as_array)))


SPECIAL = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan], F)
LONG = np.array([1, -5, 2**40], LL)
A, C = values(4, 3), values(4, 3, dtype=B, seed=5)
X, Y = values(40), values(40, seed=1)

OTHERS = [
    Case("popops.isFinite", {"a": SPECIAL}, expected=lambda v: np.isfinite(v["a"]),
         types=BOOL),
    Case("popops.isFiniteWithOutput", {"a": SPECIAL, "out": np.zeros(6, B)},
         expected=lambda v: np.isfinite(v["a"]), types=BOOL),
    Case("popops.div", {"a": np.array([7, -7, 5, 1], I),
                        "b": np.array([2, 2, -3, 0], I)},
         expected=lambda v: np.array([3, -3, -1, 0], I), name="truncates"),
    Case("popops.rem", {"a": np.array([7, -7, 5], I), "b": np.array([4, 4, -3], I)},
         expected=lambda v: np.array([3, -3, 2], I), name="sign of a"),
    Case("popops.round", {"a": np.array([0.5, 1.5, -2.5], F)},
         expected=lambda v: np.array([1, 2, -3], F), name="half away from 0"),
    Case("popops.nearbyint", {"a": np.array([0.5, 1.5, -2.5], F)},
         expected=lambda v: np.array([0, 2, -2], F), name="half to even"),
    Case("popops.shiftRight", {"a": np.array([-8], I), "b": np.array([1], I)},
         expected=lambda v: np.array([0x7FFFFFFC], I), name="logical"),
    Case("popops.add", {"a": np.array([2**31 - 1], I), "b": np.array([1], I)},
         expected=lambda v: np.array([-2**31], I), name="wraps"),
] + [
    Case("popops.select", {"a": values(4, 3, dtype=t),
                           "b": values(4, 3, dtype=t, seed=1), "c": C},
         expected=lambda v: np.where(v["c"], v["a"], v["b"]))
    for t in (F, H, B, *INTS)
] + [
    Case("popops.select", {"a": A, "b": values(1, 3, seed=1), "c": C[:, :1]},
         expected=lambda v: np.where(v["c"], v["a"], v["b"]), name="broadcast"),
    Case("popops.select", {"a": A, "c": C}, {"b": 2.0},
         lambda v: np.where(v["c"], v["a"], F(2))),
    Case("popops.select", {"b": A, "c": C}, {"a": 2.0},
         lambda v: np.where(v["c"], F(2), v["b"])),
    Case("popops.select", {"c": C}, {"a": 2.0, "b": -1.0},
         lambda v: np.where(v["c"], F(2), F(-1)), types={"out": "float"}),
    Case("popops.ternaryInPlace", {"a": A, "b": values(4, 3, seed=1), "c": C},
         expected=lambda v: np.where(v["c"], v["a"], v["b"])),
    Case("popops.ternaryInPlace", {"a": A, "b": values(4, 3, seed=1), "c": C,
                                   "out": values(4, 3, seed=2)},
         expected=lambda v: np.where(v["c"], v["a"], v["b"])),
    Case("popops.ternaryInPlace", {"a": A, "b": A * 0 - 1, "c": A * 0 + 1},
         expected=lambda v: np.clip(v["a"], -1, 1)),
    Case("popops.clamp", {"a": A}, {"b": -1.0, "c": 0.5},
         lambda v: np.clip(v["a"], -1, 0.5)),
] + [
    Case("popops.clamp", {"a": values(40, dtype=t), "b": t(-5 if t == I else 1),
                          "c": t(9)},
         expected=lambda v: np.clip(v["a"], v["b"], v["c"]))
    for t in (F, H, I, U)
] + [
    Case(f"popops.{name}.typed", {"a": values(40, dtype=t, low=0.5), **tensor},
         {"type": result, **number}, f, types={"out": result})
    for name, f in (("varianceToInvStdDev", lambda v: 1 / np.sqrt(v["a"] + F(0.01))),
                    ("invStdDevToVariance", lambda v: 1 / v["a"] ** 2 - F(0.01)))
    for t, result in ((F, "half"), (H, "float"), (F, "float"))
    for tensor, number in (({"b": F(0.01)}, {}), ({}, {"b": 0.01}))
]

EXPRESSIONS = {
    "polynomial": lambda v: 2 * v["a"] ** 2 - v["b"] / 4 + 1,
    "identity": lambda v: v["b"],
    "relu": lambda v: np.maximum(v["a"], 0) + np.trunc(v["b"]),
    "gelu": lambda v: 0.5 * v["a"] * (1 + erf(v["a"] / math.sqrt(2)))
    * np.where(v["b"] > v["a"], v["b"], 0.5),
}
MAPS = [
    Case("popops.map", {"a": values(40, dtype=t), "b": values(40, dtype=t, seed=1)},
         {"expression": name}, f, tolerance=5e-3 if t == H else None)
    for name, f in EXPRESSIONS.items() for t in (F, H)
] + [
    Case("popops.map", {"a": X, "b": Y, "out": np.zeros_like(X)},
         {"expression": "polynomial", "form": form}, EXPRESSIONS["polynomial"])
    for form in ("new", "inPlace", "output")
] + [
    Case("popops.map", {"a": X}, {"expression": "cast", "operands": 1},
         lambda v: v["a"].astype(I) + 3, types={"out": "int"}),
    Case("popops.map", {"a": values(40, dtype=H)},
         {"expression": "half", "operands": 1},
         lambda v: v["a"] * F(H(0.1)) + 1),
    Case("popops.map", {"a": values(40, dtype=I), "b": values(40, dtype=I, seed=1,
                                                              low=0)},
         {"expression": "bits"}, lambda v: ((v["a"] & 12) | (v["b"] << 2)) ^ ~v["a"]),
    Case("popops.map", {"a": SPECIAL, "b": SPECIAL[::-1].copy()},
         {"expression": "logic"},
         lambda v: ((v["a"] > 0) & ~(v["b"] <= 1)) | np.isnan(v["a"])
         | np.isinf(v["b"]), types=BOOL),
    Case("popops.map", {"a": X, "t": Y}, {"expression": "last", "operands": 20},
         lambda v: v["t"] - v["a"]),
    Case("popops.map", {"a": LONG}, {"expression": "bigLong", "operands": 1},
         lambda v: v["a"] + 1152921504606846977),
    Case("popops.mapMany", {"a": X, "b": Y},
         expected=lambda v: {"first": EXPRESSIONS["polynomial"](v),
                             "second": (v["a"] > 0) & ~(v["b"] <= 1)},
         types={"second": "bool"}),
]

ERRORS = [
    Case("popops.add", {"a": values(4, 2), "b": values(3)},
         error=("poplibs_error", "Cannot broadcast tensors to match dimension 1")),
    Case("popops.add", {"a": X, "b": Y}, options={"speed": "1"},
         error=("invalid_option", "Unrecognised option 'speed'")),
    Case("popops.add", {"a": X, "b": Y}, options={"enableGenerateCodelet": "1"},
         error=("invalid_option", "Invalid value '1' for option "
                                  "'enableGenerateCodelet': Not one of the values: "
                                  "['true', 'false']")),
    Case("popops.exp", {"a": values(3, dtype=I)},
         error=("poplibs_error", "EXPONENT does not take type int")),
    Case("popops.map", {"a": X, "b": values(40, dtype=I)}, {"expression": "mixed"},
         error=("poplibs_error", "operand 1 of ADD has type int; it must be float")),
    Case("popops.map", {"a": X}, {"expression": "mixed", "operands": 1},
         error=("poplibs_error", "the expression uses input 1; 1 inputs were given")),
    Case("popops.addWithOutput", {"a": X, "b": Y, "out": values(40, dtype=H)},
         error=("poplibs_error", "the result has type float, the output half")),
    Case("popops.eqInPlace", {"a": X, "b": Y},
         error=("poplibs_error", "the result has type bool, the output float")),
    Case("popops.addInPlace", {"a": values(3), "b": values(2, 3)},
         error=("poplibs_error", "Cannot broadcast")),
]


@pytest.mark.parametrize(
    "case", [*unary_rows(), *binary_rows(BINARY, {}), *binary_rows(TESTS, BOOL),
             *OTHERS, *MAPS, *ERRORS], ids=str)
def test_conforms(case):
    check(case)
