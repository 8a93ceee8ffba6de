# What operators do at the edges of what they take: scalars where dimensions are
# named, NaN, infinities, factors of zero, limits that cross.
import math

import pytest
import torch
import torch.nn.functional as F
from conformance_rows import Floats, Given, Integers, Row, rowTest

import poptorch
from poptorch import poptorch_core
from poptorch._decompositions import DECOMPOSITIONS

NAN = math.nan
INF = math.inf
FIRST = Given([0])

# A scalar is a vector of one element wherever a dimension is named.
SCALARS = [
    *(
        Row(f"{name}_{dim}", lambda a, f=function, dim=dim: f(a, dim), (),
            **arguments)
        for dim in (0, -1)
        for name, function, arguments in (
            ("softmax", F.softmax, {}),
            ("log_softmax", F.log_softmax, {}),
            ("softmin", F.softmin, {}),
            ("sum", torch.sum, {}),
            ("mean", torch.mean, {}),
            ("prod", torch.prod, {}),
            ("amax", torch.amax, {}),
            ("amin", torch.amin, {}),
            ("max", torch.max, {}),
            ("min", torch.min, {}),
            ("logsumexp", torch.logsumexp, {}),
            ("nansum", torch.nansum, {}),
            ("all", torch.all, {}),
            ("any", torch.any, {}),
            ("argmax", torch.argmax, {}),
            ("argmin", torch.argmin, {}),
            ("sort", torch.sort, {}),
            ("argsort", torch.argsort, {}),
            ("median", torch.median, {}),
            ("cumsum", torch.cumsum, {}),
            ("cumprod", torch.cumprod, {}),
            ("flip", lambda a, d: a.flip(d), {}),
            ("unfold", lambda a, d: a.unfold(d, 1, 1), {}),
            ("topk", lambda a, d: a.topk(1, d), {}),
            ("kthvalue", lambda a, d: a.kthvalue(1, d), {}),
            ("aminmax", lambda a, d: torch.aminmax(a, dim=d),
             {"gradient": False}),
            ("norm", lambda a, d: a.norm(dim=d), {}),
            ("norm_three", lambda a, d: torch.linalg.vector_norm(a, 3, d),
             {}),
            ("var", lambda a, d: a.var(d, unbiased=False),
             {"gradient": False}),
        )
    ),
    Row("norm_of_negative", torch.norm, Given(-3.0), gradient=False),
    Row("normalize", lambda a: F.normalize(a, dim=0), ()),
    Row("gather", lambda a, i: a.gather(0, i), (), Given(0)),
    Row("gather_vector", lambda a, i: a.gather(0, i), (), Given([0, 0])),
    Row("index_select", lambda a, i: a.index_select(0, i), (), FIRST),
    Row("index_fill", lambda a, i: a.index_fill(0, i, 3.0), (), FIRST),
    Row("index_copy", lambda a, i, b: a.index_copy(0, i, b), (), FIRST, ()),
    Row("index_add", lambda a, i, b: a.index_add(0, i, b), (), FIRST, ()),
    Row("index_reduce", lambda a, i, b: a.index_reduce(0, i, b, "amax"), (),
        FIRST, (), gradient=False),
    Row("scatter", lambda a, i, b: a.scatter(0, i, b), (), Given(0), ()),
    Row("scatter_vector", lambda a, i, b: a.scatter(0, i, b), (), FIRST,
        (1,)),
    Row("scatter_value", lambda a, i: a.scatter(0, i, 2.0), (), Given(0)),
    Row("scatter_add", lambda a, i, b: a.scatter_add(0, i, b), (), Given(0),
        ()),
    *(
        Row(f"scatter_reduce_{reduce}", lambda a, i, b, reduce=reduce:
            a.scatter_reduce(0, i, b, reduce), Given(1.0), Given(0),
            Given(2.0), gradient=False)
        for reduce in ("sum", "mean", "amax", "amin", "prod")
    ),
]  # fmt: skip

NANS = [
    [1.0, NAN, 3.0],
    [4.0, 5.0, NAN],
    [NAN, 2.0, 1.0],
    [1.0, 2.0, 3.0],
    [NAN, NAN, NAN],
    [-INF, NAN, INF],
    [INF, 2.0, -INF],
]


def ofNan(name, function):
    return Row(name, function, Given(NANS), gradient=False)


