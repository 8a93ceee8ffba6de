"""Convolutions with any transforms, against PyTorch on operands that NumPy's
rules transform, and their gradients against PyTorch's autograd."""

import numpy as np
import pytest
import torch
from conformance import PLAIN, Case, check, torch_gradients, values


def dilated(tensor, dim, dilation):
    """dilation - 1 zeros between the elements of a dimension."""
    size = tensor.shape[dim]
    if dilation == 1 or size == 0:
        return tensor
    apart = tensor.unsqueeze(dim + 1)
    zeros = torch.zeros_like(apart).repeat_interleave(dilation - 1, dim + 1)
    filled = torch.cat([apart, zeros], dim + 1).flatten(dim, dim + 1)
    return filled.narrow(dim, 0, (size - 1) * dilation + 1)


def padded(tensor, dim, lower, upper):
    shape = list(tensor.shape)
    parts = []
    for extent in (lower, upper):
        shape[dim] = extent
        parts.append(torch.zeros(shape, dtype=tensor.dtype))
    return torch.cat([parts[0], tensor, parts[1]], dim)


def truncated(tensor, dim, lower, upper):
    return tensor.narrow(dim, lower, tensor.shape[dim] - lower - upper)


def transformed(tensor, first, dims, params, operand):
    """The order is truncation, dilation, padding, flip."""
    def get(name, otherwise):
        return params.get(operand + name, [otherwise] * dims)
    for d in range(dims):
        at = first + d
        tensor = truncated(tensor, at, get("TruncationLower", 0)[d],
                           get("TruncationUpper", 0)[d])
        tensor = dilated(tensor, at, get("Dilation", 1)[d])
        tensor = padded(tensor, at, get("PaddingLower", 0)[d],
                        get("PaddingUpper", 0)[d])
        if get("Flip", 0)[d]:
            tensor = tensor.flip(at)
    return tensor


def correlated(x, w):
    """Without any transform, as products of windows: any number of dimensions."""
    groups, out_channels, in_channels, *kernel = w.shape
    dims = len(kernel)
    windows = x.reshape(x.shape[0], groups, in_channels, *x.shape[2:])
    for d, extent in enumerate(kernel):
        windows = windows.unfold(3 + d, extent, 1)
    field = windows.shape[3:3 + dims]
    windows = windows.reshape(x.shape[0], groups, in_channels,
                              int(np.prod(field)), int(np.prod(kernel)))
    out = torch.einsum("ngcfk,gock->ngof", windows,
                       w.flatten(3))
    return out.reshape(x.shape[0], groups * out_channels, *field)


def convolution(params):
    def function(x, w):
        x, w = x.double(), w.double()
        dims = x.ndim - 2
        out = correlated(transformed(x, 2, dims, params, "input"),
                         transformed(w, 3, dims, params, "kernel"))
        for d in range(dims):
            def get(name, otherwise):
                return params.get(name, [otherwise] * dims)[d]
            out = truncated(out, d + 2, get("outputTruncationLower", 0),
                            get("outputTruncationUpper", 0))
            index = torch.arange(0, out.shape[d + 2], get("stride", 1))
            out = out.index_select(d + 2, index)
            out = padded(out, d + 2, get("outputPaddingLower", 0),
                         get("outputPaddingUpper", 0))
        return out
    return function


def forward(params):
    function = convolution(params)
    return lambda t: function(torch.tensor(t["x"]), torch.tensor(t["w"])).numpy()


def operands(shape, kernel, channels, dtype=np.float32):
    """x and w for [N, field...], kernel, (groups, outputs, inputs of a group)."""
    batch, *field = shape
    groups, outputs, inputs = channels
    return {"x": values(batch, groups * inputs, *field, dtype=dtype),
            "w": values(groups, outputs, inputs, *kernel, dtype=dtype, seed=1)}


def with_gradient(inputs, params):
    out = convolution(params)(*(torch.tensor(v.astype(np.float32))
                                for v in inputs.values()))
    dy = values(*out.shape, seed=2, dtype=inputs["x"].dtype)
    return {**inputs, "dy": dy}


