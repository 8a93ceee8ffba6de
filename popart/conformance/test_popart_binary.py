"""Element-wise ai.onnx operators of several operands, with broadcasting, and
casts, against PyTorch and NumPy."""

import numpy as np
import pytest
import torch

from operators import Case, check, values

F16, F32 = np.float16, np.float32
INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
            np.int64, np.uint64)
SHAPES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)),
          ((2, 1, 4), (3, 1)), ((1,), (1,)), ((0, 3), (3,)), ((70,), ())]

ARITHMETIC = [
    ("Add", (7, 13, 14), torch.add, (-2, 2)),
    ("Sub", (7, 13, 14), torch.sub, (-2, 2)),
    ("Mul", (7, 13, 14), torch.mul, (-2, 2)),
    ("Div", (7, 13, 14), torch.div, (0.5, 2)),
    ("Pow", (7, 12, 13, 15), torch.pow, (0.5, 2)),
]
COMPARISONS = [
    ("Equal", (7, 11, 13), np.equal), ("Greater", (7, 9, 13), np.greater),
    ("Less", (7, 9, 13), np.less), ("GreaterOrEqual", (12, 16), np.greater_equal),
    ("LessOrEqual", (12, 16), np.less_equal),
]


def arithmetic_cases():
    for operator, versions, function, (low, high) in ARITHMETIC:
        for a, b in SHAPES:
            yield Case(operator, versions[-1],
                       [values(*a, low=low, high=high),
                        values(*b, low=low, high=high, seed=1)], function)
        for version in versions:
            yield Case(operator, version,
                       [values(3, 4, low=low, high=high, dtype=F16),
                        values(4, low=low, high=high, dtype=F16, seed=1)],
                       function)
    # Before ONNX 7, `axis` places the second operand.
    for operator, function in (("Add", torch.add), ("Sub", torch.sub),
                               ("Mul", torch.mul), ("Div", torch.div)):
        for axis, shape, view in ((1, (3,), (3, 1)), (0, (2, 3), (2, 3, 1)),
                                  (-2, (3, 4), (3, 4)), (0, (2,), (2, 1, 1))):
            yield Case(operator, 6,
                       [values(2, 3, 4), values(*shape, low=0.5, seed=1)],
                       lambda a, b, f=function, v=view: f(a, b.reshape(v)),
                       {"axis": axis, "broadcast": 1})
    yield Case("Pow", 1, [values(2, 3, low=0.5), values(2, seed=1)],
               lambda a, b: torch.pow(a, b.reshape(2, 1)),
               {"axis": 0, "broadcast": 1})
    yield Case("Add", 6, [values(2, 3), values(3, seed=1)], torch.add,
               {"broadcast": 1})
    yield Case("Add", 6, [values(2, 3), values(3, 1)], error="does not fit",
               attributes={"axis": 1, "broadcast": 1})
    yield Case("Add", 7, [values(2, 3), values(4)], error="do not broadcast")
    yield Case("Add", 7, [values(2), values(2, dtype=F16)],
               error="must have one type")
    # A negative base has a gradient by the base alone.
    yield Case("Pow", 7, [values(3, 4), np.array([2.0, 3, 1, 0], F32)], torch.pow,
               constants=(1,), tolerance=1e-4)
    yield Case("Pow", 12, [values(3, 4), np.array([2, 3, 1, 0], np.int64)],
               torch.pow, tolerance=1e-4)
    yield Case("Pow", 13, [values(5, dtype=np.int32), np.array(2, F32)],
               lambda a, b: a ** b.astype(np.int32), uses_torch=False)
    yield Case("Pow", 13, [values(5, dtype=np.int32), np.array(3, np.int64)],
               lambda a, b: a ** b, uses_torch=False)


def integer_cases():
    for dtype in INTEGERS:
        a = values(4, 6, dtype=dtype)
        b = values(6, dtype=dtype, seed=1) + np.array(1, dtype)
        for operator, function in (("Add", np.add), ("Sub", np.subtract),
                                   ("Mul", np.multiply)):
            if dtype == np.uint64 and operator == "Sub":
                continue  # wraps at 32 bits on the device
            yield Case(operator, 14, [a, b], function, uses_torch=False)
        divisor = np.abs(b.astype(np.int64)).astype(dtype) + np.array(1, dtype)
        yield Case("Div", 14, [a, divisor],
                   lambda a, b: np.trunc(a / b).astype(a.dtype), uses_torch=False)
        for fmod, function in ((0, np.mod), (1, np.fmod)):
            signed = np.issubdtype(dtype, np.signedinteger)
            for sign in (1, -1) if signed else (1,):
                yield Case("Mod", 13, [a, divisor * np.array(sign, dtype)],
                           function, {"fmod": fmod}, uses_torch=False)
        for operator, versions, function in COMPARISONS:
            for version in versions:
                yield Case(operator, version, [a, a[:1]], function,
                           uses_torch=False, types=[np.bool_])
        for operator, function in (("Max", np.maximum), ("Min", np.minimum)):
            yield Case(operator, 13, [a, b], function, uses_torch=False)
        yield Case("PRelu", 9, [a, b], lambda a, b: np.where(a >= 0, a, a * b),
                   uses_torch=False)


