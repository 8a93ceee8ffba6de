# Element-wise operators, comparisons, choices and activations.
import torch
import torch.nn.functional as F
from conformance_rows import Floats, Given, Integers, Row, rowTest
from torch import nn

torch.manual_seed(0)  # the weights of the modules below

S = (4, 6)


def positive(*shape, low=0.5, high=2.0):
    return Floats(*(shape or S), low=low, high=high)


def whole(*shape, low=-9, high=9, dtype=torch.int32):
    return Integers(*(shape or S), low=low, high=high, dtype=dtype)


def unary(name, inputs=S, **arguments):
    return Row(name, getattr(torch, name), inputs, **arguments)


def rounding(mode):
    return lambda a, b: torch.div(a, b, rounding_mode=mode)


def updatesView(a):
    b = a * 1
    b[1:3].mul_(2)
    b[:, 0] = 5.0
    b.t()[2].add_(1)
    return b


UNARY = [
    unary("abs"),
    unary("acos", Floats(*S, low=-0.9, high=0.9)),
    unary("acosh", positive(low=1.2, high=4)),
    unary("asin", Floats(*S, low=-0.9, high=0.9)),
    unary("asinh"),
    unary("atan"),
    unary("atanh", Floats(*S, low=-0.9, high=0.9)),
    unary("ceil", half=False),
    unary("cos"),
    unary("cosh"),
    unary("erf"),
    unary("erfc"),
    unary("exp"),
    unary("exp2"),
    unary("expm1"),
    unary("floor", half=False),
    unary("frac"),
    unary("log", positive(low=0.1)),
    unary("log1p", positive(low=-0.5)),
    unary("log2", positive(low=0.1)),
    unary("log10", positive(low=0.1)),
    unary("neg"),
    unary("reciprocal", positive()),
    unary("relu"),
    unary("round", gradient=False, half=False),
    unary("rsqrt", positive()),
    unary("sigmoid"),
    unary("sign", gradient=False),
    unary("sin"),
    unary("sinh"),
    unary("sqrt", positive()),
    unary("square"),
    unary("tan", Floats(*S, low=-1, high=1)),
    unary("tanh"),
    unary("trunc", gradient=False, half=False),
    unary("isnan", Given([1.0, float("nan"), 2.0]), gradient=False),
    unary("isinf", Given([1.0, float("inf"), 2.0]), gradient=False),
    Row("isnan_integers", torch.isnan, whole()),
    Row("abs_integers", torch.abs, whole()),
    Row("neg_short", torch.neg, whole(dtype=torch.int16)),
    Row("sqrt_integers", torch.sqrt, whole(low=0)),
    Row("scalar", torch.tanh, ()),
    Row("one_element", torch.exp, (1,)),
    Row("large", torch.sin, (3, 1001)),
]

def shifted(a):
    a = a * 1
    a <<= 3
    a >>= 1
    return a


