"""Operators of ai.graphcore that move, order, combine and search, against
PyTorch and NumPy."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, values
from test_popart_graphcore import case

F16, F32, I32, U32 = np.float16, np.float32, np.int32, np.uint32


def views():
    for dtype in (F32, F16):
        x = values(4, 6, 5, dtype=dtype)
        yield case("Subsample", [x], lambda a: a[::2, ::1, ::3],
                   {"strides": [2, 1, 3]})
        yield case("Reshape", [x], lambda a: a.reshape(4, 15, 2),
                   {"shape": [0, -1, 2]})
        yield case("Reverse", [x], lambda a: a.flip(0, 2), {"dimensions": [0, -1]})
        yield case("Slice", [x], lambda a: a[1:3, :, :-1],
                   {"starts": [1, 0], "ends": [3, -1], "axes": [0, 2]})
        yield case("Slice", [x], lambda a: a[2:], {"starts": [2], "ends": [9]})
        yield case("TensorRemap", [x], lambda a: a * 1)
        yield case("TensorRemap", [x], lambda a: a * 1, {"remap_type": 2})
        image = values(2, 8, 2, 3, dtype=dtype)
        for mode, order in (("DCR", (0, 3, 4, 1, 5, 2)), ("CRD", (0, 1, 4, 2, 5, 3))):
            blocks = (2, 2, 2, 2, 2, 3)
            yield case("DepthToSpace", [image],
                       lambda a, o=order, b=blocks: a.reshape(b).permute(o).reshape(
                           2, 2, 4, 6), {"blocksize": 2, "mode": mode})
    x = values(4, 6)
    yield case("Subsample", [x], attributes={"strides": [1, 0]},
               error="Unsupported stride of 0 at index 1")
    yield case("Subsample", [x], attributes={"strides": [1]}, error="must have 2")
    yield case("Reverse", [x], attributes={"dimensions": [0, 0]}, error="twice")
    yield case("Reverse", [x], attributes={"dimensions": [2]}, error="outside")
    yield case("TensorRemap", [x], attributes={"remap_type": 3}, error="remap_type 3")
    for kind in (0, 1):
        yield case("Init", [], lambda: np.zeros((2, 3), F32),
                   {"shape": [2, 3], "data_type": 9, "init_type": kind},
                   uses_torch=False, types=[F32])
    yield case("Init", [], attributes={"shape": [2], "data_type": 9, "init_type": 2},
               error="init_type 2")
    yield case("Init", [], attributes={"shape": [2], "data_type": 40,
                                       "init_type": 1}, error="data_type 40")


def orders():
    for dtype in (F32, F16):
        x = np.random.default_rng(2).permutation(60).reshape(3, 5, 4).astype(dtype)
        for axis in (-1, 0, 1):
            for down in (0, 1):
                yield case("Sort", [x],
                           lambda a, d=axis, r=down: torch.sort(
                               a, d, descending=bool(r)),
                           {"axis": axis, "descending": down}, outputs=2,
                           types=[dtype, I32])
        for axis in (0, 1, 2):
            yield case("ReduceMedian", [x],
                       lambda a, d=axis: torch.median(a, d, keepdim=True),
                       {"axes": [axis]}, outputs=2, types=[dtype, I32])
        yield case("ReduceMedian", [x], lambda a: torch.median(a),
                   {"keepdims": 0}, types=[dtype])
        yield case("ReduceMedian", [x],
                   lambda a: torch.median(a.permute(1, 0, 2).reshape(5, 12), 1),
                   {"axes": [0, 2], "keepdims": 0}, outputs=2, types=[dtype, I32])
        limits = np.array([-1, 0, 0.5, 1], dtype)
        points = np.array([[-2, -1, 0, 0.25], [0.5, 0.75, 1, 3]], dtype)
        for right in (0, 1):
            yield case("Bucketize", [points, limits],
                       lambda a, b, r=right: torch.bucketize(a, b, right=bool(r)),
                       {"right": right}, types=[I32], differentiated=())
    x = values(3, 4, dtype=I32)
    yield case("Sort", [x], lambda a: np.sort(a, -1), uses_torch=False)
    yield case("Sort", [x], attributes={"axis": 2}, error="outside")
    yield case("Bucketize", [values(3), values(2, 2)], error="rank must be 1")
    yield case("Bucketize", [values(3), values(2, dtype=I32)], error="one type")


KINDS = {0: "sum", 1: "amax", 2: "amin", 3: "prod"}


def scattered(kind, axis, size):
    """PyTorch's, and zero where nothing arrives unless it is a product."""
    def function(x, index, initial=None):
        shape = list(x.shape)
        shape[axis] = size
        aligned = [1] * x.ndim
        aligned[axis] = -1
        index = (index if index.ndim == x.ndim else index.reshape(aligned)).expand(
            x.shape).long()
        start = torch.ones(shape) if kind == 3 else torch.zeros(shape)
        if kind == 4:
            return (start if initial is None else initial).scatter(axis, index, x)
        return (start if initial is None else initial).scatter_reduce(
            axis, index, x, KINDS[kind],
            include_self=initial is not None or kind in (0, 3))
    return function


