"""Convolutions and poolings against PyTorch."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from operators import Case, check, values

F16, F32 = np.float16, np.float32
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def padded(x, pads, value=0.0):
    half = len(pads) // 2
    return F.pad(x, [p for d in reversed(range(half))
                     for p in (pads[d], pads[half + d])], value=value)


def same_pads(sizes, kernel, strides, upper):
    """auto_pad's padding, by ONNX's formula."""
    pads = []
    for size, k, s in zip(sizes, kernel, strides):
        total = max(0, (-(-size // s) - 1) * s + k - size)
        pads.append((total // 2, total - total // 2) if upper
                    else (total - total // 2, total // 2))
    return [p[0] for p in pads] + [p[1] for p in pads]


def conv_case(x, w, version=11, bias=True, dtype=F32, pads=None, **attributes):
    rank = len(x) - 2
    strides = attributes.get("strides", [1] * rank)
    if pads is not None:
        attributes["pads"] = pads
    auto = attributes.get("auto_pad", "NOTSET")
    if auto.startswith("SAME"):
        pads = same_pads(x[2:], w[2:], strides, auto == "SAME_UPPER")

    def function(a, b, c=None):
        a = padded(a, pads) if pads else a
        return CONV[rank](a, b, c, strides, 0,
                          attributes.get("dilations", [1] * rank),
                          attributes.get("group", 1))

    inputs = [values(*x, dtype=dtype), values(*w, dtype=dtype, seed=1)]
    if bias:
        inputs.append(values(w[0], dtype=dtype, seed=2))
    return Case("Conv", version, inputs, function, attributes, tolerance=1e-4)


CONVOLUTIONS = [
    conv_case((2, 3, 8), (4, 3, 3)),
    conv_case((2, 3, 8), (4, 3, 3), pads=[1, 2], strides=[2], bias=False),
    conv_case((1, 2, 6, 5), (3, 2, 3, 2), version=1, pads=[1, 0, 1, 2]),
    conv_case((1, 4, 7, 7), (6, 2, 3, 3), group=2, strides=[2, 1]),
    conv_case((1, 4, 7, 7), (4, 1, 3, 3), group=4, pads=[1, 1, 1, 1]),
    conv_case((1, 2, 9, 9), (3, 2, 3, 3), dilations=[2, 3]),
    conv_case((1, 2, 5, 6), (3, 2, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    conv_case((1, 2, 5, 6), (3, 2, 2, 2), auto_pad="SAME_LOWER"),
    conv_case((1, 2, 5, 6), (3, 2, 2, 2), auto_pad="VALID"),
    conv_case((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), pads=[1, 0, 1, 0, 1, 0]),
    conv_case((1, 2, 6, 6), (3, 2, 3, 3), dtype=F16, pads=[1, 1, 1, 1]),
    Case("Conv", 11, [values(1, 2, 5, 5), values(3, 2, 3, 3)],
         attributes={"auto_pad": "WIDE"}, error="Invalid auto_pad provied: WIDE"),
    Case("Conv", 11, [values(1, 2, 5, 5), values(3, 1, 3, 3)],
         error="do not fit 1 groups"),
    Case("Conv", 11, [values(1, 2, 5, 5), values(3, 2, 3, 3)],
         attributes={"kernel_shape": [2, 2]}, error="kernel_shape is {2,2}"),
]


def transposed_case(x, w, version=11, bias=True, dtype=F32, crop=None, extra=None,
                    **attributes):
    rank = len(x) - 2

    def function(a, b, c=None):
        y = TRANSPOSED[rank](a, b, c, attributes.get("strides", [1] * rank), 0,
                             extra or [0] * rank, attributes.get("group", 1),
                             attributes.get("dilations", [1] * rank))
        pads = crop or attributes.get("pads")
        return padded(y, [-p for p in pads]) if pads else y

    if extra:
        attributes["output_padding"] = extra
    inputs = [values(*x, dtype=dtype), values(*w, dtype=dtype, seed=1)]
    if bias:
        inputs.append(values(w[1] * attributes.get("group", 1), dtype=dtype, seed=2))
    return Case("ConvTranspose", version, inputs, function, attributes,
                tolerance=1e-4)


TRANSPOSED_CONVOLUTIONS = [
    transposed_case((1, 3, 5), (3, 2, 3), strides=[2]),
    transposed_case((2, 3, 4, 4), (3, 2, 3, 3), version=1, bias=False),
    transposed_case((2, 3, 4, 4), (3, 2, 3, 3), strides=[2, 2], pads=[1, 0, 1, 1]),
    transposed_case((1, 4, 4, 3), (4, 2, 3, 3), group=2, strides=[2, 1],
                    extra=[1, 0]),
    transposed_case((1, 2, 4, 4), (2, 3, 2, 2), dilations=[2, 2]),
    transposed_case((1, 2, 3, 3), (2, 3, 3, 3), strides=[2, 2],
                    auto_pad="SAME_UPPER", crop=[0, 0, 1, 1]),
    transposed_case((1, 2, 3, 3), (2, 3, 3, 3), strides=[2, 2],
                    auto_pad="SAME_LOWER", crop=[1, 1, 0, 0]),
    transposed_case((1, 2, 3, 3), (2, 3, 3, 3), strides=[2, 2],
                    output_shape=[6, 5], crop=[1, 1, 0, 1]),
    transposed_case((1, 2, 3, 2, 3), (2, 2, 2, 2, 2), strides=[2, 2, 2]),
    transposed_case((1, 2, 4, 4), (2, 3, 3, 3), dtype=F16, pads=[1, 1, 1, 1]),
]


def ceil_pads(sizes, kernel, strides, pads):
    """`pads` with what ceil_mode adds behind, by hand."""
    rank, result = len(sizes), list(pads)
    for d in range(rank):
        size = sizes[d] + pads[d] + pads[rank + d]
        steps = -(-(size - kernel[d]) // strides[d])
        if steps * strides[d] >= sizes[d] + pads[d]:
            steps -= 1
        result[rank + d] += max(0, steps * strides[d] + kernel[d] - size)
    return result


def pool_case(operator, version, x, kernel, dtype=F32, **attributes):
    rank = len(kernel)
    strides = attributes.get("strides", [1] * rank)
    dilations = attributes.get("dilations", [1] * rank)
    pads = attributes.get("pads", [0] * 2 * rank)
    auto = attributes.get("auto_pad", "NOTSET")
    if auto.startswith("SAME"):
        pads = same_pads(x[2:], kernel, strides, auto == "SAME_UPPER")
    inner = pads
    if attributes.get("ceil_mode"):
        pads = ceil_pads(x[2:], kernel, strides, pads)

    def windows(a):
        for d, (k, s) in enumerate(zip(kernel, strides)):
            a = a.unfold(2 + d, (k - 1) * dilations[d] + 1, s)
            a = a[..., ::dilations[d]]
        return a.flatten(2 + rank)

    def function(a):
        if operator == "MaxPool":
            return windows(padded(a, pads, -float("inf"))).max(-1).values
        ones = torch.ones_like(a)
        if attributes.get("count_include_pad"):
            ones = padded(ones, inner, 1.0)
            ones = padded(ones, [p - q for p, q in zip(pads, inner)])
        else:
            ones = padded(ones, pads)
        return windows(padded(a, pads)).sum(-1) / windows(ones).sum(-1)

    return Case(operator, version, [values(*x, dtype=dtype)], function,
                {"kernel_shape": list(kernel), **attributes})


POOLS = [
    case for operator, versions in (("AveragePool", (1, 7, 10, 11)),
                                    ("MaxPool", (1, 8, 10, 11, 12)))
    for case in (
        [pool_case(operator, v, (2, 3, 6, 5), (3, 2), pads=[1, 0, 1, 1],
                   strides=[2, 1]) for v in versions] + [
            pool_case(operator, 11, (2, 3, 7), (3,), strides=[2], pads=[1, 1]),
            pool_case(operator, 11, (1, 2, 4, 5, 3), (2, 2, 2), strides=[1, 2, 1]),
            pool_case(operator, 11, (1, 2, 6, 6), (3, 3), strides=[2, 2],
                      ceil_mode=1),
            pool_case(operator, 11, (1, 2, 5, 5), (3, 3), strides=[2, 2],
                      pads=[1, 1, 1, 1], ceil_mode=1),
            pool_case(operator, 11, (1, 2, 6, 7), (3, 2), strides=[2, 2],
                      auto_pad="SAME_UPPER"),
            pool_case(operator, 11, (1, 2, 6, 7), (3, 2), auto_pad="SAME_LOWER"),
            pool_case(operator, 11, (1, 2, 6, 7), (3, 2), auto_pad="VALID"),
            pool_case(operator, 11, (1, 2, 6, 6), (2, 2), strides=[2, 2],
                      dtype=F16)])
] + [
    pool_case("AveragePool", v, (1, 2, 5, 6), (3, 3), pads=[1, 1, 1, 2],
              count_include_pad=1) for v in (7, 10, 11)
] + [
    pool_case("AveragePool", 11, (1, 2, 6, 6), (3, 3), strides=[2, 2],
              pads=[1, 0, 0, 0], ceil_mode=1, count_include_pad=1),
    pool_case("MaxPool", 10, (1, 2, 8, 8), (2, 3), dilations=[3, 2]),
    pool_case("MaxPool", 10, (1, 2, 9), (3,), dilations=[2], strides=[2],
              pads=[1, 1]),
    # Windows of more elements than a byte can number.
    pool_case("MaxPool", 11, (1, 2, 17, 18), (16, 17)),
    pool_case("MaxPool", 11, (1, 2, 17, 18), (16, 17), dtype=F16),
    pool_case("MaxPool", 11, (1, 1, 40, 40), (20, 20), strides=[10, 10],
              pads=[10, 10, 9, 9]),
    pool_case("MaxPool", 11, (1, 2, 700), (301,), strides=[40],
              pads=[150, 150], ceil_mode=1),
    pool_case("MaxPool", 11, (1, 1, 600), (260,), dilations=[2]),
    Case("MaxPool", 11, [values(1, 1, 3, 3)],
         attributes={"kernel_shape": [4, 4]}, error="the kernel covers 4"),
]

GLOBAL_POOLS = [
    Case(operator, 1, [values(*shape, dtype=dtype)],
         lambda a, f=function: f(a, tuple(range(2, a.ndim))))
    for operator, function in (
        ("GlobalAveragePool", lambda a, d: a.mean(d, True)),
        ("GlobalMaxPool", lambda a, d: a.amax(d, True)))
    for shape in ((2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 2, 2)) for dtype in (F32, F16)
]




def convolutions(*settings):
    """F.conv2d for each of the settings, with zeros between the elements of
    the input and around the result."""
    def function(*tensors):
        results, tensors = [], list(tensors)
        for setting in settings:
            x, w = tensors.pop(0), tensors.pop(0)
            bias = tensors.pop(0) if setting.get("bias") else None
            (a, b), (n, c, h, v) = setting.get("inDilations", (1, 1)), x.shape
            dilated = torch.zeros(n, c, (h - 1) * a + 1, (v - 1) * b + 1)
            dilated[:, :, ::a, ::b] = x
            y = F.conv2d(padded(dilated, setting.get("pads", [0] * 4)), w, bias,
                         setting.get("strides", 1),
                         dilation=setting.get("dilations", 1),
                         groups=x.shape[1] // w.shape[1])
            results.append(padded(y, setting.get("outPads", [0] * 4)))
        return tuple(results)
    return function


def multi_conv_case(settings, dtype=F32, **attributes):
    inputs, defaults = [], {"strides": [1, 1], "dilations": [1, 1],
                            "inDilations": [1, 1], "pads": [0] * 4,
                            "outPads": [0] * 4}
    for i, setting in enumerate(settings):
        channels = setting.get("channels", 2)
        inputs += [values(1, 4, 5 + i, 6, dtype=dtype, seed=3 * i),
                   values(4, channels, 2, 3, dtype=dtype, seed=3 * i + 1)]
        if setting.get("bias"):
            inputs.append(values(4, dtype=dtype, seed=3 * i + 2))
    for name, default in defaults.items():
        if any(name in setting for setting in settings):
            attributes[name] = [number for setting in settings
                                for number in setting.get(name, default)]
    attributes["inputCounts"] = [3 if s.get("bias") else 2 for s in settings]
    return Case("MultiConv", 1, inputs, convolutions(*settings), attributes,
                outputs=len(settings), types=[dtype] * len(settings),
                domain="ai.graphcore",
                tolerance=1e-4 if dtype == F32 else 2e-2)


MULTI_CONVOLUTIONS = [
    multi_conv_case([{}]),
    multi_conv_case([{"bias": True, "channels": 4}, {"strides": [2, 1]}],
                    planType="serial", availableMemoryProportions=[0.5, 0.2],
                    partialsTypes=["float", "half"]),
    multi_conv_case([{"pads": [1, 0, 2, 1], "dilations": [2, 1]},
                     {"inDilations": [2, 3], "bias": True},
                     {"outPads": [1, 0, 0, 2]}]),
    multi_conv_case([{"inDilations": [1, 2], "outPads": [0, 1, 1, 0]}, {}], F16),
] + [
    Case("MultiConv", 1, [values(1, 4, 5, 6), values(4, 2, 2, 3)],
         attributes=attributes, domain="ai.graphcore", error=text)
    for attributes, text in (
        ({"inputCounts": []}, "there is no convolution"),
        ({"inputCounts": [1]}, "a convolution has 1 inputs"),
        ({"inputCounts": [2], "planType": "both"}, "planType is both"),
        ({"inputCounts": [2], "strides": [1]}, "a convolution has none left"),
        ({"inputCounts": [2], "strides": [1, 0]}, "must be positive"),
        ({"inputCounts": [2], "partialsTypes": ["half", "half"]},
         "2 values of an option were given for 1"))
]


def pixel(image, y, x):
    """Between pixels of [c, h, w], by their distances; 0 outside."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return torch.zeros(image.shape[0])
    y, x = (min(max(v, 0.0), n - 1.0) for v, n in ((y, height), (x, width)))
    top, left = int(y), int(x)
    return sum(image[:, min(top + i, height - 1), min(left + j, width - 1)]
               * (y - top if i else 1 - y + top) * (x - left if j else 1 - x + left)
               for i in (0, 1) for j in (0, 1))