def gradients(params):
    def expected(t):
        found = torch_gradients(convolution(params),
                                {"x": t["x"], "w": t["w"]}, t["dy"])
        return {"dx": found["x"], "dw": found["w"]}
    return expected


# (batch and field, kernel, (groups, outputs, inputs of a group), parameters)
SHAPES = [
    ((2, 5), (3,), (1, 4, 3), {}),
    ((1, 1), (1,), (1, 1, 1), {}),
    ((2, 7, 6), (3, 2), (1, 4, 3), {}),
    ((2, 9, 8), (3, 3), (1, 5, 4),
     {"stride": [2, 3], "inputPaddingLower": [1, 0], "inputPaddingUpper": [1, 2]}),
    ((17, 6, 5), (3, 3), (1, 6, 3), {"inputPaddingLower": [1, 1],
                                     "inputPaddingUpper": [1, 1]}),
    ((2, 8, 8), (3, 3), (4, 2, 3), {"kernelDilation": [2, 1]}),
    ((2, 6, 6), (3, 3), (8, 1, 1), {"inputPaddingLower": [1, 1],
                                    "inputPaddingUpper": [1, 1]}),
    ((1, 7, 7), (3, 3), (32, 2, 1), {"stride": [2, 2]}),
    ((2, 5, 6, 4), (2, 3, 2), (1, 3, 2), {}),
    ((1, 5, 6, 7), (3, 2, 3), (2, 3, 2),
     {"stride": [2, 1, 2], "inputPaddingLower": [1, 0, 1],
      "kernelDilation": [1, 2, 1]}),
    ((2, 4, 3, 4, 3), (2, 2, 3, 1), (1, 2, 3), {"stride": [1, 1, 1, 2]}),
    # Transposed convolutions: dilated inputs.
    ((2, 4, 5), (3, 3), (1, 3, 4),
     {"inputDilation": [2, 3], "inputPaddingLower": [2, 2],
      "inputPaddingUpper": [2, 1]}),
    ((2, 4), (3,), (2, 3, 2), {"inputDilation": [2]}),
    ((1, 3, 3, 3), (2, 2, 2), (1, 2, 2), {"inputDilation": [2, 2, 2]}),
    ((2, 5, 5), (3, 3), (1, 2, 3), {"inputDilation": [3, 1], "stride": [2, 1]}),
    # Padding beyond the kernel's reach, and outputs that are padding only.
    ((1, 2, 2), (2, 2), (1, 2, 2), {"inputPaddingLower": [5, 0],
                                    "inputPaddingUpper": [4, 3]}),
    ((2, 4, 4), (3, 2), (1, 2, 2),
     {"outputPaddingLower": [2, 0], "outputPaddingUpper": [1, 3]}),
    ((2, 6, 6), (3, 3), (2, 2, 2), {"inputFlip": [1, 0], "kernelFlip": [0, 1]}),
    ((2, 6, 6), (2, 3), (1, 2, 2),
     {"kernelPaddingLower": [1, 2], "kernelPaddingUpper": [2, 0],
      "kernelTruncationLower": [1, 0]}),
    ((2, 9, 8), (3, 3), (1, 2, 2),
     {"inputTruncationLower": [2, 0], "inputTruncationUpper": [1, 3],
      "outputTruncationLower": [1, 0], "outputTruncationUpper": [0, 1]}),
    # Nothing left of an operand: zeros.
    ((2, 3, 3), (2, 2), (1, 2, 2),
     {"inputTruncationLower": [3, 0], "inputPaddingLower": [3, 0]}),
    ((2, 3, 3), (2, 2), (1, 2, 2),
     {"kernelTruncationUpper": [2, 0], "kernelPaddingLower": [1, 0]}),
    ((2, 0, 3), (1, 2), (1, 2, 2), {"inputPaddingLower": [2, 0]}),
    ((2, 3, 3), (2, 2), (1, 2, 0), {}),
    ((0, 3, 3), (2, 2), (1, 2, 2), {}),
    ((2, 3, 3), (2, 2), (1, 0, 2), {}),
    ((2, 3, 4), (2, 2), (1, 2, 2), {"outputTruncationLower": [2, 0]}),
]