def scatters():
    index = np.array([1, 3, 0, 3, 1], I32)
    full = np.random.default_rng(3).integers(0, 4, (2, 5, 3)).astype(I32)
    for dtype, kind in itertools.product((F32, F16), range(5)):
        x = values(2, 5, 3, dtype=dtype, low=0.5)
        attributes = {"axis_size": 6, "axis": 1, "reduction": kind}
        start = values(2, 6, 3, dtype=dtype, seed=1, low=0.5)
        # Without a reduction the last of equals stays, and PyTorch's order is
        # its own: there the indices differ.
        indices = ((index, full) if kind < 4
                   else (np.array([1, 3, 0, 5, 2], I32),))
        for i in indices:
            common = dict(tolerance=1e-4)
            yield case("ScatterReduce", [x, i], scattered(kind, 1, 6), attributes,
                       **common)
            yield case("ScatterReduce", [x, i, start], scattered(kind, 1, 6),
                       attributes, **common)
    # A factor that is zero gets the product of the others; of two, neither
    # gets anything.
    attributes = {"axis_size": 6, "axis": 1, "reduction": 3}
    x = values(2, 5, 3, low=0.5)
    x[0, 1, 0] = x[1, 0] = x[1, 4, 2] = 0
    start = values(2, 6, 3, seed=1, low=0.5)
    start[1, 1, 1] = start[0, 0] = 0
    for inputs in ([x, index], [x, index, start]):
        yield case("ScatterReduce", inputs, scattered(3, 1, 6), attributes,
                   tolerance=1e-4)
    x = values(2, 5, 3)
    grouped = np.random.default_rng(4).integers(0, 4, (2, 5)).astype(I32)
    yield case("GroupedScatterReduce", [x, grouped],
               lambda a, i: torch.stack([
                   scattered(0, 0, 4)(a[g], i[g]) for g in range(2)]),
               {"axis_size": 4, "axis": 1, "group_size": 2})
    for attributes, inputs, text in (
            ({"axis_size": 0}, [x, full], "axis_size is 0"),
            ({"axis_size": 6, "reduction": 5}, [x, full], "reduction 5"),
            ({"axis_size": 6, "axis": 1, "enable_index_broadcast": 0}, [x, index],
             "does not fit"),
            ({"axis_size": 6, "axis": 2}, [x, index], "does not fit"),
            ({"axis_size": 6, "axis": 1}, [x, index, x], "initial values"),
            ({"axis_size": 6, "axis": 1}, [x, index.astype(F32)], "indices are")):
        yield case("ScatterReduce", inputs, attributes=attributes, error=text)
    yield case("GroupedScatterReduce", [x, grouped],
               attributes={"axis_size": 6, "axis": 0, "group_size": 2},
               error="axis 0 is that of the 2 groups")
    yield case("GroupedScatterReduce", [x, grouped],
               attributes={"axis_size": 6, "axis": 1, "group_size": 3},
               error="must be 3, the group_size")


