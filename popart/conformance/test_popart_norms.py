"""Normalisations and resized grids against PyTorch and NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, ints, values

F16, F32 = np.float16, np.float32


def statistics(channels, dtype=F32):
    return [values(channels, dtype=dtype, seed=i, low=0.5) for i in range(4)]


def trained(momentum, outputs):
    def function(x, scale, bias, mean, variance):
        dims = [d for d in range(x.ndim) if d != 1]
        batch_mean = x.mean(dims)
        batch_variance = x.var(dims, unbiased=False)
        y = F.batch_norm(x, None, None, scale, bias, True)
        running = (mean * momentum + batch_mean.detach() * (1 - momentum),
                   variance * momentum + batch_variance.detach() * (1 - momentum))
        return (y, *running, batch_mean.detach(), batch_variance.detach())[:outputs]
    return function


def given(x, scale, bias, mean, variance):
    return F.batch_norm(x, mean, variance, scale, bias)


def norm_cases():
    for shape in ((2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 2, 2)):
        inputs = [values(*shape), *statistics(shape[1])]
        for version in (6, 7, 9, 15):
            yield Case("BatchNormalization", version, inputs, given,
                       differentiated=(0, 1, 2))
        yield Case("InstanceNormalization", 6, inputs[:3],
                   lambda a, s, b: F.instance_norm(a, weight=s, bias=b),
                   tolerance=1e-4)
    halves = [values(2, 3, 4, 5, dtype=F16), *statistics(3, F16)]
    yield Case("BatchNormalization", 9, halves, given, differentiated=(0, 1, 2),
               tolerance=2e-2)
    x = values(4, 3, 5, 2)
    for momentum in (0.9, 0.5):
        attributes = {"momentum": momentum}
        yield Case("BatchNormalization", 9, [x, *statistics(3)],
                   trained(momentum, 5), attributes, outputs=5, types=[F32] * 5,
                   differentiated=(), tolerance=1e-4)
        yield Case("BatchNormalization", 14, [x, *statistics(3)],
                   trained(momentum, 3), {**attributes, "training_mode": 1},
                   outputs=3, types=[F32] * 3, differentiated=(), tolerance=1e-4)
    yield Case("BatchNormalization", 14, [x, *statistics(3)],
               lambda *a: trained(0.9, 1)(*a)[0], {"training_mode": 1},
               differentiated=(0, 1, 2), tolerance=1e-4)
    yield Case("BatchNormalization", 9, [values(2, 3), *statistics(3)],
               error="must be 3 at least")
    for dtype in (F32, F16):
        for size in (1, 3, 4):
            yield Case("LRN", 13, [values(2, 6, 3, 2, dtype=dtype)],
                       lambda a, n=size: lrn(a, n, 0.5, 0.75, 2.0),
                       {"size": size, "alpha": 0.5, "beta": 0.75, "bias": 2.0})
    yield Case("LRN", 1, [values(2, 5, 3)], lambda a: lrn(a, 3, 1e-4, 0.75, 1.0),
               {"size": 3})


def lrn(a, size, alpha, beta, bias):
    squares = a.square()
    channels = a.shape[1]
    sums = torch.stack([
        squares[:, max(0, c - (size - 1) // 2):c + size // 2 + 1].sum(1)
        for c in range(channels)], 1)
    return a / (bias + alpha / size * sums) ** beta


def scales(*numbers):
    return np.array(numbers, F32)


def resize_case(version, shape, factors, expected, sizes=None, **attributes):
    x = values(*shape)
    if version == 10:
        return Case("Resize", 10, [x, scales(*factors)],
                    lambda a, *_: expected(a), attributes, constants=(1,))
    if sizes is not None:
        return Case("Resize", version, [x, None, None, ints(*sizes)],
                    lambda a, *_: expected(a), attributes, constants=(3,),
                    tolerance=1e-4)
    return Case("Resize", version, [x, None, scales(*factors)],
                lambda a, *_: expected(a), attributes, constants=(2,),
                tolerance=1e-4)


def interpolated(mode, factor=None, size=None, corners=None):
    return lambda a: F.interpolate(a, size=size, scale_factor=factor, mode=mode,
                                   align_corners=corners)


def picked(index):
    return lambda a: a[:, :, index]


def resize_cases():
    shape = (1, 2, 4, 5)
    nearest = interpolated("nearest", factor=(2, 3))
    for version in (7, 9):
        attributes = {"mode": "nearest"}
        inputs = [values(*shape)]
        if version == 7:
            attributes["scales"] = [1.0, 1.0, 2.0, 3.0]
        else:
            inputs.append(scales(1, 1, 2, 3))
        yield Case("Upsample", version, inputs, lambda a, *_: nearest(a),
                   attributes, constants=(1,))
    yield resize_case(10, shape, (1, 1, 2, 3), nearest)
    yield resize_case(10, shape, (1, 1, 0.5, 0.6), lambda a: a[:, :, ::2][..., [0, 1, 3]])
    for version in (11, 13):
        yield resize_case(version, shape, (1, 1, 2, 3), nearest, mode="nearest",
                          coordinate_transformation_mode="asymmetric",
                          nearest_mode="floor")
        yield resize_case(version, shape, (1, 1, 2, 2),
                          interpolated("bilinear", (2, 2), corners=False),
                          mode="linear")
        yield resize_case(version, shape, None,
                          interpolated("bilinear", size=(7, 3), corners=True),
                          sizes=(1, 2, 7, 3), mode="linear",
                          coordinate_transformation_mode="align_corners")
        yield resize_case(version, shape, None,
                          interpolated("bicubic", size=(8, 10), corners=False),
                          sizes=(1, 2, 8, 10), mode="cubic")
        yield resize_case(version, shape, (1, 1, 0.75, 0.8),
                          interpolated("bicubic", size=(3, 4), corners=True),
                          mode="cubic",
                          coordinate_transformation_mode="align_corners")
    # Places between two elements: 0.25, 0.75, ... of five out of ten.
    for rounding, index in (("round_prefer_floor", [0, 2, 4, 6, 8]),
                            ("round_prefer_ceil", [1, 3, 5, 7, 9]),
                            ("floor", [0, 2, 4, 6, 8]), ("ceil", [1, 3, 5, 7, 9])):
        yield resize_case(11, (1, 1, 10), (1, 1, 0.5), picked(index),
                          mode="nearest", nearest_mode=rounding)
    yield Case("Resize", 11, [values(1, 1, 3, dtype=F16), None, scales(1, 1, 2)],
               lambda a, *_: interpolated("linear", 2, corners=False)(a),
               {"mode": "linear"}, constants=(2,))
    yield Case("Resize", 13, [values(2, 3, dtype=np.int32), None, scales(2, 1)],
               lambda a, *_: np.repeat(a, 2, 0), constants=(2,), uses_torch=False)
    yield Case("Resize", 10, [values(2, 3), scales(1, 2)], constants=(1,),
               attributes={"mode": "area"}, error="mode area is not supported")
    for name in ("nearest_mode", "coordinate_transformation_mode"):
        yield Case("Resize", 11, [values(2, 3), None, scales(1, 2)],
                   constants=(2,), attributes={name: "round"},
                   error=f"{name} round is not supported")


@pytest.mark.parametrize("case", [*norm_cases(), *resize_cases()], ids=str)
def test_norms_and_grids(case):
    check(case)