def random_shape(seed):
    """Transforms of every kind at once, small enough to be drawn often."""
    random = np.random.default_rng(seed)
    dims = int(random.integers(1, 4))

    def numbers(low, high):
        return [int(n) for n in random.integers(low, high, dims, endpoint=True)]
    while True:
        params = {"stride": numbers(1, 3), "outputPaddingLower": numbers(0, 1),
                  "outputPaddingUpper": numbers(0, 1),
                  "outputTruncationLower": numbers(0, 2),
                  "outputTruncationUpper": numbers(0, 2)}
        for operand in "input", "kernel":
            for side in "Lower", "Upper":
                params[f"{operand}Truncation{side}"] = numbers(0, 1)
                params[f"{operand}Padding{side}"] = numbers(0, 3)
            params[f"{operand}Dilation"] = numbers(1, 3)
            params[f"{operand}Flip"] = numbers(0, 1)
        field, kernel = numbers(1, 6), numbers(1, 4)
        if all(fits(params, field[d], kernel[d], d) for d in range(dims)):
            channels = tuple(int(n) for n in random.integers(1, 3, 3))
            return (int(random.integers(1, 3)), *field), kernel, channels, params


def fits(params, size, kernel, d):
    def after(operand, extent):
        left = (extent - params[operand + "TruncationLower"][d] -
                params[operand + "TruncationUpper"][d])
        if left < 0:
            return -1
        dilation = params[operand + "Dilation"][d]
        return (params[operand + "PaddingLower"][d] +
                (0 if left == 0 else (left - 1) * dilation + 1) +
                params[operand + "PaddingUpper"][d])
    inside, window = after("input", size), after("kernel", kernel)
    cut = params["outputTruncationLower"][d] + params["outputTruncationUpper"][d]
    return window >= 1 and inside >= 0 and inside + 1 - window >= max(cut, 1)


RANDOM = [random_shape(seed) for seed in range(80)]


def row(operation, shape, expected, views=None, dtype=np.float32, needs_dy=False,
        **more):
    field, kernel, channels, params = shape
    inputs = operands(field, kernel, channels, dtype)
    if needs_dy:
        inputs = with_gradient(inputs, params)
    tolerance = 2e-5 if dtype == np.float32 else 1e-2
    kwargs = {"views": views} if views else {}
    return Case(operation, inputs, {**params, **more}, expected(params),
                tolerance=tolerance, **kwargs)


FORWARD = [row("poplin.convolution", shape, forward) for shape in SHAPES] + [
    row(operation, shape, forward, (PLAIN,))
    for shape in RANDOM
    for operation in ("poplin.convolution", "poplin.turnedConvolution")
] + [
    row(operation, shape, forward, (PLAIN,))
    for shape in SHAPES
    for operation in ("poplin.convolutionWithOutput", "poplin.turnedConvolution")
] + [
    row("poplin.convolution", shape, forward, dtype=np.float16)
    for shape in SHAPES[:8]
]
BACKWARD = [
    row("poplin.convolutionGradients", shape, gradients, needs_dy=True)
    for shape in SHAPES
] + [
    row("poplin.convolutionGradients", shape, gradients, (PLAIN,), needs_dy=True)
    for shape in RANDOM
] + [
    row("poplin.convolutionGradients", shape, gradients, dtype=np.float16,
        needs_dy=True) for shape in SHAPES[:8]
]


def only_weights(params):
    both = gradients(params)
    return lambda t: {"dw": both(t)["dw"]}


BACKWARD += [
    row("poplin.weightUpdateParams", shape, only_weights, (PLAIN,), needs_dy=True)
    for shape in SHAPES + RANDOM
]


def updated(params, scale):
    def expected(t):
        found = gradients(params)(t)
        rest = tuple(d for d in range(t["dy"].ndim) if d != 1)
        return {"w": t["w"] + scale * found["dw"],
                "bias": t["bias"] + scale * t["dy"].sum(rest)}
    return expected