def gathers():
    for dtype in (F32, F16):
        x = values(2, 4, 3, dtype=dtype)
        i = np.array([[0, 3, 3], [2, -1, 0]], I32)
        yield case("GroupedGather", [x, i[0]], lambda a, j: a[:, j.long()],
                   {"axis": 1})
        for axis in (1, 2):
            shape = i[:, :] % (4 if axis == 1 else 3)
            yield case("GroupedGather", [x, shape],
                       lambda a, j, d=axis: torch.stack(
                           [a[g].index_select(d - 1, j[g]) for g in range(2)]),
                       {"axis": axis, "group_size": 2})
    yield case("GroupedGather", [x, i], attributes={"group_size": 2},
               error="axis 0 is that of the 2 groups")


def sequences():
    for dtype in (F32, F16, I32):
        source, target = (values(6, 2, dtype=dtype, seed=s) for s in (0, 1))
        n, start, end = (np.array(a, U32) for a in ([2, 3], [4, 0], [0, 3]))
        for zeros in (0, 1):
            def expected(s, d, n, i, o, z=zeros):
                result = np.zeros_like(d) if z else d.copy()
                for count, a, b in zip(n, i, o):
                    result[b:b + count] = s[a:a + count]
                return result

            yield case("SequenceSlice", [source, target, n, start, end], expected,
                       {"zeroUnused": zeros}, uses_torch=False)
    yield case("SequenceSlice", [source, target[:, :1], n, start, end],
               error="must be the same")
    yield case("SequenceSlice", [source, target, n, start[:1], end],
               error="there are 2 sequences, and 1 in input 3")
    yield case("SequenceSlice", [source, target, n.astype(I32), start, end],
               error="it must be UINT32")


def images():
    for dtype, pixels in itertools.product((F32, F16), (np.uint8, None)):
        image = (values(2, 4, 5, 3, dtype=np.uint8) if pixels
                 else values(2, 4, 5, 3, dtype=dtype))
        offsets, scales = (values(3, dtype=dtype, seed=s) for s in (1, 2))

        def expected(a, o, s):
            normal = (a.astype(F32) * 0.5 - o) * s
            return np.concatenate([normal, np.zeros((*a.shape[:-1], 1))], -1)

        yield case("NormalizeImage", [image, offsets, scales], expected,
                   {"scale": 0.5}, uses_torch=False, types=[dtype],
                   tolerance=1e-5 if dtype == F32 else 1e-2)
    yield case("NormalizeImage", [values(2, 4), values(3), values(3)],
               error="must be 3 channels")
    yield case("NormalizeImage", [values(2, 3), values(3), values(4)],
               error="it must be {3}")


def basis(degree):
    """Products of B-splines in each dimension, first dimension fastest."""
    def function(pseudo, sizes, is_open):
        def spline(v):
            if degree == 1:
                return [1 - v, v]
            if degree == 2:
                return [0.5 * v * v - v + 0.5, -v * v + v + 0.5, 0.5 * v * v]
            return [(1 - v) ** 3 / 6, (3 * v ** 3 - 6 * v * v + 4) / 6,
                    (-3 * v ** 3 + 3 * v * v + 3 * v + 1) / 6, v ** 3 / 6]

        edges, dims = pseudo.shape
        products, indices = [], []
        for e in range(edges):
            row, index = [], []
            for choice in itertools.product(range(degree + 1), repeat=dims):
                choice = choice[::-1]
                product, place, stride = 1.0, 0, 1
                for d, k in enumerate(choice):
                    v = pseudo[e, d] * (sizes[d] - degree * is_open[d])
                    product *= spline(v - np.floor(v))[k]
                    place += int(np.floor(v) + k) % sizes[d] * stride
                    stride *= sizes[d]
                row.append(product)
                index.append(place)
            products.append(row)
            indices.append(index)
        return np.array(products, F32), np.array(indices)
    return function


