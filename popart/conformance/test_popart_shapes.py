"""Operators that move elements, or make them from shapes, against PyTorch and
NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, ints, values

F16, F32 = np.float16, np.float32
TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
         np.uint64, np.bool_)


def view_cases():
    x = values(2, 3, 4)
    for version in (5, 13, 14):
        for shape in ((6, 4), (0, -1), (2, 0, 2, 2), (-1,), (1, 24)):
            yield Case("Reshape", version, [x, ints(*shape)],
                       lambda a, s: a.reshape([a.shape[i] if n == 0 else int(n)
                                               for i, n in enumerate(s)]),
                       constants=(1,))
    yield Case("Reshape", 14, [values(0, 3), ints(3, 0)],
               lambda a, s: a.reshape(3, 0), {"allowzero": 1}, constants=(1,))
    yield Case("Reshape", 5, [values(1), ints()], lambda a, s: a.reshape(()),
               constants=(1,))
    yield Case("Reshape", 5, [x, ints(5, 5)], constants=(1,),
               error="does not become")
    for version in (1, 9, 11, 13):
        for axis in (0, 1, 3) if version < 11 else (0, 2, -1, -3):
            yield Case("Flatten", version, [x],
                       lambda a, d=axis: a.reshape(
                           int(np.prod(a.shape[:d])), -1), {"axis": axis})
    ones = values(1, 3, 1, 2)
    for version in (1, 11):
        yield Case("Squeeze", version, [ones], lambda a: a.squeeze())
        yield Case("Squeeze", version, [ones], lambda a: a.squeeze(2), {"axes": [2]})
        yield Case("Unsqueeze", version, [x], lambda a: a[None, :, None],
                   {"axes": [0, 2]})
    yield Case("Squeeze", 13, [ones, ints(0, -2)],
               lambda a, _: a.squeeze(2).squeeze(0), constants=(1,))
    yield Case("Squeeze", 13, [ones], lambda a: a.squeeze())
    yield Case("Squeeze", 11, [ones], attributes={"axes": [1]},
               error="not of size 1")
    yield Case("Unsqueeze", 13, [x, ints(-1, 0)], lambda a, _: a[None, ..., None],
               constants=(1,))
    yield Case("Unsqueeze", 11, [x], attributes={"axes": [0, 0]}, error="twice")
    yield Case("Transpose", 1, [x], lambda a: a.permute(2, 1, 0))
    yield Case("Transpose", 13, [x], lambda a: a.permute(1, 2, 0),
               {"perm": [1, 2, 0]})
    yield Case("Identity", 1, [x], lambda a: a * 1)


def concat_cases():
    parts = [values(2, n, 3, seed=n) for n in (1, 4, 2)]
    yield Case("Concat", 4, parts, lambda *a: torch.cat(a, 1), {"axis": 1})
    yield Case("Concat", 11, parts, lambda *a: torch.cat(a, 1), {"axis": -2})
    yield Case("Concat", 13, parts[:1], lambda a: a * 1, {"axis": 0})
    yield Case("Concat", 1, parts, lambda *a: torch.cat(a, 1))
    yield Case("Concat", 4, [values(0, 2), values(3, 2)],
               lambda *a: torch.cat(a, 0), {"axis": 0})
    yield Case("Concat", 4, [p.astype(F16) for p in parts],
               lambda *a: torch.cat(a, 1), {"axis": 1})
    yield Case("Concat", 4, parts, attributes={"axis": 0},
               error="differ in more than dimension 0")
    x = values(2, 6)
    yield Case("Split", 2, [x], lambda a: a.split([1, 3, 2], 1),
               {"axis": 1, "split": [1, 3, 2]}, outputs=3)
    yield Case("Split", 11, [x], lambda a: a.split(2, 1),
               {"axis": -1}, outputs=3)
    yield Case("Split", 13, [x, ints(2, 4)], lambda a, _: a.split([2, 4], 1),
               {"axis": 1}, constants=(1,), outputs=2)
    yield Case("Split", 11, [x], attributes={"axis": 1, "split": [1, 3]},
               outputs=2, error="do not fill")


def sliced(starts, ends, axes, steps=None):
    def function(a, *_):
        index = [slice(None)] * a.ndim
        for i, axis in enumerate(axes):
            step = steps[i] if steps else 1
            index[axis] = np.arange(a.shape[axis])[starts[i]:ends[i]:step]
        for d, which in enumerate(index):
            if isinstance(which, np.ndarray):
                a = a.index_select(d, torch.tensor(which.copy()))
        return a
    return function


SLICES = [
    ((1,), (3,), (0,), None), ((0, 1), (2, -1), (0, 2), None),
    ((-3,), (2 ** 31,), (1,), None), ((5,), (9,), (1,), None),
    ((0,), (6,), (1,), (2,)), ((1, 0), (6, 4), (1, 0), (3, 2)),
    ((5,), (0,), (1,), (-1,)), ((-1,), (-2 ** 31,), (1,), (-2,)),
    ((9,), (-9,), (-1,), (-3,)), ((4,), (4,), (1,), None),
]


def slice_cases():
    x = values(4, 6, 3)
    for starts, ends, axes, steps in SLICES:
        function = sliced(starts, ends, axes, steps)
        if steps is None:
            yield Case("Slice", 1, [x], function,
                       {"starts": list(starts), "ends": list(ends),
                        "axes": list(axes)})
        given = [ints(*part) for part in (starts, ends, axes, steps or
                                          [1] * len(starts))]
        for version in (10, 11, 13):
            yield Case("Slice", version, [x, *given], function,
                       constants=(1, 2, 3, 4))
    yield Case("Slice", 10, [x.astype(F16), ints(1, 2), ints(3, 5)],
               lambda a, *_: a[1:3, 2:5], constants=(1, 2))
    yield Case("Slice", 11, [x, ints(0), ints(4), None, ints(2)],
               lambda a, *_: a[::2], constants=(1, 2, 4))
    yield Case("Slice", 11, [x, ints(0), ints(4), None, ints(0)],
               constants=(1, 2, 4), error="step is 0")


def repeat_cases():
    x = values(3, 1)
    for shape in ((3, 4), (2, 1, 4), (1,), (), (0, 3, 1)):
        yield Case("Expand", 8, [x, ints(*shape)],
                   lambda a, _, s=shape: a.expand(
                       np.broadcast_shapes((3, 1), s)), constants=(1,))
    yield Case("Expand", 13, [values(dtype=F16), ints(2, 2)],
               lambda a, _: a.expand(2, 2), constants=(1,))
    for version in (6, 13):
        yield Case("Tile", version, [values(2, 3), ints(2, 3)],
                   lambda a, _: a.tile(2, 3), constants=(1,))
    yield Case("Tile", 6, [values(2, 3, dtype=F16), ints(1, 4)],
               lambda a, _: a.tile(1, 4), constants=(1,))
    yield Case("Tile", 6, [values(2, 3), ints(0, 4)],
               lambda a, _: a.tile(0, 4), constants=(1,))
    yield Case("Tile", 1, [values(2, 3), ints(3), ints(1)],
               lambda a, *_: a.tile(1, 3), constants=(1, 2))
    yield Case("Tile", 6, [values(2, 3), ints(2)], constants=(1,),
               error="1 repeats")


def torch_pads(pads):
    half = len(pads) // 2
    return [p for d in reversed(range(half)) for p in (pads[d], pads[half + d])]


def edge_padded(a, pads):
    half = len(pads) // 2
    for d in range(half):
        index = torch.arange(-pads[d], a.shape[d] + pads[half + d])
        a = a.index_select(d, index.clamp(0, a.shape[d] - 1))
    return a


def reflect_padded(a, pads):
    half = len(pads) // 2
    for d in range(half):
        size = a.shape[d]
        index = torch.arange(-pads[d], size + pads[half + d]).abs()
        a = a.index_select(d, (size - 1) - ((size - 1) - index).abs())
    return a


def pad_cases():
    x = values(3, 4, 5)
    for pads in ([1, 0, 2, 0, 3, 1], [0] * 6, [-1, 0, 2, 0, -2, -1]):
        for version in (2,):
            yield Case("Pad", version, [x],
                       lambda a, p=pads: F.pad(a, torch_pads(p), value=1.5),
                       {"pads": pads, "value": 1.5})
        for version in (11, 13):
            yield Case("Pad", version, [x, ints(*pads)],
                       lambda a, _, p=pads: F.pad(a, torch_pads(p)),
                       constants=(1,))
    yield Case("Pad", 11, [x.astype(F16), ints(1, 1, 1, 0, 0, 0), np.array(2, F16)],
               lambda a, *_: F.pad(a, torch_pads([1, 1, 1, 0, 0, 0]), value=2),
               constants=(1, 2))
    for mode, function in (("edge", edge_padded), ("reflect", reflect_padded)):
        for pads in ([1, 0, 2, 2, 3, 0], [0, 3, 0, 1, -1, 1]):
            yield Case("Pad", 11, [x, ints(*pads)],
                       lambda a, _, f=function, p=pads: f(a, p), {"mode": mode},
                       constants=(1,))
        yield Case("Pad", 2, [x.astype(F16)],
                   lambda a, f=function: f(a, [1, 1, 1, 1, 1, 1]),
                   {"mode": mode, "pads": [1] * 6}, tolerance=1e-2)
    yield Case("Pad", 11, [x, ints(3, 0, 0, 0, 0, 0)], constants=(1,),
               attributes={"mode": "reflect"}, error="too few elements")
    for dtype in TYPES:
        yield Case("Pad", 13, [values(2, 3, dtype=dtype), ints(1, 0, 0, 2)],
                   lambda a, _: np.pad(a, ((1, 0), (0, 2))), constants=(1,),
                   uses_torch=False)
    yield Case("Pad", 13, [values(2, 3, dtype=np.int32), ints(1, 0, 0, 2),
                           np.array(-7, np.int32)],
               lambda a, *_: np.pad(a, ((1, 0), (0, 2)), constant_values=-7),
               constants=(1, 2), uses_torch=False)


def depth_to_space(a, block, mode):
    n, c, h, w = a.shape
    c //= block * block
    if mode == "DCR":
        a = a.reshape(n, block, block, c, h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        a = a.reshape(n, c, block, block, h, w).permute(0, 1, 4, 2, 5, 3)
    return a.reshape(n, c, h * block, w * block)


def space_to_depth(a, block):
    n, c, h, w = a.shape
    a = a.reshape(n, c, h // block, block, w // block, block)
    return a.permute(0, 3, 5, 1, 2, 4).reshape(
        n, c * block * block, h // block, w // block)


def block_cases():
    x = values(2, 8, 3, 2)
    yield Case("DepthToSpace", 1, [x], lambda a: depth_to_space(a, 2, "DCR"),
               {"blocksize": 2})
    for mode in ("DCR", "CRD"):
        yield Case("DepthToSpace", 11, [x],
                   lambda a, m=mode: depth_to_space(a, 2, m),
                   {"blocksize": 2, "mode": mode})
    yield Case("DepthToSpace", 13, [x], attributes={"blocksize": 3},
               error="do not divide")
    for version in (1, 13):
        yield Case("SpaceToDepth", version, [values(2, 3, 4, 6)],
                   lambda a: space_to_depth(a, 2), {"blocksize": 2})


def known_cases():
    yield Case("Shape", 1, [values(2, 0, 3)], lambda a: np.array(a.shape),
               uses_torch=False, types=[np.int64])
    yield Case("Shape", 15, [values(2, 3, 4)], lambda a: np.array(a.shape[-2:-1]),
               {"start": -2, "end": -1}, uses_torch=False, types=[np.int64])
    yield Case("ConstantOfShape", 9, [ints(2, 3)],
               lambda s: np.full((2, 3), 1.5, F32), {"value": np.array([1.5], F32)},
               constants=(0,),
               uses_torch=False, types=[F32])
    yield Case("ConstantOfShape", 9, [ints(4)], lambda s: np.full(4, -7),
               {"value": ints(-7)}, constants=(0,), uses_torch=False,
               types=[np.int64])
    yield Case("ConstantOfShape", 9, [ints(0, 2)], lambda s: np.zeros((0, 2), F32),
               constants=(0,), uses_torch=False, types=[F32])


def typed_cases():
    """Views of every type: one row each."""
    for dtype in TYPES:
        x = values(2, 3, dtype=dtype)
        yield Case("Concat", 4, [x, x], lambda a, b: np.concatenate((a, b)),
                   {"axis": 0}, uses_torch=False)
        yield Case("Slice", 1, [x], lambda a: a[:, 1:],
                   {"starts": [1], "ends": [3], "axes": [1]}, uses_torch=False)
        yield Case("Transpose", 1, [x], np.transpose, uses_torch=False)
        yield Case("Expand", 8, [x[:1], ints(2, 3)], lambda a, _: np.tile(a, (2, 1)),
                   constants=(1,), uses_torch=False)
        yield Case("Tile", 6, [x, ints(2, 1)], lambda a, _: np.tile(a, (2, 1)),
                   constants=(1,), uses_torch=False)
        yield Case("Split", 2, [x], lambda a: np.split(a, 2), outputs=2, uses_torch=False)


@pytest.mark.parametrize("case", [
    *view_cases(), *concat_cases(), *slice_cases(), *repeat_cases(),
    *pad_cases(), *block_cases(), *known_cases(), *typed_cases()], ids=str)
def test_shapes(case):
    check(case)
