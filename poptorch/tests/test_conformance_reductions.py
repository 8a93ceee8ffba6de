# Reductions, sorts, running totals and losses.
import torch
import torch.nn.functional as F
from conformance_rows import Distinct, Floats, Given, Integers, Row, rowTest

torch.manual_seed(0)  # the weights of the modules below

S = (4, 6)
T = (2, 3, 4)
NAN = float("nan")


def whole(*shape):
    return Integers(*(shape or S), low=-9, high=9, dtype=torch.int32)


def labels(*shape, high=6):
    return Integers(*(shape or (4,)), high=high)


def signs(*shape):
    """Targets of 1 and -1."""
    return Given((torch.arange(torch.Size(shape).numel()) % 2 * 2 - 1)
                 .reshape(shape).tolist())  # fmt: skip


def part(*shape):
    return Floats(*shape, low=0.1, high=0.9)


def of(loss, **arguments):
    """The loss with its targets taken as constants."""
    return lambda a, b: loss(a, b.detach(), **arguments)


REDUCTIONS = [
    Row("sum", torch.sum, S),
    Row("sum_dim", lambda a: a.sum(1), T),
    Row("sum_keep", lambda a: a.sum((0, 2), keepdim=True), T),
    Row("sum_integers", torch.sum, whole()),
    Row("sum_bool", lambda a: (a > 0).sum(), S),
    Row("sum_dtype", lambda a: a.sum(dtype=torch.float), whole()),
    Row("sum_scalar", torch.sum, ()),
    Row("mean", torch.mean, S),
    Row("mean_dim", lambda a: a.mean(-1), S),
    Row("mean_dims", lambda a: a.mean((0, 2), keepdim=True), T),
    Row("prod", torch.prod, (5,)),
    Row("prod_dim", lambda a: a.prod(1), S),
    Row("prod_zero", lambda a: a.prod(1), Given([[1.0, 0.0, 2.0]])),
    Row("std", torch.std, S),
    Row("std_dim", lambda a: a.std(1), S),
    Row("std_biased", lambda a: a.std(1, unbiased=False, keepdim=True), S),
    Row("std_mean", lambda a: torch.std_mean(a, 0), S),
    Row("var", torch.var, S),
    Row("var_dims", lambda a: a.var((0, 2)), T),
    Row("var_correction", lambda a: torch.var(a, (1,), correction=2), S),
    Row("var_mean", lambda a: torch.var_mean(a, 1), S),
    Row("quantile", lambda a: a.quantile(0.4), Distinct(*T), half=False),
    Row("quantile_dim", lambda a: a.quantile(0.4, 1), Distinct(*T),
        half=False),
    Row("quantile_kept", lambda a: a.quantile(0.4, 1, keepdim=True),
        Distinct(*T), half=False),
    Row("quantiles", lambda a: a.quantile(torch.tensor([0.1, 0.7]), 2),
        Distinct(*T), half=False),
    Row("quantiles_kept", lambda a, q: a.quantile(q, 0, keepdim=True),
        Distinct(*T), Given([0.2, 0.5, 1.0]), gradient=False, half=False),
    Row("quantile_nearest", lambda a: a.quantile(
        0.3, -1, interpolation="nearest"), Distinct(*T), half=False),
    Row("nanquantile", lambda a: a.nanquantile(torch.tensor([0.1, 0.7]), 1),
        Given([[1.0, NAN, 3.0, 2.0], [4.0, 0.5, NAN, NAN]]), gradient=False,
        half=False),
    Row("nanquantile_kept", lambda a: a.nanquantile(0.4, 0, keepdim=True),
        Distinct(*T), half=False),
    Row("amax", lambda a: a.amax((0, 1)), Distinct(*T)),
    Row("amin", lambda a: a.amin(1, keepdim=True), Distinct(*T)),
    Row("aminmax", lambda a: torch.aminmax(a, dim=1), Distinct(*S),
        gradient=False),
    Row("max", torch.max, Distinct(*S)),
    Row("min", torch.min, Distinct(*S)),
    Row("max_integers", torch.max, whole()),
    Row("all", lambda a: (a > -1.9).all(), S),
    Row("all_dim", lambda a: (a > 0).all(1), S),
    Row("any", lambda a: (a > 1.9).any(), S),
    Row("any_dim", lambda a: (a > 1).any(0, keepdim=True), S),
    Row("any_integers", lambda a: a.any(1), Integers(*S)),
    Row("count_nonzero", torch.count_nonzero, Integers(*S)),
    Row("count_nonzero_dim", lambda a: a.count_nonzero(1), Integers(*S)),
    Row("logsumexp", lambda a: a.logsumexp(1), S),
    Row("logsumexp_dims", lambda a: a.logsumexp((0, 2), True), T),
    Row("nansum", torch.nansum, Given([1.0, NAN, 3.0]), gradient=False),
    Row("nansum_dim", lambda a: a.nansum(1), S),
    Row("norm", torch.norm, S),
    Row("norm_one", lambda a: a.norm(1), S),
    Row("norm_three", lambda a: a.norm(3, 1), S),
    Row("norm_inf", lambda a: a.norm(float("inf"), 1), Distinct(
        *S, low=0.5)),
    Row("norm_zero", lambda a: a.norm(0, 1), S),
    Row("norm_fro", lambda a: a.norm("fro", (0, 1)), S),
    Row("linalg_norm", lambda a: torch.linalg.norm(a), S),
    Row("linalg_norm_dim", lambda a: torch.linalg.norm(a, dim=1), S),
    Row("linalg_norm_one", lambda a: torch.linalg.norm(a, 1), S),
    Row("vector_norm", lambda a: torch.linalg.vector_norm(a, 2.5, 0), S),
    Row("matrix_norm", lambda a: torch.linalg.matrix_norm(a), T),
    Row("matrix_norm_inf", lambda a: torch.linalg.matrix_norm(
        a, float("inf")), T),
    Row("matrix_norm_least", lambda a: torch.linalg.matrix_norm(a, -1), T),
    Row("dist", torch.dist, S, S),
]  # fmt: skip