def splines():
    sizes, is_open = np.array([4, 5], I32), np.array([1, 0], np.uint8)
    for dtype, degree in itertools.product((F32, F16), (1, 2, 3)):
        pseudo = values(6, 2, dtype=dtype, low=0.0, high=0.99)
        yield case("SplineBasis", [pseudo, sizes, is_open], basis(degree),
                   {"degree": degree}, outputs=2, types=[dtype, I32],
                   uses_torch=False, tolerance=1e-4 if dtype == F32 else 1e-2)
        x, w = values(6, 3, dtype=dtype), values(20, 3, 2, dtype=dtype, seed=1)
        b, i = basis(degree)(pseudo.astype(F32), sizes, is_open)
        yield case("SplineWeighting", [x, w, b.astype(dtype), i.astype(I32)],
                   lambda a, m, s, j: np.einsum("ek,ei,ekio->eo", s, a, m[j]),
                   uses_torch=False, tolerance=1e-4 if dtype == F32 else 1e-2)
    pseudo = values(6, 2, low=0.0, high=0.99)
    yield case("SplineBasis", [pseudo, sizes, is_open], attributes={"degree": 4},
               error="degree is 4")
    yield case("SplineBasis", [pseudo, sizes[:1], is_open],
               attributes={"degree": 1}, error="it must be {2}")
    yield case("SplineWeighting", [values(6, 3), values(20, 2, 2),
                                   values(6, 4), np.zeros([6, 4], I32)],
               error="do not fit")


def layer(x, weights, bias=None, state=None, full=True):
    hidden = weights.shape[2]
    bias = torch.zeros(4, hidden) if bias is None else bias
    h, c = (torch.zeros(2, x.shape[1], hidden) if state is None else state)
    outputs = []
    for step in x:
        f, i, g, o = (torch.cat([step, h], 1) @ weights[k] + bias[k]
                      for k in range(4))
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    return (torch.stack(outputs) if full else h), c


def layers():
    for dtype in (F32, F16):
        inputs = [values(5, 3, 4, dtype=dtype), values(4, 6, 2, dtype=dtype, seed=1),
                  values(4, 2, dtype=dtype, seed=2),
                  values(2, 3, 2, dtype=dtype, seed=3)]
        common = dict(outputs=2, types=[dtype] * 2, tolerance=1e-4)
        yield case("LSTM", inputs[:2], layer, **common)
        yield case("LSTM", inputs, layer, **common)
        yield case("LSTM", inputs[:3], lambda *a: layer(*a, full=False),
                   {"outputFullSequence": 0}, **common)
    yield case("LSTM", [inputs[0], inputs[1][:, :5]], error="it must be {4,6,2}",
               outputs=2)


def normalised(x, scale, bias, mean, variance):
    dims = [0, 2, 3]
    count = x.numel() / x.shape[1]
    y = F.batch_norm(x, None, None, scale, bias, True)
    m, v = x.mean(dims).detach(), x.var(dims, unbiased=False).detach()
    return (y, 0.8 * mean + 0.2 * m,
            0.8 * variance + 0.2 * v * count / (count - 1), m, v)


def batch_norms():
    statistics = [values(3, seed=i, low=0.5) for i in range(4)]
    x = values(4, 3, 5, 2)
    yield case("BatchNormalization", [x, *statistics], normalised,
               {"momentum": 0.8}, outputs=5, types=[F32] * 5, differentiated=(),
               tolerance=1e-4)
    yield case("BatchNormalization", [x, *statistics],
               lambda a, s, b, m, v: F.batch_norm(a, m, v, s, b),
               differentiated=(0, 1, 2), tolerance=1e-4)


def ctc(x, labels, steps, counts, blank=0):
    """Minus the log of the sum over all alignments, by the forward recursion."""
    losses = []
    for n in range(x.shape[1]):
        path = [blank]
        for label in labels[n, :counts[n]].tolist():
            path += [label, blank]
        alpha = [x[0, n, path[0]]] + [x[0, n, path[1]] if len(path) > 1 and s == 1
                                      else torch.tensor(-1e30)
                                      for s in range(1, len(path))]
        for t in range(1, int(steps[n])):
            before = alpha
            alpha = []
            for s, label in enumerate(path):
                ways = before[max(0, s - 1):s + 1]
                if s > 1 and label != blank and label != path[s - 2]:
                    ways = before[s - 2:s + 1]
                alpha.append(torch.logsumexp(torch.stack(ways), 0) + x[t, n, label])
        losses.append(-torch.logsumexp(torch.stack(alpha[-2:]), 0))
    return torch.stack(losses)