NOT_NUMBERS = [
    ofNan("max_dim", lambda a: a.max(1)),
    ofNan("min_dim", lambda a: a.min(1)),
    ofNan("amax", lambda a: a.amax(1)),
    ofNan("amin", lambda a: a.amin(1)),
    ofNan("max", torch.max),
    ofNan("min", torch.min),
    ofNan("argmax", lambda a: a.argmax(1)),
    ofNan("argmin", lambda a: a.argmin(1)),
    ofNan("argmax_all", torch.argmax),
    ofNan("argmin_all", torch.argmin),
    ofNan("maximum", lambda a: torch.maximum(a, a.flip(1))),
    ofNan("minimum", lambda a: torch.minimum(a, a.flip(1))),
    ofNan("fmax", lambda a: torch.fmax(a, a.flip(1))),
    ofNan("fmin", lambda a: torch.fmin(a, a.flip(1))),
    ofNan("median", torch.median),
    ofNan("median_dim", lambda a: a.median(1)),
    ofNan("clamp", lambda a: a.clamp(1.5, 2.5)),
    ofNan("clamp_min", lambda a: a.clamp(min=2)),
    ofNan("clamp_max", lambda a: a.clamp(max=2)),
    ofNan("relu", torch.relu),
    ofNan("relu6", F.relu6),
    ofNan("leaky_relu", F.leaky_relu),
    ofNan("elu", F.elu),
    ofNan("selu", F.selu),
    ofNan("celu", F.celu),
    ofNan("threshold", lambda a: F.threshold(a, 2, 7)),
    ofNan("hardshrink", lambda a: F.hardshrink(a, 1.5)),
    ofNan("hardsigmoid", F.hardsigmoid),
    ofNan("hardtanh", F.hardtanh),
    ofNan("softplus", F.softplus),
    ofNan("floor_division", lambda a: torch.div(
        a, 2, rounding_mode="floor")),
    Row("nan_to_num", torch.nan_to_num, Given(NANS), gradient=False,
        half=False),
    ofNan("nan_to_num_given", lambda a: a.nan_to_num(1.0, 2.0, 3.0)),
    ofNan("isposinf", torch.isposinf),
    ofNan("isneginf", torch.isneginf),
    ofNan("square_root", lambda a: a.clamp(min=0) ** 0.5),
    Row("root_of_minus_infinity", lambda a: a ** 0.5, Given([-INF, 4.0]),
        gradient=False, half=False),
]  # fmt: skip

S = (4, 6)
SQUARE = (3, 3)
BATCH = (2, 3, 3)


def unread(*shape):
    return Given(torch.full(shape, NAN).tolist())


# What a factor of zero leaves out is not looked at.
FACTORS = [
    Row("addmm_beta", lambda a, b, c: torch.addmm(a, b, c, beta=0),
        unread(3, 3), SQUARE, SQUARE, gradient=False),
    Row("addmm_alpha", lambda a, b, c: torch.addmm(a, b, c, beta=2, alpha=0),
        SQUARE, unread(3, 3), SQUARE, gradient=False),
    Row("addmm_both", lambda a, b, c: torch.addmm(a, b, c, beta=0, alpha=2),
        (3,), SQUARE, SQUARE),
    Row("addmv_beta", lambda a, b, c: torch.addmv(a, b, c, beta=0),
        unread(3), SQUARE, (3,), gradient=False),
    Row("addmv_alpha", lambda a, b, c: torch.addmv(a, b, c, alpha=0), (3,),
        unread(3, 3), (3,), gradient=False),
    Row("baddbmm_beta", lambda a, b, c: torch.baddbmm(a, b, c, beta=0),
        unread(2, 3, 3), BATCH, BATCH, gradient=False),
    Row("addbmm_beta", lambda a, b, c: torch.addbmm(a, b, c, beta=0),
        unread(3, 3), BATCH, BATCH, gradient=False),
    Row("addbmm_alpha", lambda a, b, c: torch.addbmm(a, b, c, alpha=0),
        SQUARE, unread(2, 3, 3), BATCH, gradient=False),
    Row("addr_beta", lambda a, b, c: torch.addr(a, b, c, beta=0),
        unread(3, 3), (3,), (3,), gradient=False),
]  # fmt: skip

LIMITS = [
    Row("clamp_crossed", lambda a: a.clamp(1, -1), S),
    Row("clamp_crossed_tensors", lambda a, b: a.clamp(b + 1, b - 1), S, S),
    Row("clamp_at_limits", lambda a: a.clamp(-1, 1), Given(
        [-2.0, -1.0, 0.0, 1.0, 2.0])),
    Row("clamp_bool", lambda a: (a > 0).clamp(max=0), S),
    Row("hardtanh_crossed", lambda a: F.hardtanh(a, 1, -1), S),
    Row("hardtanh_at_limits", F.hardtanh, Given([-2.0, -1.0, 0.0, 1.0])),
    Row("softplus_threshold", lambda a: F.softplus(a, 2, 1), S),
    Row("softplus_low_threshold", lambda a: F.softplus(a, 1, -3),
        Floats(*S, low=-6, high=6)),
]  # fmt: skip

