# Functions with gradients of their own, for test_autograd_functions.py: for each
# what it does to features of shape (rows, 4) and the (4, 4) weight of a layer.
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Rounded(Function):
    """A straight-through estimator."""

    @staticmethod
    def forward(ctx, x):
        return torch.round(x * 4) / 4

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class ClippedSign(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        gradient = gradient.clone()
        gradient[x.abs() > 0.5] = 0
        return gradient


class Scaled(Function):
    """Arguments that are no tensors, attributes of ctx."""

    @staticmethod
    def forward(ctx, x, factor, mode="plain", weights=None):
        ctx.factor = factor
        ctx.weights = weights
        assert mode == "plain"
        return x * factor

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor * 2, None, None, None


class OwnLinear(Function):
    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        return x.mm(weight.t()) if bias is None else x.mm(weight.t()) + bias

    @staticmethod
    def backward(ctx, gradient):
        x, weight, bias = ctx.saved_tensors
        by_x = by_weight = by_bias = None
        if ctx.needs_input_grad[0]:
            by_x = 3 * gradient.mm(weight)
        if ctx.needs_input_grad[1]:
            by_weight = gradient.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            by_bias = gradient.sum(0)
        return by_x, by_weight, by_bias


class Sorted(Function):
    """An output without a gradient, and one that nobody reads."""

    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort(dim=1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        return values, indices, x * 2

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient, nothing, unused):
        (indices,) = ctx.saved_tensors
        back = torch.zeros_like(gradient).scatter(1, indices, gradient)
        return back * 0.5 + unused


class TwoWays(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * y, x + y

    @staticmethod
    def backward(ctx, first, second):
        total = 0
        for gradient in (first, second):
            if gradient is not None:
                total = total + gradient
        return total, total * 2


class Reversed(Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient.neg()


class ReversedView(Reversed):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 5


class Broadcast(Function):
    """The second argument has a gradient of the result's shape."""

    @staticmethod
    def forward(ctx, x, row):
        return x + row

    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient * 2


class Nested(Function):
    """Calls another, in both directions."""

    @staticmethod
    def forward(ctx, x):
        return Rounded.apply(x) + Rounded.forward(ctx, x)

    @staticmethod
    def backward(ctx, gradient):
        return Scaled.apply(gradient, 0.5) + Reversed.backward(ctx, gradient)


class Halves(Function):
    """The gradient has another type than the input."""

    @staticmethod
    def forward(ctx, x):
        return x.half()

    @staticmethod
    def backward(ctx, gradient):
        assert gradient.dtype == torch.half
        return gradient * 0.5


class Constant(Function):
    """No gradient at all."""

    @staticmethod
    def forward(ctx, x):
        return torch.sign(x)

    @staticmethod
    def backward(ctx, gradient):
        return None


class WithVjp(Function):
    @staticmethod
    def forward(ctx, x):
        return x.floor()

    @staticmethod
    def vjp(ctx, gradient):
        return gradient * 3


# Taken from its class before anything is traced.
rounded = Rounded.apply


def sortedParts(x, weight):
    values, indices, _ = Sorted.apply(x @ weight)
    return values * (1 + indices)


def saved(x, weight):
    """Gradients from two calls and from the value itself meet."""
    y = x @ weight
    return rounded(y) + ClippedSign.apply(y) + y


CASES = {
    "straight_through": lambda x, w: rounded(x @ w),
    "clipped_sign": lambda x, w: ClippedSign.apply(x @ w),
    "of_a_parameter": lambda x, w: x @ rounded(w),
    "not_tensors": lambda x, w: Scaled.apply(x @ w, 0.25, "plain", [1, 2]),
    "linear": lambda x, w: OwnLinear.apply(x @ w, w),
    "linear_with_bias": lambda x, w: OwnLinear.apply(x, w, w[0]),
    "linear_of_inputs": lambda x, w: OwnLinear.apply(x, w.detach()) @ w,
    "several_outputs": sortedParts,
    "nothing_materialised": lambda x, w: TwoWays.apply(x @ w, w[0])[1],
    "both_outputs": lambda x, w: sum(TwoWays.apply(x @ w, w[0].expand_as(x))),
    "reversed": lambda x, w: Reversed.apply(x @ w),
    "reversed_parameter": lambda x, w: x @ Reversed.apply(w),
    "reversed_view": lambda x, w: ReversedView.apply(x @ w),
    "in_place": lambda x, w: InPlace.apply(x @ w) * 2,
    "broadcast": lambda x, w: Broadcast.apply(x @ w, w[:1]),
    "nested": lambda x, w: Nested.apply(x @ w),
    "halves": lambda x, w: Halves.apply(x @ w).float(),
    "constant": lambda x, w: Constant.apply(x @ w) + x @ w,
    "vjp": lambda x, w: WithVjp.apply(x @ w),
    "several_calls": saved,
    "without_gradients": lambda x, w: rounded(w.detach()).mean() + x @ w,
}
