# Operators that are a few others put together: what a call of them traces.
import math

import torch
import torch.nn.functional as F
from torch.overrides import enable_reentrant_dispatch

from ._active_tracer import activeTracer
from ._errors import createPoptorchError
from ._grid_sample import affineGrid, gridSample
from ._linear_algebra import DECOMPOSITIONS as _LINEAR_ALGEBRA
from ._modes import DispatchMode

DECOMPOSITIONS = {**_LINEAR_ALGEBRA}


def takeApart(tracer, decomposition, layout, args, kwargs):
    """Records the calls that an operator is put together from."""
    if layout.written is None:
        with enable_reentrant_dispatch(), DispatchMode(tracer):
            return decomposition(*args, **kwargs)
    target = layout.target(args, kwargs)
    if layout.is_out:
        kwargs = {k: v for k, v in kwargs.items() if v is not target}
    with enable_reentrant_dispatch(), DispatchMode(tracer):
        return target.copy_(decomposition(*args, **kwargs))


def _decomposes(*names):
    """By the names that calls have, without "aten::"."""

    def register(function):
        for name in names:
            DECOMPOSITIONS[f"aten::{name}"] = function
        return function

    return register


def _places(count, like):
    """0, 1, ..., count - 1 on the device."""
    return torch.arange(count, device=like.device, dtype=torch.int32)


def _constant(values):
    return activeTracer().constant(values)


def _isUpTo(size, like):
    """[i, j]: whether j is at most i."""
    places = _places(size, like)
    return places.unsqueeze(0) <= places.unsqueeze(1)


# Diagonals and blocks.


@_decomposes("diag_embed")
def _diagEmbed(x, offset=0, dim1=-2, dim2=-1):
    rank = x.dim() + 1
    size = x.shape[-1] + abs(offset)
    shape = list(x.shape[:-1])
    for dim in sorted((dim1 % rank, dim2 % rank)):
        shape.insert(dim, size)
    return x.new_zeros(shape).diagonal_scatter(x, offset, dim1, dim2)


@_decomposes("diag")
def _diag(x, diagonal=0):
    if x.dim() == 1:
        return _diagEmbed(x, diagonal)
    return x.diagonal(diagonal).clone()


@_decomposes("fill_diagonal")
def _fillDiagonal(x, value, wrap=False):
    y = x.clone().contiguous()
    step = sum(y.stride())
    isTall = x.dim() == 2 and x.shape[0] > x.shape[1]
    end = y.numel() if wrap and isTall else min(x.shape) * step
    y.view(-1)[:end:step].fill_(value)
    return y


@_decomposes("trace")
def _trace(x):
    return x.diagonal().sum()


@_decomposes("block_diag")
def _blockDiag(tensors):
    blocks = [t.reshape(-1, t.shape[-1] if t.dim() else 1) for t in tensors]
    width = sum(block.shape[1] for block in blocks)
    rows = []
    left = 0
    for block in blocks:
        right = width - left - block.shape[1]
        rows.append(F.pad(block, (left, right)))
        left += block.shape[1]
    return torch.cat(rows)


@_decomposes("rot90")
def _rot90(x, k=1, dims=(0, 1)):
    turns = k % 4
    if turns == 2:
        return x.flip(dims)
    if turns == 0:
        return x.clone()
    return x.flip(dims[1 if turns == 1 else 0]).transpose(*dims)


@_decomposes("as_strided")
def _asStrided(x, size, stride, storage_offset=None):
    if not x.is_contiguous() or x._chain:
        raise createPoptorchError(
            "[aten::as_strided] the tensor is a view; call contiguous() or "
            "clone() before: tensors have no strides on the IPU"
        )
    start = storage_offset or 0
    places = torch.full(size, start, dtype=torch.int32, device="cpu")
    for dim, (count, step) in enumerate(zip(size, stride)):
        along = [1] * len(size)
        along[dim] = count
        steps = torch.arange(count, dtype=torch.int32, device="cpu") * step
        places += steps.reshape(along)
    return x.flatten()[_constant(places.long())]


@_decomposes("narrow_copy")
def _narrowCopy(x, dim, start, length):
    return x.narrow(dim, start, length).clone()


@_decomposes("vdot")
def _vdot(a, b):
    return a.dot(b)


# Elements by places and by order.


@_decomposes("take")
def _take(x, index):
    return torch.ops.aten.index(x.flatten(), [index])


@_decomposes("put")
def _put(x, index, source, accumulate=False):
    flat = x.flatten().index_put(
        (index.flatten(),), source.flatten(), accumulate
    )
    return flat.reshape(x.shape)