NUMBERS = [
    Row("floor_division_rounds_once", lambda a, b: torch.div(
        a, b, rounding_mode="floor"), Given([1.0, -1.0, 7.0, 3.0]),
        Given([0.1, 0.1, -0.7, 0.0]), gradient=False, half=False),
    Row("floor_division_of_large", lambda a, b: a // b,
        Given([16777217, -16777217], torch.int32),
        Given([1, 1], torch.int32)),
    Row("truncated_division_of_large", lambda a, b: torch.div(
        a, b, rounding_mode="trunc"), Given([16777217, -7], torch.int32),
        Given([1, 2], torch.int32)),
    Row("powers", lambda a: [a ** p for p in (3, -1, -0.5, 0.5, 0)],
        Floats(*S, low=0.5)),
    Row("floor_integers", torch.floor, Integers(*S)),
    Row("round_integers", torch.round, Integers(*S, dtype=torch.int32)),
    Row("relu_integers", torch.relu, Integers(*S, low=-3)),
    Row("sign_bool", lambda a: torch.sign(a > 0), S),
    Row("norm_of_halves", lambda a: a.norm(), Floats(9, low=200, high=300),
        gradient=False),
    Row("scatter_bool", lambda a, i, b: (a > 0).scatter(1, i, b > 0), S,
        Given([[0, 2], [1, 3], [5, 4], [0, 1]]), (4, 2)),
    Row("scatter_add_bytes", lambda a, i, b: a.scatter_add(0, i, b),
        Integers(4, dtype=torch.uint8), Given([0, 3, 0]),
        Integers(3, dtype=torch.uint8)),
    Row("bytes_of_floats", lambda a: a.byte(), Given([-1.5, 2.5, 254.9]),
        half=False),
    Row("sums_of_truths", lambda a, i, b: (a > 0).index_add(
        0, i, b > 0, alpha=True), (4,), Given([0, 3, 0]), (3,)),
    Row("amin_of_integers", lambda a, i, b: a.index_reduce(
        0, i, b, "amin", include_self=False), Given([1, 4, 0], torch.int32),
        Given([1, 1, 0]), Given([7, 9, 2], torch.int32)),
    *(
        Row(f"norm_of_zeros_{p}", lambda a, p=p: torch.linalg.vector_norm(
            a, p, 1), Given([[0.0, 0.0], [3.0, 0.0]]))
        for p in (0.5, 1, 2, 3.5, math.inf)
    ),
    Row("cdist_by_product", torch.cdist, (30, 4), (28, 4), half=False),
    Row("index_reduce_mean_of_integers", lambda a, i, b: a.index_reduce(
        0, i, b, "mean"), Given([1, -4, 0], torch.int32), Given([1, 1, 0]),
        Given([2, -4, 2], torch.int32)),
]  # fmt: skip

test_scalar = rowTest(SCALARS)
test_notNumber = rowTest(NOT_NUMBERS)
test_factor = rowTest(FACTORS)
test_limit = rowTest(LIMITS)
test_number = rowTest(NUMBERS)


def test_weightNormOfALinearLayer():
    """torch's kernel for it trusts strides, and there is none for shapes."""
    torch.manual_seed(0)
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(64, 48))
    x = torch.randn(5, 64)
    options = poptorch.Options().showCompilationProgressBar(False)
    y = poptorch.inferenceModel(layer, options)(x)
    torch.testing.assert_close(y, layer(x).detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("value", [-1, 6])
def test_valuesThatHaveNoBin(value):
    options = poptorch.Options().showCompilationProgressBar(False)
    model = poptorch.inferenceModel(
        lambda a: torch.bincount(a, minlength=6), options
    )
    assert model(torch.tensor([0, 5, 0])).tolist() == [2, 0, 0, 0, 0, 1]
    with pytest.raises(poptorch.Error, match=r"not below minlength \(6\)"):
        model(torch.tensor([0, value, 5]))


def test_operatorsHaveOneMeaning():
    both = filter(poptorch_core.isSupported, DECOMPOSITIONS)
    assert not list(both)


@pytest.mark.parametrize("function, op", [
    (lambda a: a.masked_select(a > 0), "masked_select"),
    (lambda a: torch.nonzero(a), "nonzero"),
    (lambda a: torch.unique(a), "_unique2"),
    (lambda a: a.repeat_interleave((a > 0).int()), "repeat_interleave"),
])  # fmt: skip
def test_resultsThatValuesGiveTheirSize(function, op):
    options = poptorch.Options().showCompilationProgressBar(False)
    model = poptorch.inferenceModel(function, options)
    with pytest.raises(poptorch.Error, match=f"{op}.*depends on values"):
        model(torch.ones(4))