SORTS = [
    Row("argmax", torch.argmax, Distinct(*S)),
    Row("argmax_dim", lambda a: a.argmax(1), Distinct(*S)),
    Row("argmin", lambda a: a.argmin(0, keepdim=True), Distinct(*S)),
    Row("argmax_equal", lambda a: a.argmax(1), Integers(*S, high=3)),
    Row("max_dim", lambda a: a.max(1), Distinct(*S)),
    Row("max_keep", lambda a: a.max(0, keepdim=True), Distinct(*S)),
    Row("min_dim", lambda a: a.min(-1), Distinct(*T)),
    Row("topk", lambda a: a.topk(3), Distinct(*S)),
    Row("topk_smallest", lambda a: a.topk(2, 0, largest=False),
        Distinct(*S)),
    Row("topk_integers", lambda a: a.topk(2)[0], whole()),
    Row("sort", torch.sort, Distinct(*S)),
    Row("sort_descending", lambda a: a.sort(0, descending=True),
        Distinct(*S)),
    Row("sort_stable", lambda a: torch.sort(a, stable=True),
        Integers(*S, high=3)),
    Row("argsort", lambda a: a.argsort(1), Distinct(*S)),
    Row("median", torch.median, Distinct(*S)),
    Row("median_dim", lambda a: a.median(1), Distinct(*S)),
    Row("kthvalue", lambda a: a.kthvalue(2, 0), Distinct(*S)),
    Row("cumsum", lambda a: a.cumsum(1), S),
    Row("cumsum_first", lambda a: a.cumsum(0), T),
    Row("cumsum_integers", lambda a: a.cumsum(1), whole()),
    Row("cumprod", lambda a: a.cumprod(1), S),
    Row("cumprod_zero", lambda a: a.cumprod(0), Given([1.0, 0.0, 2.0, 3.0])),
    Row("diff", lambda a: a.diff(), S),
    Row("cummax", lambda a: a.cummax(1), Distinct(*S)),
    Row("cummin", lambda a: a.cummin(0), Distinct(*S)),
    Row("cummax_nan", lambda a: a.cummax(0), Given(
        [1.0, 3.0, NAN, 2.0, NAN, 5.0]), gradient=False),
    Row("logcumsumexp", lambda a: a.logcumsumexp(1), S),
    Row("mode", lambda a: a.mode(1)[0], Given(
        [[2.0, 1.0, 2.0], [3.0, 1.0, 1.0]]), gradient=False),
    Row("nanmedian", torch.nanmedian, Given([3.0, NAN, 1.0, 2.0, NAN]),
        gradient=False),
    Row("nanmedian_dim", lambda a: a.nanmedian(1), Distinct(*S)),
    Row("searchsorted", lambda a, b: torch.searchsorted(b.sort()[0], a), S,
        Distinct(4, 9), half=False),
    Row("searchsorted_right", lambda a, b: torch.searchsorted(
        b, a, right=True), Integers(*S, high=6), Given([1, 2, 4])),
    Row("histc", lambda a: torch.histc(a, 5, -1, 1), S, gradient=False,
        half=False),
    Row("histc_of_all", lambda a: torch.histc(a, 4), Distinct(*S),
        gradient=False, half=False),
    Row("renorm", lambda a: a.renorm(2, 0, 1.5), S),
    Row("pdist", F.pdist, S, half=False),
]  # fmt: skip