@_decomposes("searchsorted.Tensor", "searchsorted.Scalar")
def _searchSorted(
    bounds, x, *, out_int32=False, right=False, side=None, sorter=None
):
    if sorter is not None:
        bounds = bounds.gather(-1, sorter)
    if not isinstance(x, torch.Tensor):
        x = torch.full((), x, dtype=bounds.dtype, device=bounds.device)
    values = x.unsqueeze(-1)
    if bounds.dim() > 1:
        bounds = bounds.unsqueeze(-2)
    is_below = (
        bounds <= values if right or side == "right" else bounds < values
    )
    dtype = torch.int32 if out_int32 else torch.int64
    return is_below.sum(-1, dtype=dtype)


@_decomposes("repeat_interleave.Tensor")
def _repeatInterleave(repeats, *, output_size):
    """The place of each repetition's element."""
    places = _places(output_size, repeats)
    return _searchSorted(repeats.cumsum(0), places, right=True)


@_decomposes("isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor")
def _isIn(elements, tests, *, assume_unique=False, invert=False):
    if isinstance(tests, torch.Tensor):
        tests = tests.flatten()
    if isinstance(elements, torch.Tensor):
        elements = elements.unsqueeze(-1)
    found = (elements == tests).any(-1)
    return ~found if invert else found


@_decomposes("histc")
def _histc(x, bins=100, min=0, max=0):
    x = x.flatten()
    low, high = min, max
    if min == max:
        low, high = x.amin(), x.amax()
        is_one = (low == high).to(x.dtype)
        low, high = low - is_one, high + is_one
    bin_of = ((x - low) * bins / (high - low)).floor()
    bin_of = torch.where(x == high, bins - 1.0, bin_of)
    is_there = bin_of == _places(bins, x).unsqueeze(1)
    return is_there.sum(1, dtype=x.dtype)