def regions(height, width, samples, scale):
    """RoiAlign by its definition, sample by sample."""
    def function(x, rois, images):
        results = []
        for (x1, y1, x2, y2), image in zip((rois * scale).tolist(), images.tolist()):
            size_y, size_x = max(y2 - y1, 1.0), max(x2 - x1, 1.0)
            m, n = samples or math.ceil(size_y / height), (
                samples or math.ceil(size_x / width))
            step_y, step_x = size_y / height / m, size_x / width / n
            rows = [[sum(pixel(x[image], y1 + (i * m + k + 0.5) * step_y,
                               x1 + (j * n + l + 0.5) * step_x)
                         for k in range(m) for l in range(n))
                     / (m * n) for j in range(width)] for i in range(height)]
            results.append(torch.stack([torch.stack(row, -1) for row in rows], 1))
        return torch.stack(results)
    return function


def region_cases():
    rois = np.array([[0, 0, 7, 5], [2.5, 1, 3, 4], [-9, -4, 3, 3], [4, 4, 20, 30]],
                    F32)
    images = np.array([0, 1, 1, 0], np.int64)
    for dtype in (F32, F16):
        for height, width, samples, scale in ((1, 1, 1, 1.0), (2, 3, 2, 1.0),
                                              (3, 2, 1, 0.5)):
            yield Case("RoiAlign", 10,
                       [values(2, 3, 6, 8, dtype=dtype), rois.astype(dtype), images],
                       regions(height, width, samples, scale),
                       {"output_height": height, "output_width": width,
                        "sampling_ratio": samples, "spatial_scale": scale},
                       differentiated=(0,))
    # As many samples as a region has pixels, if it is in the image.
    inside = np.array([[0, 0, 7, 5], [2.5, 1, 3, 4], [-3, -4, 3, 1]], F32)
    for height, width, scale in ((1, 1, 1.0), (2, 3, 1.0), (3, 2, 0.5)):
        yield Case("RoiAlign", 10, [values(2, 3, 6, 8), inside, images[:3]],
                   regions(height, width, 0, scale),
                   {"output_height": height, "output_width": width,
                    "spatial_scale": scale}, differentiated=(0,))
    x = values(2, 3, 6, 8)
    for attributes, text in (({"mode": "max"}, "mode max is not supported"),
                             ({"sampling_ratio": -1}, "must be 0 or more")):
        yield Case("RoiAlign", 10, [x, rois, images], attributes=attributes,
                   error=text)
    yield Case("RoiAlign", 10, [x, rois, images[:2]],
               attributes={"sampling_ratio": 1}, error="must be {n,4} and {n}")


@pytest.mark.parametrize("case", list(region_cases()), ids=str)
def test_regions(case):
    check(case)


@pytest.mark.parametrize("case", CONVOLUTIONS + TRANSPOSED_CONVOLUTIONS
                         + MULTI_CONVOLUTIONS, ids=str)
def test_convolutions(case):
    check(case)


@pytest.mark.parametrize("case", POOLS + GLOBAL_POOLS, ids=str)
def test_pools(case):
    check(case)