def remainder(a, b):
    return a - b * torch.floor(a / b).detach()


def other_cases():
    for dtype in (F32, F16):
        a, b = values(3, 4, dtype=dtype), values(4, dtype=dtype, seed=1)
        b = np.where(np.abs(b) < 0.5, dtype(0.5), b)
        yield Case("Mod", 10, [a, b], torch.fmod, {"fmod": 1}, tolerance=1e-4,
                   differentiated=[0])
        yield Case("Mod", 13, [a, b], remainder, tolerance=1e-4)
        for operator, versions, function in COMPARISONS:
            yield Case(operator, versions[-1], [a, b], function,
                       uses_torch=False, types=[np.bool_])
        yield Case("PRelu", 9, [a, b], lambda a, b: np.where(a >= 0, a, a * b),
                   uses_torch=False)
        condition = values(3, 1, dtype=np.bool_)
        yield Case("Where", 9, [condition, a, b], torch.where, types=[dtype])
        yield Case("Where", 16, [condition[0], a, b], torch.where, types=[dtype])
    for dtype in (*INTEGERS, np.bool_):
        a, b = values(3, 4, dtype=dtype), values(4, dtype=dtype, seed=1)
        yield Case("Where", 9, [values(3, 1, dtype=np.bool_), a, b], np.where,
                   uses_torch=False, types=[dtype])
        yield Case("Equal", 11, [a, b], np.equal, uses_torch=False,
                   types=[np.bool_])
    p, q = values(3, 4, dtype=np.bool_), values(4, dtype=np.bool_, seed=1)
    yield Case("And", 7, [p, q], np.logical_and, uses_torch=False)
    yield Case("Or", 7, [p, q], np.logical_or, uses_torch=False)
    yield Case("And", 1, [p, q[:3]],
               lambda a, b: np.logical_and(a, b.reshape(3, 1)),
               {"axis": 0, "broadcast": 1}, uses_torch=False)
    yield Case("Not", 1, [p], np.logical_not, uses_torch=False)
    yield Case("Where", 9, [values(2), values(2), values(2)],
               error="must be BOOL")


def greatest(*tensors):
    result = tensors[0] * 1
    for tensor in tensors[1:]:
        result = torch.maximum(result, tensor)
    return result


def least(*tensors):
    return -greatest(*(-t for t in tensors))


def variadic_cases():
    functions = {
        "Max": greatest, "Min": least, "Sum": lambda *t: sum(t),
        "Mean": lambda *t: sum(t) / len(t),
    }
    for operator, function in functions.items():
        for dtype in (F32, F16):
            for shapes in (((3, 4),), ((3, 4), (4,)), ((3, 1), (1, 4), ()),
                           ((2, 3), (2, 3), (3,), (2, 1)), ((0, 2), (2,))):
                yield Case(operator, 8,
                           [values(*s, seed=i, dtype=dtype)
                            for i, s in enumerate(shapes)], function)
    # Equal operands share the gradient.
    yield Case("Max", 8, [values(3), values(3)], torch.maximum)
    yield Case("Min", 8, [values(3), values(3)], torch.minimum)
    yield Case("Sum", 8, [values(3), None], error="needs input 1")


CASTS = [*INTEGERS, F16, F32, np.bool_]
ONNX_TYPES = {F32: 1, np.uint8: 2, np.int8: 3, np.uint16: 4, np.int16: 5,
              np.int32: 6, np.int64: 7, np.bool_: 9, F16: 10, np.uint32: 12,
              np.uint64: 13}


def cast_cases():
    for source in CASTS:
        x = values(3, 5, dtype=source, low=0, high=9)
        for target in CASTS:
            yield Case("Cast", 9, [x], lambda a, t=target: a.astype(t),
                       {"to": ONNX_TYPES[target]}, uses_torch=False,
                       types=[target])
    for target in (np.int8, np.int16, np.int32, np.int64):
        yield Case("Cast", 9, [np.array([-2.7, -0.5, 0.5, 1.5, 2.7], F32)],
                   lambda a, t=target: a.astype(t), {"to": ONNX_TYPES[target]},
                   uses_torch=False, types=[target])
    yield Case("Cast", 6, [values(3, 5)], lambda a: a.half().float(),
               {"to": "FLOAT16"}, types=[F16], tolerance=1e-3)
    yield Case("Cast", 13, [values(3, 5, dtype=F16)], lambda a: a * 1, {"to": 1},
               types=[F32], tolerance=1e-3)
    yield Case("Cast", 9, [values(3)], attributes={"to": 40},
               error="no data type of ONNX")


@pytest.mark.parametrize(
    "case", [*arithmetic_cases(), *other_cases(), *variadic_cases()], ids=str)
def test_operands(case):
    check(case)


@pytest.mark.parametrize("case", list(integer_cases()), ids=str)
def test_integers(case):
    check(case)


@pytest.mark.parametrize("case", list(cast_cases()), ids=str)
def test_casts(case):
    check(case)
