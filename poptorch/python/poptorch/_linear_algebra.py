# Systems of equations and factors of matrices, column by column: sizes are known,
# so that loops over them are written out.
import torch


def _places(count, like):
    return torch.arange(count, device=like.device, dtype=torch.int32)


def _nothing(like):
    """What stands for results that tell of the computation."""
    return torch.zeros(like.shape[:-2], dtype=torch.int32, device=like.device)


def _withPivotFirst(work, k):
    """Rows k and the one with the greatest element of column k at or below
    exchanged, and where that was."""
    size = work.shape[-2]
    best = work[..., k:, k].abs().argmax(-1, keepdim=True).int() + k
    places = _places(size, work)
    order = torch.where(places == best, k, places)
    order = torch.where(places == k, best, order)
    order = order.long().unsqueeze(-1).expand(work.shape)
    return work.gather(-2, order), best.squeeze(-1)


def _eliminated(a, b):
    """The solution of a x = b, the pivots and the sign of the exchanges, by Gauss
    and Jordan with partial pivoting."""
    size = a.shape[-1]
    work = torch.cat([a, b], -1)
    sign = torch.ones(a.shape[:-2], dtype=a.dtype, device=a.device)
    pivots = []
    for k in range(size):
        work, best = _withPivotFirst(work, k)
        sign = torch.where(best == k, sign, -sign)
        pivot = work[..., k : k + 1, k : k + 1]
        pivots.append(pivot.reshape(pivot.shape[:-2]))
        row = work[..., k : k + 1, :] / torch.where(pivot == 0, 1.0, pivot)
        rest = work - work[..., k : k + 1] * row
        is_row = (_places(size, work) == k).unsqueeze(-1)
        work = torch.where(is_row, row, rest)
    return work[..., size:], torch.stack(pivots, -1), sign


def inverse(a, *, check_errors=False):
    size = a.shape[-1]
    identity = torch.eye(size, dtype=a.dtype, device=a.device)
    return _eliminated(a, identity.expand(a.shape))[0], _nothing(a)


def solve(a, b, *, left=True, check_errors=False):
    is_vector = b.dim() == 1 or b.shape == a.shape[:-1]
    if is_vector:
        b = b.unsqueeze(-1)
    if not left:
        a, b = a.transpose(-1, -2), b.transpose(-1, -2)
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (t.expand(*batch, *t.shape[-2:]) for t in (a, b))
    x = _eliminated(a, b)[0]
    x = x if left else x.transpose(-1, -2)
    x = x.squeeze(-1) if is_vector else x
    return x, a, _nothing(a), _nothing(a)


def determinant(a):
    _, pivots, sign = _eliminated(a, a[..., :1])
    return pivots.prod(-1) * sign, a, _nothing(a)


def signAndLogDeterminant(a):
    _, pivots, sign = _eliminated(a, a[..., :1])
    sign = sign * pivots.sign().prod(-1)
    return sign, pivots.abs().log().sum(-1), a, _nothing(a)


def cholesky(a, upper=False):
    """Both triangles count the same, so that gradients are symmetric."""
    rest = (a + a.transpose(-1, -2)) / 2
    size = a.shape[-1]
    columns = []
    for k in range(size):
        column = rest[..., k] / rest[..., k : k + 1, k].sqrt()
        column = torch.where(_places(size, a) >= k, column, 0.0)
        columns.append(column)
        rest = rest - column.unsqueeze(-1) * column.unsqueeze(-2)
    return torch.stack(columns, -2 if upper else -1)


def choleskyWithInfo(a, *, upper=False, check_errors=False):
    return cholesky(a, upper), _nothing(a)


def solveTriangular(a, b, *, upper, left=True, unitriangular=False):
    """By substitution, from the row with one unknown."""
    if not left:
        x = solveTriangular(
            a.transpose(-1, -2), b.transpose(-1, -2), upper=not upper,
            unitriangular=unitriangular,
        )  # fmt: skip
        return x.transpose(-1, -2)
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, rest = (t.expand(*batch, *t.shape[-2:]) for t in (a, b))
    size = a.shape[-1]
    rows = {}
    for k in reversed(range(size)) if upper else range(size):
        # Of the rows that are left, that of the unknown is first, or last.
        i = rest.shape[-2] - 1 if upper else 0
        row = rest[..., i : i + 1, :]
        if not unitriangular:
            row = row / a[..., k : k + 1, k : k + 1]
        rows[k] = row
        others = slice(0, k) if upper else slice(k + 1, size)
        if others.start == others.stop:
            break
        left_over = rest[..., :i, :] if upper else rest[..., 1:, :]
        rest = left_over - a[..., others, k : k + 1] * row
    return torch.cat([rows[k] for k in range(size)], -2)


def triangularSolve(b, a, upper=True, transpose=False, unitriangular=False):
    factor = a
    if transpose:
        factor, upper = a.transpose(-1, -2), not upper
    x = solveTriangular(factor, b, upper=upper, unitriangular=unitriangular)
    return x, a


def choleskySolve(b, factor, upper=False):
    other = factor.transpose(-1, -2)
    lower, upper_one = (other, factor) if upper else (factor, other)
    return solveTriangular(
        upper_one, solveTriangular(lower, b, upper=False), upper=True
    )


def choleskyInverse(factor, upper=False):
    size = factor.shape[-1]
    identity = torch.eye(size, dtype=factor.dtype, device=factor.device)
    return choleskySolve(identity.expand(factor.shape), factor, upper)


DECOMPOSITIONS = {
    "aten::linalg_inv_ex": inverse,
    "aten::_linalg_solve_ex": solve,
    "aten::_linalg_det": determinant,
    "aten::_linalg_slogdet": signAndLogDeterminant,
    "aten::cholesky": cholesky,
    "aten::linalg_cholesky_ex": choleskyWithInfo,
    "aten::linalg_solve_triangular": solveTriangular,
    "aten::triangular_solve": triangularSolve,
    "aten::cholesky_solve": choleskySolve,
    "aten::cholesky_inverse": choleskyInverse,
}