LOSSES = [
    Row("mse", F.mse_loss, S, S),
    Row("mse_sum", lambda a, b: F.mse_loss(a, b, reduction="sum"), S, S),
    Row("mse_none", lambda a, b: F.mse_loss(a, b, reduction="none"), S, S),
    Row("l1", F.l1_loss, S, S),
    Row("l1_sum", lambda a, b: F.l1_loss(a, b, reduction="sum"), S, S),
    Row("smooth_l1", F.smooth_l1_loss, S, S),
    Row("smooth_l1_beta", lambda a, b: F.smooth_l1_loss(a, b, beta=0.4), S,
        S),
    Row("huber", lambda a, b: F.huber_loss(a, b, delta=0.7), S, S),
    Row("bce", of(F.binary_cross_entropy), part(*S), part(*S)),
    # A sigmoid that is rounded to 0 or 1 has a gradient, if none to speak of.
    Row("bce_certain", lambda a, b: F.binary_cross_entropy(
        torch.sigmoid(a), b.detach(), reduction="sum"),
        Given([-200.0, -60.0, -9.0, 0.5, 12.0, 40.0, 300.0] * 2),
        Given([0.0, 0.3, 0.0, 1.0, 0.2, 0.0, 1.0,
               1.0, 1.0, 0.7, 0.0, 1.0, 0.3, 0.0]), half=False),
    Row("bce_weight", lambda a, b, w: F.binary_cross_entropy(
        a, b.detach(), w.detach(), reduction="sum"), part(*S), part(*S),
        part(6)),
    Row("bce_logits", of(F.binary_cross_entropy_with_logits), S, part(*S)),
    Row("bce_logits_none", of(F.binary_cross_entropy_with_logits,
                              reduction="none"), S, part(*S)),
    Row("bce_logits_weights", lambda a, b, w, p:
        F.binary_cross_entropy_with_logits(
            a, b.detach(), w.detach(), pos_weight=p.detach()), S, part(*S),
        part(6), part(6)),
    Row("nll", lambda a, t: F.nll_loss(F.log_softmax(a, 1), t), S, labels()),
    Row("nll_none", lambda a, t: F.nll_loss(
        F.log_softmax(a, 1), t, reduction="none"), S, labels()),
    Row("nll_2d", lambda a, t: F.nll_loss(F.log_softmax(a, 1), t),
        (2, 5, 3, 2), labels(2, 3, 2, high=5)),
    Row("cross_entropy", F.cross_entropy, S, labels()),
    Row("cross_entropy_sum", lambda a, t: F.cross_entropy(
        a, t, reduction="sum"), S, labels()),
    Row("cross_entropy_ignore", lambda a, t: F.cross_entropy(
        a, t, ignore_index=1), S, labels(high=3)),
    Row("cross_entropy_1d", F.cross_entropy, (2, 5, 3), labels(2, 3, high=5)),
    Row("cross_entropy_smooth", lambda a, t: F.cross_entropy(
        a, t, label_smoothing=0.2), S, labels()),
    Row("cross_entropy_smooth_ignore", lambda a, t: F.cross_entropy(
        a, t, label_smoothing=0.2, ignore_index=1), S, labels(high=3)),
    Row("cross_entropy_probabilities", of(F.cross_entropy), S, part(*S)),
    Row("cross_entropy_probabilities_smooth", of(
        F.cross_entropy, label_smoothing=0.1), (2, 5, 3), part(2, 5, 3)),
    *(
        Row(f"cross_entropy_weight_{reduction}_{smoothing}",
            lambda a, t, w, reduction=reduction, smoothing=smoothing:
            F.cross_entropy(a, t, w.detach(), ignore_index=1,
                            reduction=reduction, label_smoothing=smoothing),
            (5, 4, 3), labels(5, 3, high=4), part(4))
        for reduction in ("mean", "sum", "none")
        for smoothing in (0.0, 0.2)
    ),
    Row("cross_entropy_probabilities_weight", lambda a, p, w:
        F.cross_entropy(a, p.detach(), w.detach(), label_smoothing=0.1),
        (2, 5, 3), part(2, 5, 3), part(5)),
    Row("nll_weight", lambda a, t, w: F.nll_loss(
        F.log_softmax(a, 1), t, w.detach()), (5, 4), labels(5, high=4), part(4)),
    *(
        Row(f"multi_margin_{p}", lambda a, t, w, p=p: F.multi_margin_loss(
            a, t, p, 0.7, w.detach()), (5, 4), labels(5, high=4), part(4))
        for p in (1, 2)
    ),
    Row("multi_margin_none", lambda a, t: F.multi_margin_loss(
        a, t, reduction="none"), (5, 4), labels(5, high=4)),
    Row("multilabel_margin", lambda a, t: F.multilabel_margin_loss(a, t),
        (2, 4), Given([[3, 0, -1, 1], [2, 0, 1, -1]])),
    *(
        Row(f"gaussian_nll_{reduction}", lambda a, t, v, reduction=reduction:
            F.gaussian_nll_loss(a, t.detach(), v, full=True, eps=0.3,
                                reduction=reduction), S, S, part(*S))
        for reduction in ("mean", "sum", "none")
    ),
    Row("gaussian_nll_one_variance", lambda a, t, v: F.gaussian_nll_loss(
        a, t.detach(), v), S, S, part(4, 1)),
    Row("kl_div", of(F.kl_div, reduction="sum"), S, part(*S)),
    Row("kl_div_batchmean", of(F.kl_div, reduction="batchmean"), S,
        part(*S)),
    Row("kl_div_log", of(F.kl_div, reduction="mean", log_target=True), S, S),
    Row("poisson_nll", of(F.poisson_nll_loss), S, part(*S)),
    Row("poisson_nll_full", of(F.poisson_nll_loss, log_input=False,
                               full=True), part(*S),
        Floats(*S, low=0.5, high=4)),
    Row("hinge_embedding", lambda a, t: F.hinge_embedding_loss(
        a, t, margin=1.2), S, signs(*S)),
    Row("soft_margin", lambda a, t: F.soft_margin_loss(a, t), S, signs(*S)),
    Row("cosine_embedding", lambda a, b, t: F.cosine_embedding_loss(
        a, b, t, margin=0.1), S, S, signs(4)),
    Row("margin_ranking", lambda a, b, t: F.margin_ranking_loss(
        a, b, t, margin=0.3), (4,), (4,), signs(4)),
    Row("triplet_margin", F.triplet_margin_loss, S, S, S),
    Row("triplet_margin_swap", lambda a, b, c: F.triplet_margin_loss(
        a, b, c, margin=0.5, p=1, swap=True, reduction="sum"), S, S, S),
    *(
        Row(f"ctc_{reduction}", lambda a, t, reduction=reduction: F.ctc_loss(
            F.log_softmax(a, 2), t, (7, 5), (3, 2), reduction=reduction),
            (7, 2, 5), Integers(2, 3, low=1, high=5), half=False)
        for reduction in ("sum", "mean")
    ),
    Row("ctc_tensors", lambda a, t, i, j: F.ctc_loss(
        F.log_softmax(a, 2), t, i, j, blank=4), (7, 2, 5),
        Integers(2, 3, high=4), Given([7, 6]), Given([2, 3]), half=False),
    Row("multilabel_soft_margin", of(F.multilabel_soft_margin_loss), S,
        part(*S)),
]  # fmt: skip

test_reduction = rowTest(REDUCTIONS)
test_sort = rowTest(SORTS)
test_loss = rowTest(LOSSES)
