# grid_sample: values of an image between its elements, at places that a grid
# says, of any number of field dimensions; and the grids of affine maps.
import itertools

import torch

from ._active_tracer import activeTracer

_MODES = ("bilinear", "nearest", "bicubic")
_BICUBIC = -0.75  # torch's coefficient


def gridSample(image, grid, mode, padding, align_corners):
    """`image` [N, C, ...], `grid` [N, ..., field], whose last coordinate is
    that of the first field dimension; torch's numbers of mode and padding:
    zeros, the border, reflection."""
    sizes = image.shape[2:]
    places = []
    for d, size in enumerate(sizes):
        x = _unnormalised(grid[..., len(sizes) - 1 - d], size, align_corners)
        # Cubic weights need places as they are: their taps are moved instead.
        if _MODES[mode] != "bicubic":
            x = _moved(x, size, padding, align_corners)
        places.append(x)
    taps = [_TAPS[_MODES[mode]](x) for x in places]
    result = 0
    for chosen in itertools.product(*taps):
        indices = [index for index, _ in chosen]
        if _MODES[mode] == "bicubic":
            indices = [
                _moved(index, size, padding, align_corners)
                for index, size in zip(indices, sizes)
            ]
        weight = 1
        for _, factor in chosen:
            weight = weight * factor
        inside = _isInside(indices, sizes)
        value = _lookUp(image, indices)
        result = result + value * (weight * inside).unsqueeze(1)
    return result


def _unnormalised(x, size, align_corners):
    """From [-1, 1] to elements."""
    if align_corners:
        return (x + 1) * ((size - 1) / 2)
    return ((x + 1) * size - 1) / 2


def _moved(x, size, padding, align_corners):
    """Into the image, unless what is outside counts as zeros."""
    if padding == 0:
        return x
    if padding == 2:
        low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
        x = _reflected(x, low, high)
    return x.clamp(0, size - 1)


def _reflected(x, low, high):
    span = high - low
    if span == 0:
        return x * 0
    distance = (x - low).abs()
    rest = torch.fmod(distance, span)
    is_even = torch.fmod((distance / span).floor(), 2) == 0
    return torch.where(is_even, rest + low, high - rest)


def _linearTaps(x):
    low = x.floor()
    return [(low, low + 1 - x), (low + 1, x - low)]


def _nearestTaps(x):
    nearest = x.round()
    return [(nearest, torch.ones_like(x))]


def _cubicTaps(x):
    low = x.floor()
    t = x - low
    a = _BICUBIC

    def near(d):
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d):
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [(low - 1, far(t + 1)), (low, near(t)), (low + 1, near(1 - t)),
            (low + 2, far(2 - t))]  # fmt: skip


_TAPS = {
    "bilinear": _linearTaps,
    "nearest": _nearestTaps,
    "bicubic": _cubicTaps,
}


def _isInside(indices, sizes):
    inside = 1
    for index, size in zip(indices, sizes):
        inside = inside * ((index >= 0) & (index <= size - 1)).to(index.dtype)
    return inside


def _lookUp(image, indices):
    """Elements [N, C, ...] of the image at one place for each of the result."""
    sizes = image.shape[2:]
    flat = 0
    for index, size in zip(indices, sizes):
        flat = flat * size + index.detach().clamp(0, size - 1).int()
    shape = flat.shape[1:]
    channels = image.shape[1]
    flat = flat.reshape(flat.shape[0], 1, -1).expand(-1, channels, -1)
    values = image.flatten(2).gather(2, flat.long())
    return values.reshape(*image.shape[:2], *shape)


def affineGrid(maps, size, align_corners):
    """Where the maps [N, field, field + 1] take the places of an image of this
    size, in coordinates from -1 to 1."""
    sizes = size[2:]
    along = []
    for count in sizes:
        end = 1 if align_corners else 1 - 1 / count
        along.append(torch.linspace(-end, end, count) if count > 1
                     else torch.zeros(1))  # fmt: skip
    # The last dimension's coordinate comes first.
    places = torch.meshgrid(*along, indexing="ij")[::-1]
    places = torch.stack((*places, torch.ones(sizes)), -1)
    flat = places.flatten(0, -2).unsqueeze(0).to(maps.dtype)
    grid = torch.matmul(activeTracer().constant(flat), maps.transpose(1, 2))
    return grid.reshape(size[0], *sizes, len(sizes))
