# Operations on clouds of points, put together from torch's.
import math

import torch

from ._errors import createPoptorchError


def fps(src, ptr, ratio=0.5, random_start=False):
    """Indices of a part of the points src[ptr[i]:ptr[i + 1]] of each cloud: from
    the first, or a random one, on, always the farthest from those chosen."""
    if not isinstance(ptr, (list, tuple)) or len(ptr) < 2:
        raise createPoptorchError(
            "fps takes ptr as a list of at least two integers"
        )
    chosen = []
    for begin, end in zip(ptr, ptr[1:]):
        points = src[begin:end].reshape(end - begin, -1)
        last = (
            torch.randint(end - begin, (1,), device=src.device)
            if random_start
            else torch.zeros(1, dtype=torch.int64, device=src.device)
        )
        distances = None
        for _ in range(math.ceil(ratio * (end - begin))):
            chosen.append(last + begin)
            way = points - points.index_select(0, last)
            square = (way * way).sum(1)
            distances = (
                square
                if distances is None
                else torch.minimum(distances, square)
            )
            last = distances.argmax(0, keepdim=True)
    return torch.cat(chosen)


def nearest(x, y, batch_x=None, batch_y=None):
    """The index of the point of y that is nearest to each of x, of the same
    batch where batches are given."""
    distances = torch.cdist(_asRows(x), _asRows(y))
    if batch_x is not None or batch_y is not None:
        batches = [
            _batchOf(batch, points)
            for batch, points in ((batch_x, x), (batch_y, y))
        ]
        is_other = batches[0].unsqueeze(1) != batches[1].unsqueeze(0)
        distances = distances.masked_fill(is_other, float("inf"))
    return distances.argmin(1)


def _asRows(points):
    return points.reshape(points.shape[0], -1)


def _batchOf(batch, points):
    """Without a batch all points are of the first."""
    if batch is None:
        return torch.zeros(
            points.shape[0], dtype=torch.int64, device=points.device
        )
    return torch.as_tensor(batch, device=points.device)
