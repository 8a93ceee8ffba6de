"""Operators that stand for others against PyTorch and NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, ints, values

F16, F32 = np.float16, np.float32


def gather_nd(batch_dims):
    def function(data, indices):
        first = data.shape[:batch_dims]
        if batch_dims:
            parts = [gather_nd(batch_dims - 1)(d, i)
                     for d, i in zip(data, indices)]
            return torch.stack(parts)
        assert not first
        return data[tuple(indices.long().movedim(-1, 0))]
    return function


def scatter_nd(reduction):
    def function(data, indices, updates):
        places = tuple(indices.long().movedim(-1, 0))
        if reduction == "mul":
            return torch.index_put(data, places, data[places] * updates)
        return torch.index_put(data, places, updates,
                               accumulate=reduction == "add")
    return function


def index_cases():
    x = values(3, 4, 5)
    for version in (11, 13):
        for axis in (0, 1, 2, -1):
            yield Case("GatherElements", version,
                       [x, np.random.default_rng(axis + 1).integers(0, 3, (3, 4, 2))],
                       lambda a, i, d=axis: torch.gather(a[:, :, :5], d, i.long()),
                       {"axis": axis})
    yield Case("GatherElements", 11, [values(4), ints(-1, 0, -4)],
               lambda a, i: a[i.long()])
    yield Case("GatherElements", 11, [x, ints(1)], error="do not fit")
    yield Case("GatherElements", 11, [x, values(3, 4, 5)], error="must be INT32")
    for version, batch, indices in (
            (11, 0, [[0, 1], [2, -1]]), (12, 0, [[[0], [-3]]]),
            (13, 1, [[[1], [0]], [[2], [3]], [[-1], [0]]]),
            (12, 2, np.zeros((3, 4, 1)).tolist()), (11, 0, [[2, 3, 4]])):
        attributes = {"batch_dims": batch} if version > 11 else {}
        yield Case("GatherND", version, [x, np.array(indices, np.int64)],
                   gather_nd(batch), attributes)
    yield Case("GatherND", 12, [x.astype(F16), np.array([[1, 2]])], gather_nd(0))
    yield Case("GatherND", 12, [x > 0, np.array([[1, 2]])],
               lambda a, i: a[1, 2][None], uses_torch=False)
    yield Case("GatherND", 12, [x, ints(1, 2, 3, 4)], error="4 dimensions")
    yield Case("GatherND", 12, [x, np.zeros((2, 1), np.int64)],
               attributes={"batch_dims": 1}, error="do not begin as")
    for reduction, version in (("none", 11), ("none", 13), ("add", 16), ("mul", 16)):
        attributes = {"reduction": reduction} if version == 16 else {}
        yield Case("ScatterND", version,
                   [x, np.array([[0, 1], [-1, 2]]), values(2, 5, seed=1)],
                   scatter_nd(reduction), attributes)
        yield Case("ScatterND", version,
                   [values(6), np.array([[4], [1]]), values(2, seed=1)],
                   scatter_nd(reduction), attributes)
    yield Case("ScatterND", 16, [x, np.array([[0, 1, 2], [0, 1, 2]]), values(2)],
               scatter_nd("add"), {"reduction": "add"})
    yield Case("ScatterND", 11, [x, np.array([[0]]), values(1, 4)],
               error="do not fit")


def loss_cases():
    for operator, function in (("NegativeLogLikelihoodLoss", F.nll_loss),
                               ("SoftmaxCrossEntropyLoss", F.cross_entropy)):
        for version in (12, 13):
            for shape in ((5, 4), (3, 4, 2), (2, 4, 2, 3)):
                targets = np.random.default_rng(1).integers(
                    0, 4, (shape[0], *shape[2:]))
                targets.flat[0] = 2
                for reduction in ("none", "sum", "mean"):
                    for weights in (None, values(4, low=0.1, seed=2)):
                        for ignored in (None, 2):
                            attributes = {"reduction": reduction}
                            if ignored is not None:
                                attributes["ignore_index"] = ignored
                            inputs = [values(*shape), targets]
                            if weights is not None:
                                inputs.append(weights)
                            yield Case(
                                operator, version, inputs,
                                lambda x, t, w=None, f=function, r=reduction,
                                       i=ignored: f(
                                           x, t.long(), w, reduction=r,
                                           ignore_index=-100 if i is None else i),
                                attributes, differentiated=(0,))
    yield Case("SoftmaxCrossEntropyLoss", 13, [values(5, 4), ints(0, 1, 2, 3, 3)],
               lambda x, t: (F.cross_entropy(x, t.long()), F.log_softmax(x, 1)),
               outputs=2)
    yield Case("NegativeLogLikelihoodLoss", 13,
               [values(2, 3), ints(-100, 1)],
               lambda x, t: F.nll_loss(x, t.long()), {"ignore_index": -100})
    yield Case("NegativeLogLikelihoodLoss", 13, [values(2, 3), ints(0, 1, 2)],
               error="targets have shape")


def layer_norm(axis):
    def function(x, scale, bias=None):
        dims = tuple(range(axis % x.dim(), x.dim()))
        mean = x.mean(dims, keepdim=True)
        inverse = (x.var(dims, unbiased=False, keepdim=True) + 1e-5).rsqrt()
        y = (x - mean) * inverse * scale + (0 if bias is None else bias)
        return y, mean, inverse
    return function


def norm_cases():
    x = values(3, 4, 5)
    for axis, shape in ((-1, (5,)), (1, (4, 5)), (0, (3, 4, 5)), (2, (5,)),
                        (1, (5,)), (-2, (4, 1))):
        yield Case("LayerNormalization", 17, [x, values(*shape, seed=1)],
                   lambda *a, d=axis: layer_norm(d)(*a)[0], {"axis": axis},
                   tolerance=1e-4)
        yield Case("LayerNormalization", 17,
                   [x, values(*shape, seed=1), values(*shape, seed=2)],
                   lambda *a, d=axis: layer_norm(d)(*a)[0], {"axis": axis},
                   tolerance=1e-4)
    yield Case("LayerNormalization", 17, [x, values(5, seed=1)], layer_norm(-1),
               outputs=3, differentiated=(), tolerance=1e-4)
    yield Case("LayerNormalization", 17,
               [x.astype(F16), values(5, dtype=F16, seed=1)],
               lambda *a: layer_norm(-1)(*a)[0], tolerance=1e-2)
    image = values(2, 3, 4, 5)
    for axes in ((0, 2, 3), (1,), (0, 1, 2, 3)):
        yield Case("MeanVarianceNormalization", 13, [image],
                   lambda a, d=axes: (a - a.mean(d, True)) /
                   (a.var(d, False, True).sqrt() + 1e-9),
                   {} if axes == (0, 2, 3) else {"axes": list(axes)},
                   tolerance=1e-4)
    for p in (1, 2):
        for axis in (-1, 0, 1):
            yield Case("LpNormalization", 1, [values(3, 4, low=0.2)],
                       lambda a, n=p, d=axis: a / a.norm(n, d, True),
                       {"p": p, "axis": axis}, tolerance=1e-4)
    for p in (1, 2, 3):
        yield Case("GlobalLpPool", 2, [values(2, 3, 4, 5, low=0.2)],
                   lambda a, n=p: a.pow(n).sum((2, 3), True).pow(1 / n),
                   {"p": p}, tolerance=1e-4)
        for version in (2, 11):
            yield Case("LpPool", version, [values(2, 3, 6, 7, low=0.2)],
                       lambda a, n=p: F.lp_pool2d(F.pad(a, (1, 1, 0, 0)), n,
                                                  (2, 3), (2, 1)),
                       {"p": p, "kernel_shape": [2, 3], "strides": [2, 1],
                        "pads": [0, 1, 0, 1]}, tolerance=1e-4)


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bij,bkj->bik", (2, 3, 4), (2, 5, 4)),
    ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("ii->i", (3, 3)),
    ("ii->", (3, 3)), ("iji->j", (3, 2, 3)), ("iii->i", (2, 2, 2)),
    ("i,i->", (4,), (4,)), ("i,j->ij", (3,), (4,)), ("i,i->i", (4,), (4,)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk", (2, 3, 4), (4, 5)), ("...->...", (2, 3)),
    ("b...,b->b...", (2, 3, 4), (2,)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("ij,kj->", (2, 3), (4, 3)), ("abc,cd,be->ade", (2, 3, 4), (4, 2), (3, 5)),
    ("ij,ij,ij->ij", (2, 3), (2, 3), (2, 3)), ("ik,kj->ij", (2, 1), (1, 3)),
    ("i j , j k -> i k", (2, 3), (3, 4)), ("aB,Bc->ca", (2, 3), (3, 4)),
]


def einsum_cases():
    for equation, *shapes in EQUATIONS:
        yield Case("Einsum", 12,
                   [values(*shape, seed=i) for i, shape in enumerate(shapes)],
                   lambda *a, e=equation: torch.einsum(e, *a),
                   {"equation": equation}, tolerance=1e-4)
    yield Case("Einsum", 12, [ints(1, 2, 3)[None], ints(4, 5, 6)[:, None]],
               lambda a, b: a @ b, {"equation": "ij,jk"}, uses_torch=False)
    x = values(2, 3)
    for equation, error in (("ij,j->i", "terms"), ("ijk->i", "does not fit"),
                            ("i?->i", "neither a letter"), ("ij->k", "names"),
                            ("ij->ii", "twice")):
        yield Case("Einsum", 12, [x], attributes={"equation": equation},
                   error=error)
    yield Case("Einsum", 12, [x, values(4, 2)],
               attributes={"equation": "ij,jk"}, error="do not fit")


def det_cases():
    for shape in ((1, 1), (2, 2), (3, 3), (2, 4, 4), (2, 3, 5, 5)):
        yield Case("Det", 11, [values(*shape, low=-1)], torch.linalg.det,
                   tolerance=1e-4)
    # Zero where elimination starts; and no determinant but zero.
    yield Case("Det", 11, [np.array([[0, 2, 1], [1, 0, 3], [2, 1, 0]], F32)],
               torch.linalg.det, tolerance=1e-4)
    yield Case("Det", 11, [np.ones((3, 3), F32)], np.linalg.det,
               uses_torch=False)
    yield Case("Det", 11, [values(2, 3)], error="square")


def position_cases():
    x = values(2, 3, 4)
    for upper in (0, 1):
        for k in (None, -1, 0, 2):
            inputs = [x] if k is None else [x, np.array(k, np.int64)]
            yield Case("Trilu", 14, inputs,
                       lambda a, b=0, u=upper: (torch.triu if u else torch.tril)(
                           a, int(b)), {"upper": upper}, constants=(1,))
    yield Case("Trilu", 14, [values(3, 3, dtype=np.int32)], np.triu,
               uses_torch=False)
    yield Case("EyeLike", 9, [values(3, 4)], lambda a: np.eye(3, 4, dtype=F32),
               uses_torch=False)
    yield Case("EyeLike", 9, [values(3, 4)], lambda a: np.eye(3, 4, 1, np.int32),
               {"k": 1, "dtype": 6}, uses_torch=False, types=[np.int32])
    for limits in ((0, 5, 1), (5, 0, -2), (3, 3, 1), (1, 2, 0.25)):
        dtype = F32 if 0.25 in limits else np.int64
        yield Case("Range", 11, [np.array(v, dtype) for v in limits],
                   lambda a, b, c: np.arange(a, b, c), constants=(0, 1, 2),
                   uses_torch=False)
    for version, axis in ((1, 1), (11, 2), (11, -1), (13, 1), (13, -1), (13, 0)):
        def hardmax(a, v=version, d=axis):
            rows = a if v == 13 else a.reshape(int(np.prod(a.shape[:d % 3])), -1)
            d = d if v == 13 else 1
            largest = np.expand_dims(rows.argmax(d), d)
            result = np.zeros_like(rows)
            np.put_along_axis(result, largest, 1, d)
            return result.reshape(a.shape)
        yield Case("Hardmax", version, [x], hardmax, {"axis": axis},
                   uses_torch=False)
    for batch, time in ((0, 1), (1, 0)):
        def reverse(a, lengths, b=batch):
            a = a.transpose(0, 1) if b else a
            rows = [torch.cat([row[:n].flip(0), row[n:]])
                    for row, n in zip(a, lengths.tolist())]
            result = torch.stack(rows)
            return result.transpose(0, 1) if b else result
        lengths = ints(*([3, 1] if batch == 0 else [2, 1, 0]))
        yield Case("ReverseSequence", 10, [x, lengths], reverse,
                   {"batch_axis": batch, "time_axis": time})
    pooled, places = F.max_pool2d(torch.tensor(values(2, 3, 4, 6)), 2,
                                  return_indices=True)
    offsets = torch.arange(6).reshape(2, 3, 1, 1) * 24
    yield Case("MaxUnpool", 11, [pooled.numpy(), (places + offsets).numpy()],
               lambda a, i: F.max_unpool2d(a, places, 2),
               {"kernel_shape": [2, 2], "strides": [2, 2]})


def quantise_cases():
    x = values(3, 4, low=-20, high=20)
    scale, zero = np.array(0.1, F32), np.array(7, np.uint8)

    def quantised(a, s, z, low=0, high=255):
        return np.clip(np.rint(a / s) + z.astype(F32), low, high).astype(z.dtype)

    yield Case("QuantizeLinear", 10, [x, scale, zero], quantised, types=[np.uint8],
               uses_torch=False)
    yield Case("QuantizeLinear", 13,
               [x, values(4, low=0.1), np.array([1, -2, 3, 4], np.int8)],
               lambda a, s, z: quantised(a, s, z, -128, 127), {"axis": 1},
               types=[np.int8], uses_torch=False)
    yield Case("QuantizeLinear", 13,
               [x, values(3, low=0.1)],
               lambda a, s: quantised(a, s[:, None], zero * 0), {"axis": 0},
               types=[np.uint8], uses_torch=False)
    bytes_ = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    yield Case("DequantizeLinear", 13, [bytes_, scale, zero],
               lambda a, s, z: (a.astype(F32) - z) * s, types=[F32],
               uses_torch=False)
    yield Case("QuantizeLinear", 13, [x, values(5)], attributes={"axis": 1},
               error="does not fit")
    generator = np.random.default_rng(3)
    for shape, other in (((3, 5), (5, 2)), ((2, 600), (600, 3)), ((2, 3, 4), (4, 2))):
        a = generator.integers(0, 256, shape, dtype=np.uint8)
        b = generator.integers(-128, 128, other, dtype=np.int8)
        yield Case("MatMulInteger", 10, [a, b],
                   lambda x, y: x.astype(np.int32) @ y.astype(np.int32),
                   types=[np.int32], uses_torch=False)
        yield Case("MatMulInteger", 10,
                   [a, b, np.array(9, np.uint8), np.array(-3, np.int8)],
                   lambda x, y, p, q: (x.astype(np.int32) - p) @
                   (y.astype(np.int32) - q), types=[np.int32], uses_torch=False)


def element_cases():
    x = values(3, 4, low=-4, high=4)
    yield Case("HardSwish", 14, [x], F.hardswish)
    yield Case("Celu", 12, [x], F.celu)
    yield Case("Celu", 12, [x], lambda a: F.celu(a, 2.0), {"alpha": 2.0})
    for version in (1, 7):
        yield Case("Xor", version, [x > 0, values(3, 4, seed=1) > 0],
                   np.logical_xor, uses_torch=False)
    for dtype in (np.uint8, np.uint16, np.uint32):
        shifts = np.array([1, 2, 3], dtype)
        yield Case("BitShift", 11, [np.array([16, 4, 255], dtype), shifts],
                   lambda a, b: (a << b).astype(a.dtype), {"direction": "LEFT"},
                   uses_torch=False)
        yield Case("BitShift", 11, [np.array([16, 4, 255], dtype), shifts],
                   np.right_shift, {"direction": "RIGHT"}, uses_torch=False)
    yield Case("CastLike", 15, [x, ints(1)], lambda a, b: a.astype(np.int64),
               types=[np.int64], uses_torch=False)
    yield Case("Size", 13, [x], lambda a: np.array(12), types=[np.int64],
               uses_torch=False)
    # A FLOAT number scales halves, whichever comes first.
    half, number = values(2, 3, dtype=F16), np.array(0.5, F32)
    yield Case("Mul", 7, [half, number], torch.mul, differentiated=(0,))
    yield Case("Mul", 7, [number, half], torch.mul, types=[F16],
               differentiated=(1,))
    # Statistics of each element.
    for version in (6, 7):
        yield Case("BatchNormalization", version,
                   [values(4, 2, 3), *(values(2, 3, low=0.2, seed=i)
                                       for i in range(4))],
                   lambda a, s, b, m, v: (a - m) / (v + 1e-5).sqrt() * s + b,
                   {"spatial": 0}, differentiated=(0, 1, 2), tolerance=1e-4)
    yield Case("BatchNormalization", 7,
               [values(4, 2, 3), *(values(2, low=0.2) for _ in range(4))],
               attributes={"spatial": 0}, error="expected shape of")


CASES = [*index_cases(), *loss_cases(), *norm_cases(), *einsum_cases(),
         *det_cases(), *position_cases(), *quantise_cases(), *element_cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_composed(case):
    check(case)