def updates():
    for shape in (SHAPES[3], SHAPES[5], SHAPES[0]):
        field, kernel, channels, params = shape
        inputs = with_gradient(operands(field, kernel, channels), params)
        inputs["bias"] = values(channels[0] * channels[1], seed=3)
        yield Case("poplin.convolutionUpdates", inputs, {**params, "scale": -0.5},
                   updated(params, -0.5), tolerance=2e-5)
        yield Case("poplin.convolutionUpdates",
                   {**inputs, "scale": np.float32(-0.5)}, params,
                   updated(params, -0.5), tolerance=2e-5)


X, W = operands((1, 4, 4), (2, 2), (1, 2, 3)).values()
OTHERS = [
    *updates(),
    # Half operands whose sums are rounded to half once, or not at all.
    Case("poplin.convolution", operands((2, 6, 6), (3, 3), (1, 4, 16), np.float16),
         {"outputType": "float"}, forward({}), types={"out": "float"},
         tolerance=1e-5),
    Case("poplin.convolution", operands((2, 6, 6), (3, 3), (1, 4, 16)),
         {"outputType": "half"}, forward({}), types={"out": "half"}),
    Case("poplin.addBias", {"x": values(2, 3, 4, 5), "bias": values(3, seed=1)},
         expected=lambda t: t["x"] + t["bias"][:, None, None]),
    Case("poplin.fullyConnectedWeightTranspose", {"in": values(1, 6, 5)},
         {"groups": 2}, lambda t: np.swapaxes(t["in"].reshape(1, 2, 3, 5), 2, 3)
         .reshape(1, 10, 3)),
    # ResNet-50's kinds of layers, smaller.
    row("poplin.convolution", ((2, 14, 14), (1, 1), (1, 64, 32), {}), forward),
    row("poplin.convolution", ((1, 20, 20), (7, 7), (1, 16, 3),
                               {"stride": [2, 2], "inputPaddingLower": [3, 3],
                                "inputPaddingUpper": [3, 3]}), forward),
] + [
    Case("poplin.convolution", {"x": x, "w": w}, params,
         error=("poplibs_error", text))
    for x, w, params, text in [
        (X[:, :, :1], W, {}, "the transformed kernel has 2 elements in dimension "
         "0; the transformed input has only 1"),
        (X[:, :2], W, {}, "'input' has shape {1,2,4,4}; the parameters ask for "
         "{1,3,4,4}"),
        (X, W, {"stride": [0, 1]}, "the stride of dimension 0 is 0"),
        (X, W, {"stride": [1]}, "the output transform has 1 dimensions; the input "
         "field has 2"),
        (X, W, {"inputDilation": [1, 0]}, "the input transform dilates dimension 1 "
         "by 0"),
        (X, W, {"inputTruncationLower": [5, 0]}, "the input transform truncates "
         "dimension 0 by 5; it has only 4"),
        (X, W, {"kernelTruncationLower": [0, 2]}, "the transformed kernel has no "
         "elements in dimension 1"),
        (X, W, {"outputTruncationUpper": [4, 0]}, "the output transform truncates "
         "dimension 0 by 4; it has only 3"),
    ]
] + [
    Case("poplin.convolution", {"x": X, "w": W.astype(np.float16)},
         error=("poplibs_error", "'weights' has type half; the parameters ask for "
                "float")),
    Case("poplin.convolution", {"x": X, "w": W}, options={"pas": "NONE"},
         error=("invalid_option", "Unrecognised option 'pas'")),
    Case("poplin.convolution", {"x": X, "w": W}, options={"pass": "LAST"},
         error=("invalid_option", "Invalid value 'LAST' for option 'pass'")),
    Case("poplin.addBias", {"x": values(2, 3, 4), "bias": values(4)},
         error=("poplibs_error", "needs one for each channel")),
]


@pytest.mark.parametrize("case", FORWARD + BACKWARD + OTHERS, ids=str)
def test_conforms(case):
    check(case)
