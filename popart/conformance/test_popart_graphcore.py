"""Operators of ai.graphcore against PyTorch and NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, values

F16, F32, I32, U32 = np.float16, np.float32, np.int32, np.uint32


def case(operator, inputs, expected=None, attributes=None, **more):
    return Case(operator, 1, inputs, expected, attributes or {},
                domain="ai.graphcore", **more)


def of_elements():
    for dtype in (F32, F16):
        x = values(3, 7, dtype=dtype)
        yield case("Gelu", [x], lambda a: F.gelu(a, approximate="tanh"))
        yield case("GeluErf", [x], F.gelu)
        yield case("Swish", [x], F.silu)
        yield case("Scale", [x], lambda a: a * -2.5, {"scale": -2.5})
        yield case("Nop", [x], lambda a: a * 1)
        yield case("Round", [x], lambda a: torch.trunc(a + 0.5 * a.sign()) + 0 * a)
        yield case("NearbyInt", [x], torch.round)
        yield case("Log1p", [values(3, 7, dtype=dtype, low=-0.9)], torch.log1p)
        yield case("Expm1", [x], torch.expm1)
        yield case("Detach", [x], lambda a: a.detach(), differentiated=())
        y = values(3, 7, dtype=dtype, seed=1)
        yield case("Atan2", [x, y], torch.atan2)
        yield case("Atan2", [x, values(7, dtype=dtype, seed=2)], torch.atan2)
        divisor = np.where(np.abs(y) < 0.3, dtype(0.7), y).astype(dtype)
        yield case("Fmod", [x, divisor], torch.fmod, tolerance=1e-4)
        yield case("Remainder", [x, divisor], torch.remainder, tolerance=1e-4)
        yield case("IncrementMod", [x], lambda a: np.fmod(a + 1.5, 2.0),
                   {"increment": 1.5, "modulus": 2.0}, uses_torch=False)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], F32)
    yield case("Round", [halves], lambda a: np.array([-3, -2, -1, 1, 2, 3]),
               uses_torch=False)
    yield case("NearbyInt", [halves], np.rint, uses_torch=False)
    yield case("IncrementMod", [np.arange(6, dtype=U32)],
               lambda a: (a + 2) % 5, {"increment": 2.0, "modulus": 5.0},
               uses_torch=False)


def of_integers():
    for dtype in (I32, U32):
        x, y = values(20, dtype=dtype), values(20, dtype=dtype, seed=1)
        for name, expected in (("And", np.bitwise_and), ("Or", np.bitwise_or),
                               ("Xor", np.bitwise_xor),
                               ("Xnor", lambda a, b: ~(a ^ b))):
            yield case("Bitwise" + name, [x, y], expected, uses_torch=False)
        yield case("BitwiseNot", [x], np.invert, uses_torch=False)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, I32, U32):
        x, y = values(20, dtype=dtype), values(20, dtype=dtype, seed=1)
        y[y == 0] = 3
        yield case("Fmod", [x, y], np.fmod, uses_torch=False)
        yield case("Remainder", [x, y], np.remainder, uses_torch=False)


def scaled_sums():
    for dtype in (F32, F16):
        a, b = values(3, 4, dtype=dtype), values(3, 4, dtype=dtype, seed=1)
        s, t = np.array(0.5, dtype), np.array([-2], dtype)
        yield case("ScaledAdd", [a, b], lambda x, y: x + y)
        yield case("ScaledAdd", [a, b], lambda x, y: 2 * x - 3 * y,
                   {"scale0": 2.0, "scale1": -3.0})
        yield case("ScaledAdd", [a, b, s], lambda x, y, u: u * x + y,
                   differentiated=(0, 1))
        yield case("ScaledAdd", [a, b, s, t], lambda x, y, u, v: u * x + v * y,
                   differentiated=(0, 1))
    yield case("ScaledAdd", [a, a[:2]], error="must be the same")
    yield case("ScaledAdd", [a, b.astype(F32)], error="must have one type")
    yield case("ScaledAdd", [a, b, a], error="must have one element")


def placed(t, offsets, axes, sizes):
    """An index of the slice, going on at the front."""
    index = [torch.arange(n) for n in t.shape]
    for axis, size, offset in zip(axes, sizes, offsets.tolist()):
        index[axis] = (torch.arange(size) + offset) % t.shape[axis]
    return torch.meshgrid(*index, indexing="ij")


def sliced(axes, sizes):
    return lambda t, o: t[placed(t, o, axes, sizes)]


def updated(axes, sizes):
    def function(t, o, s):
        return t.index_put(placed(t, o, axes, sizes), s)
    return function


def added(axes, sizes):
    def function(t, o, s):
        return t.index_put(placed(t, o, axes, sizes), s, accumulate=True)
    return function


def zeroed(axes, sizes):
    def function(t, o):
        index = placed(t, o, axes, sizes)
        return t.index_put(index, torch.zeros(index[0].shape))
    return function


def dynamic_slices():
    for dtype in (F32, F16):
        for axes, sizes, offsets in (([1], [2], [3]), ([0], [3], [0]),
                                     ([0, 2], [2, 1], [1, 4]),
                                     ([2, 0], [3, 1], [1, 2]),
                                     ([1], [3], [5])):
            t = values(4, 6, 5, dtype=dtype)
            shape = list(t.shape)
            for axis, size in zip(axes, sizes):
                shape[axis] = size
            s = values(*shape, dtype=dtype, seed=1)
            o = np.array(offsets, I32).astype(U32).view(I32)
            attributes = {"axes": axes, "sizes": sizes}
            yield case("DynamicSlice", [t, o], sliced(axes, sizes), attributes)
            yield case("DynamicUpdate", [t, o, s], updated(axes, sizes),
                       {**attributes, "noOverlap": 1})
            yield case("DynamicAdd", [t, o, s], added(axes, sizes), attributes)
            yield case("DynamicZero", [t, o], zeroed(axes, sizes), attributes)
    t = values(4, 3, dtype=I32)
    yield case("DynamicSlice", [t, np.array([1], U32)], lambda a, o: a[1:3],
               {"axes": [0], "sizes": [2]}, uses_torch=False)
    o, s = np.array([1], U32), values(2, 3)
    t = values(4, 3)
    for operator, inputs, attributes, text in (
            ("DynamicSlice", [t, o], {"axes": [2], "sizes": [1]}, "do not name"),
            ("DynamicSlice", [t, o], {"axes": [0], "sizes": [5]}, "is not part"),
            ("DynamicSlice", [t, o], {"axes": [0, 1], "sizes": [1, 1]},
             "1 offsets for 2 axes"),
            ("DynamicSlice", [t, o], {"axes": [0], "sizes": []}, "one size"),
            ("DynamicSlice", [t, o.astype(F32)], {"axes": [0], "sizes": [1]},
             "must be UINT32"),
            ("DynamicUpdate", [t, o, s], {"axes": [0], "sizes": [1]},
             "it must be {1,3}"),
            ("DynamicAdd", [t, o, s.astype(F16)], {"axes": [0], "sizes": [2]},
             "must have one type")):
        yield case(operator, inputs, attributes=attributes, error=text)


def norms():
    for dtype in (F32, F16):
        for shape, groups in (((2, 6), 1), ((2, 6, 4), 3), ((3, 4, 2, 5), 2)):
            channels = [values(shape[1], dtype=dtype, seed=i) for i in (1, 2)]

            def expected(x, s, b, n=groups):
                rows = x.reshape(x.shape[0] * n, -1).detach()
                deviation = (rows.var(1, unbiased=False) + 1e-5).sqrt()
                return F.group_norm(x, n, s, b), rows.mean(1), 1 / deviation

            yield case("GroupNormalization",
                       [values(*shape, dtype=dtype), *channels], expected,
                       {"num_groups": groups}, outputs=3, types=[dtype] * 3,
                       differentiated=(), tolerance=1e-4)
            yield case("GroupNormalization",
                       [values(*shape, dtype=dtype), *channels],
                       lambda *a, f=expected: f(*a)[0],
                       {"num_groups": groups, "epsilon": 1e-5},
                       tolerance=2e-2 if dtype == F16 else 1e-4)
    yield case("GroupNormalization", [values(2, 6), values(6), values(6)],
               attributes={"num_groups": 4}, error="do not split")


REDUCTIONS = {"Sum": "sum", "Mean": "mean", "NoReduction": "none"}


def reduced(x, reduction):
    return {"Sum": x.sum, "Mean": x.mean, "NoReduction": lambda: x}[reduction]()


def losses():
    for dtype in (F32, F16):
        x = values(3, 4, dtype=dtype)
        for reduction in REDUCTIONS:
            attributes = {"reduction": reduction}
            yield case("IdentityLoss", [x], lambda a, r=reduction: reduced(a, r),
                       attributes)
            yield case("L1loss", [x],
                       lambda a, r=reduction: reduced(0.25 * a.abs(), r),
                       {**attributes, "lambda": 0.25})
            yield from label_losses(dtype, reduction)
    for reduction, total in ((0, 7), (1, 2), (2, [1, 2, 4])):
        yield case("IdentityLoss", [np.array([1, 2, 4], I32)],
                   lambda a, t=total: np.array(t), {"reduction": reduction},
                   uses_torch=False)
    yield case("L1loss", [values(3)], error="lambda is missing")
    yield case("Nllloss", [values(3, 4), np.zeros([4], I32)],
               error="must have shape {3}")
    yield case("Nllloss", [values(3, 4), np.zeros([3], F32)],
               error="must be integers")
    yield case("Nllloss", [values(3, 4), np.zeros([3], I32)],
               attributes={"reduction": "Most"}, error="is not Sum, Mean")


def label_losses(dtype, reduction):
    raw = values(2, 5, 3, dtype=F32)
    logs = F.log_softmax(torch.tensor(raw), -1).numpy().astype(dtype)
    labels = np.array([[0, 2, 1, 1, 0], [2, 2, 0, 1, 1]], I32)
    for is_log in (0, 1):
        for ignored in (None, 1):
            def expected(p, t, log=is_log, skip=ignored):
                p = p if log else torch.log(p)
                loss = F.nll_loss(p.reshape(-1, 3), t.reshape(-1).long(),
                                  ignore_index=-100 if skip is None else skip,
                                  reduction=REDUCTIONS[reduction])
                return loss.reshape(t.shape) if loss.ndim else loss

            attributes = {"reduction": reduction, "inputIsLogProbability": is_log}
            if ignored is not None:
                attributes["ignoreIndex"] = ignored
            yield case("Nllloss", [logs if is_log else np.exp(logs), labels],
                       expected, attributes, tolerance=1e-4)


@pytest.mark.parametrize("case", [
    *of_elements(), *of_integers(), *scaled_sums(), *dynamic_slices(), *norms(),
    *losses()], ids=str)
def test_graphcore(case):
    check(case)