@_decomposes("nanmedian", "nanmedian.dim")
def _nanMedian(x, dim=None, keepdim=False):
    along = 0 if dim is None else dim
    values = x.flatten() if dim is None or x.dim() == 0 else x
    ordered, places = values.sort(along)  # not-a-number comes last
    count = (values == values).sum(along, keepdim=True)
    middle = ((count - 1).clamp(min=0) // 2).long()
    results = [t.gather(along, middle) for t in (ordered, places)]
    if dim is None:
        return results[0].reshape(())
    if x.dim() == 0 or not keepdim:
        results = [t.squeeze(along) for t in results]
    return tuple(results)


@_decomposes("mode")
def _mode(x, dim=-1, keepdim=False):
    """The least of the most frequent values, and its first place."""
    values = (x.reshape(1) if x.dim() == 0 else x).movedim(dim, -1)
    counts = (values.unsqueeze(-1) == values.unsqueeze(-2)).sum(-1)
    ordered, places = values.sort(-1)
    counts = counts.gather(-1, places)
    best = counts.argmax(-1, keepdim=True)
    results = [t.gather(-1, best) for t in (ordered, places)]
    if x.dim() == 0:
        return tuple(t.reshape(()) for t in results)
    results = [t.movedim(-1, dim) for t in results]
    return tuple(t if keepdim else t.squeeze(dim) for t in results)


# Running results: of each place, what lies before it along a dimension.


def _before(x, dim, other):
    """[..., i, j]: element j of the dimension where j is at most i, else
    `other`."""
    last = x.movedim(dim, -1)
    return torch.where(_isUpTo(last.shape[-1], x), last.unsqueeze(-2), other)


@_decomposes("logcumsumexp")
def _logCumSumExp(x, dim):
    if x.dim() == 0:
        return x.clone()
    return _before(x, dim, -math.inf).logsumexp(-1).movedim(-1, dim)


def _runningExtremum(x, dim, is_max):
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    reduce = torch.amax if is_max else torch.amin
    if x.dtype == torch.bool:
        values, places = _runningExtremum(x.int(), dim, is_max)
        return values.bool(), places
    last = x.movedim(dim, -1)
    # Elements after the place are stood for by the first one.
    values = reduce(_before(x, dim, last[..., :1].unsqueeze(-1)), -1)
    whole = values.unsqueeze(-1)
    is_it = (last.unsqueeze(-2) == whole) | (whole != whole) & (
        last.unsqueeze(-2) != last.unsqueeze(-2)
    )
    size = last.shape[-1]
    places = torch.where(
        is_it & _isUpTo(size, x), _places(size, x), 0
    ).amax(-1)
    return values.movedim(-1, dim), places.movedim(-1, dim).long()


@_decomposes("cummax")
def _cumMax(x, dim):
    return _runningExtremum(x, dim, True)


@_decomposes("cummin")
def _cumMin(x, dim):
    return _runningExtremum(x, dim, False)


# Norms and distances.


def _limited(x, norm, most):
    """x, shrunk where its norm is too large."""
    factor = torch.where(norm > most, most / (norm + 1e-7), 1.0)
    return x * factor.to(x.dtype)


@_decomposes("renorm")
def _renorm(x, p, dim, maxnorm):
    others = [d for d in range(x.dim()) if d != dim % x.dim()]
    return _limited(x, torch.linalg.vector_norm(x, p, others, True), maxnorm)


@_decomposes("embedding_renorm")
def _embeddingRenorm(weight, indices, max_norm, norm_type):
    norm = torch.linalg.vector_norm(weight, norm_type, 1, True)
    is_read = _isIn(_places(weight.shape[0], weight), indices)
    return torch.where(
        is_read.unsqueeze(1), _limited(weight, norm, max_norm), weight
    )


@_decomposes("_pdist_forward")
def _pdist(x, p=2.0):
    rows = x.shape[0]
    first, second = map(_constant, torch.triu_indices(rows, rows, 1))
    return torch.linalg.vector_norm(x[first] - x[second], p, -1)


@_decomposes("_euclidean_dist")
def _euclideanDistance(a, b):
    """By one product, of which rounding may leave less than nothing."""
    squares = (
        a.square().sum(-1).unsqueeze(-1)
        + b.square().sum(-1).unsqueeze(-2)
        - 2 * torch.matmul(a, b.transpose(-1, -2))
    )
    is_apart = squares > 0
    return torch.where(is_apart, squares, 1.0).sqrt() * is_apart


@_decomposes("native_layer_norm")
def _nativeLayerNorm(x, shape, weight, bias, eps):
    dims = list(range(-len(shape), 0))
    mean = x.mean(dims, keepdim=True)
    variance = x.var(dims, unbiased=False, keepdim=True)
    y = torch.layer_norm(x, shape, weight, bias, eps)
    return y, mean, (variance + eps).rsqrt()


@_decomposes("mvlgamma")
def _multivariateLogGamma(x, p):
    constant = p * (p - 1) / 4 * math.log(math.pi)
    return sum((x - 0.5 * i).lgamma() for i in range(p)) + constant


@_decomposes("_scaled_dot_product_attention_forward")
def _attention(
    query, key, value, attn_mask=None, dropout_p=0.0, need_attn_weights=False,
    is_causal=False,
):
    scale = query.shape[-1] ** -0.25
    scores = torch.matmul(query * scale, (key * scale).transpose(-1, -2))
    if is_causal:
        is_past = _isUpTo(max(scores.shape[-2:]), scores)
        is_past = is_past[: scores.shape[-2], : scores.shape[-1]]
        scores = torch.where(is_past, scores, -math.inf)
    elif attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = torch.where(attn_mask, scores, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = torch.dropout(scores.softmax(-1), dropout_p, dropout_p > 0)
    return torch.matmul(weights, value), weights


# Pools.


@_decomposes("max_unpool2d", "max_unpool3d")
def _maxUnpool(x, indices, output_size, stride=None, padding=None):
    field = len(output_size)
    flat = x.flatten(-field)
    size = 1
    for count in output_size:
        size *= count
    zeros = x.new_zeros((*flat.shape[:-1], size))
    y = zeros.scatter(-1, indices.flatten(-field), flat)
    return y.reshape((*x.shape[:-field], *output_size))


# Draws.


@_decomposes("multinomial")
def _multinomial(p, num_samples, replacement=False, *, generator=None):
    if replacement:
        sums = p.cumsum(-1)
        drawn = torch.rand((*p.shape[:-1], num_samples), device=p.device)
        return _searchSorted(sums, drawn * sums[..., -1:], right=True).clamp(
            max=p.shape[-1] - 1
        )
    # The first of exponential arrivals with these rates, and the next ones.
    noise = torch.rand(p.shape, device=p.device)
    waits = -torch.log1p(-noise) / p
    return waits.topk(num_samples, -1, largest=False)[1]


DECOMPOSITIONS["aten::affine_grid_generator"] = affineGrid
DECOMPOSITIONS["aten::grid_sampler_2d"] = gridSample
DECOMPOSITIONS["aten::grid_sampler_3d"] = gridSample