BINARY = [
    Row("add", torch.add, S, S),
    Row("add_alpha", lambda a, b: torch.add(a, b, alpha=3), S, S),
    Row("add_number", lambda a: a + 1.5, S),
    Row("add_broadcast", torch.add, S, (6,)),
    Row("add_both_broadcast", torch.add, (4, 1), (1, 6)),
    Row("add_integers", torch.add, whole(), whole()),
    Row("add_integer_to_float", torch.add, S, whole()),
    Row("add_truths", lambda a, b: (a > 0) + (b > 0), S, S),
    Row("add_truths_in_place", lambda a, b: (a > 0).add_(b > 0), S, S),
    Row("or_a_truth", lambda a: (a > 0) | False, S),
    Row("xor_a_truth_in_place", lambda a: (a > 0).bitwise_xor_(True), S),
    Row("bits_of_numbers", lambda a: (a | 4, a & 5, a ^ 1, 3 | a),
        Integers(*S, high=8)),
    Row("shifts_in_place", shifted, Integers(*S, high=8, dtype=torch.int32)),
    Row("floor_divide_in_place", lambda a: (a * 1).floor_divide_(0.3), S,
        gradient=False, half=False),
    Row("pow_in_place", lambda a, b: (a * 1).pow_(2).pow_(b), S, S,
        half=False),
    Row("add_a_truth", lambda a: (a > 0) + True, S),
    Row("add_short", torch.add, whole(dtype=torch.int16),
        whole(dtype=torch.int16)),
    Row("sub", torch.sub, S, S),
    Row("sub_alpha", lambda a, b: torch.sub(a, b, alpha=0.5), S, S),
    Row("rsub", lambda a: 3 - a, S),
    Row("rsub_alpha", lambda a, b: torch.rsub(a, b, alpha=2), S, S),
    Row("mul", torch.mul, S, (4, 1)),
    Row("mul_integers", torch.mul, whole(), whole()),
    Row("div", torch.div, S, positive()),
    Row("div_number", lambda a: a / 4, S),
    Row("div_integers", torch.div, whole(), whole(low=1)),
    Row("true_divide", torch.true_divide, S, positive()),
    Row("div_floor", rounding("floor"), S, positive(), gradient=False,
        half=False),
    Row("div_trunc", rounding("trunc"), S, positive(), gradient=False,
        half=False),
    Row("div_floor_integers", rounding("floor"), whole(), whole(low=1)),
    Row("div_trunc_integers", rounding("trunc"), whole(), whole(low=1)),
    Row("floor_divide", lambda a, b: a // b, whole(), whole(low=1)),
    Row("pow_number", lambda a: a**2, S),
    Row("pow_cube", lambda a: a**3, S),
    Row("pow_root", lambda a: a**0.5, positive()),
    Row("pow_of_number", lambda a: 2.0**a, S),
    Row("pow", torch.pow, positive(), S),
    Row("maximum", torch.maximum, S, S),
    Row("minimum", torch.minimum, S, S),
    Row("max_other", torch.max, S, S),
    Row("min_other", torch.min, S, (6,)),
    Row("maximum_integers", torch.maximum, whole(), whole()),
    Row("atan2", torch.atan2, S, positive()),
    Row("fmod", torch.fmod, Floats(*S, low=-9, high=9), positive(),
        half=False),
    Row("fmod_number", lambda a: torch.fmod(a, 1.5),
        Floats(*S, low=-9, high=9), half=False),
    Row("fmod_integers", torch.fmod, whole(), whole(low=1)),
    Row("remainder", torch.remainder, Floats(*S, low=-9, high=9), positive(),
        half=False),
    Row("remainder_number", lambda a: torch.remainder(a, -1.5),
        Floats(*S, low=-9, high=9), half=False),
    Row("remainder_of_number", lambda a: torch.remainder(7, a), positive(),
        gradient=False, half=False),
    Row("remainder_integers", torch.remainder, whole(), whole(low=1)),
    Row("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=2), S, S, S),
    Row("addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=2), S, S,
        positive()),
    Row("lerp_number", lambda a, b: torch.lerp(a, b, 0.3), S, S),
    Row("lerp", torch.lerp, S, S, positive(low=0, high=1)),
    Row("xlogy", torch.xlogy, S, positive()),
    Row("clamp", lambda a: a.clamp(-1, 1), S),
    Row("clamp_min", lambda a: a.clamp(min=0.3), S),
    Row("clamp_max", lambda a: a.clamp(max=0.3), S),
    Row("clamp_tensors", lambda a, b: a.clamp(b - 1, b + 1), S, S),
    Row("clamp_min_tensor", lambda a, b: a.clamp(min=b), S, S),
    Row("clamp_max_tensor", lambda a, b: a.clamp(max=b), S, S),
    Row("clamp_integers", lambda a: a.clamp(-3, 4), whole()),
    Row("in_place", lambda a: (a * 1).mul_(3).add_(a), S),
    Row("in_place_view", updatesView, S),
    Row("bitwise_and", torch.bitwise_and, whole(), whole()),
    Row("bitwise_or", torch.bitwise_or, whole(), whole()),
    Row("bitwise_xor", torch.bitwise_xor, whole(), whole()),
    Row("bitwise_not", torch.bitwise_not, whole()),
    Row("bitwise_and_short", torch.bitwise_and, whole(dtype=torch.int16),
        whole(dtype=torch.int16)),
    Row("bitwise_xor_bool", lambda a, b: (a > 0) ^ (b > 0), S, S),
    Row("bitwise_not_bool", lambda a: ~(a > 0), S),
]  # fmt: skip

FUNCTIONS = [
    unary("lgamma", Floats(*S, low=-4, high=6), half=False),
    unary("digamma", Floats(*S, low=-4, high=6), half=False),
    Row("trigamma", lambda a: torch.polygamma(1, a), positive(high=6),
        half=False),
    unary("erfinv", Floats(*S, low=-0.99, high=0.99)),
    Row("erfinv_ends", torch.erfinv, Given([-1.0, 0.0, 1.0]),
        gradient=False),
    Row("multivariate_lgamma", lambda a: torch.mvlgamma(a, 3),
        positive(low=1.5, high=6), half=False),
    Row("logaddexp", torch.logaddexp, S, S),
    Row("logaddexp2", torch.logaddexp2, S, S),
    Row("logaddexp_infinite", torch.logaddexp, Given(
        [float("inf"), -float("inf"), 0.0]), Given(
        [float("inf"), -float("inf"), -float("inf")]), gradient=False),
    Row("hypot", torch.hypot, S, S),
    Row("hypot_large", torch.hypot, Given([3e30, 0.0]), Given([4e30, 0.0]),
        gradient=False, half=False),
    Row("copysign", torch.copysign, S, S, half=False),
    Row("copysign_zero", torch.copysign, Given([1.0, 2.0]),
        Given([-0.0, 0.0]), gradient=False),
    Row("signbit", torch.signbit, Given([-0.0, 0.0, -1.0])),
    Row("sinc", torch.sinc, S),
    Row("sinc_zero", torch.sinc, Given([0.0, 1.0]), gradient=False),
    Row("logit", torch.logit, Floats(*S, low=0.1, high=0.9)),
    Row("logit_limit", lambda a: torch.logit(a, 0.2),
        Floats(*S, low=0.0, high=1.0)),
    Row("heaviside", torch.heaviside, Given([-1.0, 0.0, 2.0]), (3,),
        gradient=False),
    Row("deg2rad", torch.deg2rad, S),
    Row("rad2deg", torch.rad2deg, S),
    Row("angle", torch.angle, S),
    Row("round_decimals", lambda a: torch.round(a, decimals=2), S,
        gradient=False, half=False),
    Row("round_tens", lambda a: torch.round(a, decimals=-1),
        Floats(*S, low=-90, high=90), gradient=False, half=False),
    Row("entr", torch.special.entr, positive()),
    Row("xlog1py", torch.special.xlog1py, S, positive()),
    Row("shift_left", lambda a: a << 2, whole()),
    Row("shift_right", lambda a: a >> 1, whole()),
    Row("isin", lambda a: torch.isin(a, torch.tensor([1, -3])), whole()),
]  # fmt: skip

COMPARISONS = [
    Row("eq", torch.eq, Integers(*S, high=3), Integers(*S, high=3)),
    Row("ne", torch.ne, Integers(*S, high=3), Integers(*S, high=3)),
    Row("ne_number", lambda a: a != 1, Integers(*S, high=3)),
    Row("gt", torch.gt, S, S),
    Row("ge_number", lambda a: a >= 0.5, S),
    Row("lt", torch.lt, S, (6,)),
    Row("le", torch.le, S, S),
    Row("gt_short", torch.gt, whole(dtype=torch.int16),
        whole(dtype=torch.int16)),
    Row("eq_bool", lambda a, b: (a > 0) == (b > 0), S, S),
    Row("logical_and", lambda a, b: (a > 0) & (b > 0), S, S),
    Row("logical_or", torch.logical_or, whole(low=-1, high=2),
        whole(low=-1, high=2)),
    Row("logical_xor", torch.logical_xor, whole(low=-1, high=2),
        whole(low=-1, high=2)),
    Row("logical_not", lambda a: torch.logical_not(a > 0), S),
    Row("where", lambda a, b: torch.where(a > 0, a, b), S, S),
    Row("where_broadcast", lambda a, b: torch.where(a > 0, a, b), S, (6,)),
    Row("where_numbers", lambda a: torch.where(a > 0, 1.0, -1.0), S,
        gradient=False),
    Row("masked_fill", lambda a: a.masked_fill(a > 0, -5.0), S),
    Row("masked_fill_tensor", lambda a, b: a.masked_fill(a > 0, b), S, ()),
    Row("masked_fill_broadcast",
        lambda a, m: a.masked_fill(m == 1, 0.0), S, Integers(6)),
]  # fmt: skip

ACTIVATIONS = [
    Row("leaky_relu", lambda a: F.leaky_relu(a, 0.1), S),
    Row("elu", F.elu, S),
    Row("elu_alpha", lambda a: F.elu(a, 0.7), S),
    Row("selu", F.selu, S),
    Row("celu", lambda a: F.celu(a, 1.5), S),
    Row("silu", F.silu, S),
    Row("mish", F.mish, S),
    Row("gelu", F.gelu, S),
    Row("gelu_tanh", lambda a: F.gelu(a, approximate="tanh"), S),
    Row("softplus", F.softplus, S),
    Row("softplus_beta", lambda a: F.softplus(a, 2.0), S),
    Row("softplus_large", F.softplus, Floats(*S, low=-60, high=60)),
    Row("softsign", F.softsign, S),
    Row("softshrink", lambda a: F.softshrink(a, 0.4), S),
    Row("hardshrink", lambda a: F.hardshrink(a, 0.6), S),
    Row("threshold", lambda a: F.threshold(a, 0.2, -3), S),
    Row("logsigmoid", F.logsigmoid, S),
    Row("hardtanh", F.hardtanh, S),
    Row("hardtanh_bounds", lambda a: F.hardtanh(a, -0.5, 1.5), S),
    Row("relu6", F.relu6, Floats(*S, high=8)),
    Row("hardsigmoid", F.hardsigmoid, Floats(*S, low=-4, high=4)),
    Row("hardswish", F.hardswish, Floats(*S, low=-4, high=4)),
    Row("prelu", nn.PReLU(), S),
    Row("prelu_of_a_vector", nn.PReLU(), (6,)),
    Row("prelu_channels", nn.PReLU(3), (2, 3, 4)),
    Row("rrelu_eval", nn.RReLU().eval(), S),
    Row("glu", F.glu, S),
    Row("glu_middle", lambda a: F.glu(a, 1), (2, 4, 3)),
    Row("softmax", lambda a: F.softmax(a, -1), S),
    Row("softmax_middle", lambda a: F.softmax(a, 1), (2, 3, 4)),
    Row("softmin", lambda a: F.softmin(a, 0), S),
    Row("log_softmax", lambda a: F.log_softmax(a, 1), S),
    Row("log_softmax_first", lambda a: F.log_softmax(a, 0), S),
    Row("inplace_relu", lambda a: F.relu(a * 1, inplace=True), S),
    Row("inplace_hardswish", lambda a: F.hardswish(a * 1, inplace=True), S),
]

# What backward() of a torch.autograd.Function may call.
GRADIENTS = [
    Row("softmax_gradient", lambda g, y: torch._softmax_backward_data(
        g, y, 1, torch.float32), S, Floats(*S, low=0.0, high=1.0),
        gradient=False, half=False),
    Row("log_softmax_gradient", lambda g, y: torch._log_softmax_backward_data(
        g, y, -1, torch.float32), S, S, gradient=False, half=False),
    Row("tanh_gradient", torch.ops.aten.tanh_backward, S, S, gradient=False,
        half=False),
    Row("sigmoid_gradient", torch.ops.aten.sigmoid_backward, S, S,
        gradient=False, half=False),
    Row("threshold_gradient", lambda g, x: torch.ops.aten.threshold_backward(
        g, x, 0.5), S, S, gradient=False, half=False),
]  # fmt: skip

test_unary = rowTest(UNARY)
test_binary = rowTest(BINARY)
test_function = rowTest(FUNCTIONS)
test_comparison = rowTest(COMPARISONS)
test_activation = rowTest(ACTIVATIONS)
test_gradient = rowTest(GRADIENTS)