def ctc_losses():
    raw = torch.tensor(values(6, 3, 4))
    labels = np.array([[1, 2, 2], [3, 1, 0], [2, 3, 1]], I32)
    steps, counts = np.array([6, 5, 6], I32), np.array([3, 2, 3], I32)
    for dtype in (F32, F16):
        x = F.log_softmax(raw, -1).numpy().astype(dtype)
        for number, reduction in enumerate(("Sum", "Mean", "NoReduction")):
            def expected(a, l, s, c, r=reduction):
                loss = ctc(a, l, s, c)
                return {"Sum": loss.sum(), "NoReduction": loss,
                        "Mean": (loss / c).mean()}[r]

            yield case("Ctcloss", [x, labels, steps, counts], expected,
                       {"reduction": number},
                       tolerance=1e-4 if dtype == F32 else 1e-2)
    x = F.log_softmax(raw, -1).numpy()
    yield case("Ctcloss", [x, labels, steps, counts],
               lambda *a: ctc(*a).sum(), {"reduction": 0, "outDataType": "FLOAT16"},
               types=[F16], differentiated=(), tolerance=1e-2)
    impossible = np.array([2, 5, 6], I32)
    yield case("Ctcloss", [x, labels, impossible, counts],
               lambda a, l, s, c: torch.stack(
                   [torch.tensor(0.0), *ctc(a, l, s, c)[1:]]),
               {"reduction": 2, "zeroInfinity": 1}, differentiated=())
    for attributes, inputs, text in (
            ({"blank": 4}, [x, labels, steps, counts], "classes 0 to 3"),
            ({"outDataType": "INT32"}, [x, labels, steps, counts],
             "outDataType is INT32"),
            ({}, [x, labels.astype(F32), steps, counts], "must be UINT32"),
            ({}, [x, labels, steps[:2], counts], "it must be {3}")):
        yield case("Ctcloss", inputs, attributes=attributes, error=text)


def searched(x, steps, paths, blank=0):
    """All alignments, merged: what a beam that is wide enough finds."""
    probabilities = np.zeros((x.shape[1], paths), F32)
    lengths = np.zeros((x.shape[1], paths), U32)
    labels = np.full((x.shape[1], paths, x.shape[0]), blank, U32)
    for n in range(x.shape[1]):
        found = {}
        for way in itertools.product(range(x.shape[2]), repeat=int(steps[n])):
            merged = tuple(c for c, _ in itertools.groupby(way) if c != blank)
            p = np.exp(sum(x[t, n, c] for t, c in enumerate(way)))
            found[merged] = found.get(merged, 0) + p
        best = sorted(found.items(), key=lambda item: -item[1])[:paths]
        for p, (path, probability) in enumerate(best):
            probabilities[n, p] = np.log(probability)
            lengths[n, p] = len(path)
            labels[n, p, :len(path)] = path
    return probabilities, lengths, labels


def searches():
    x = F.log_softmax(torch.tensor(values(4, 2, 3)), -1).numpy()
    steps = np.array([4, 3], U32)
    for paths in (1, 3):
        yield case("CtcBeamSearchDecoder", [x, steps],
                   lambda a, s, p=paths: searched(a, s, p),
                   {"beam_width": 60, "top_paths": paths}, outputs=3,
                   types=[F32, U32, U32], uses_torch=False, tolerance=1e-4)
    for attributes, text in (({"beam_width": 0}, "beam_width is 0"),
                             ({"beam_width": 2, "top_paths": 3}, "top_paths is 3"),
                             ({"blank": 3}, "classes 0 to 2")):
        yield case("CtcBeamSearchDecoder", [x, steps], attributes=attributes,
                   outputs=3, error=text)


@pytest.mark.parametrize("case", [
    *views(), *orders(), *scatters(), *gathers(), *sequences(), *images(),
    *splines(), *layers(), *batch_norms(), *ctc_losses(), *searches()], ids=str)
def test_graphcore(case):
    check(case)
