"""Batch, group, layer and instance norms against PyTorch."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

# batch, channels, field; groups
SHAPES = [((4, 6), 3), ((2, 4, 5), 2), ((3, 6, 4, 7), 3), ((1, 2, 33), 2),
          ((2, 8, 17), 1)]
HALF = 3e-2  # statistics and whitened activations are rounded on the way


def grouping(family, x, groups, strided):
    """The activations as [statistics, elements] and back."""
    batch, channels = x.shape[:2]
    if family == "batchNorm":
        def split(t):
            return t.transpose(0, 1).reshape(channels, -1)

        def join(t):
            return (t.reshape(channels, batch, *x.shape[2:]).transpose(0, 1))
    else:
        size = channels // groups

        def split(t):
            if strided:
                t = t.reshape(batch, size, groups, -1).transpose(1, 2)
            return t.reshape(batch * groups, -1)

        def join(t):
            if strided:
                t = t.reshape(batch, groups, size, -1).transpose(1, 2)
            return t.reshape(x.shape)
    return split, join


def expectation(family, groups, strided, epsilon, unbiased, replicas=1):
    def expected(inputs):
        t = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
             for name, value in inputs.items()}
        x = t["acts"]
        split, join = grouping(family, x, groups, strided)
        flat = split(x)
        mean = flat.mean(1)
        variance = ((flat - mean[:, None]) ** 2).mean(1)
        count = flat.shape[1] * replicas
        correction = count / (count - 1) if unbiased else 1.0
        inverse = (variance * correction + epsilon) ** -0.5
        whitened = join((flat - mean[:, None]) * inverse[:, None])
        channel = (1, -1) + (1,) * (x.ndim - 2)
        y = (whitened * t["gamma"].reshape(channel)
             + t["beta"].reshape(channel))
        y.backward(t["grads"].detach())
        by_gamma, by_beta = t["gamma"].grad, t["beta"].grad
        results = {
            "mean": mean, "invStdDev": inverse, "normalised": y,
            "whitened": whitened, "whiten": whitened,
            "gammaGrad": by_gamma, "betaGrad": by_beta, "gammaGrad2": by_gamma,
            "newGamma": t["gamma"] - 0.5 * by_gamma,
            "newBeta": t["beta"] - 0.5 * by_beta,
        }
        if not unbiased:  # the gradient is the biased one's, as documented
            results["actsGrad"] = results["actsGrad2"] = x.grad
        return {name: value.detach().numpy() for name, value in results.items()}
    return expected


def row(family, shape, groups, dtype=np.float32, strided=True, unbiased=False,
        stable=False, options=None):
    groups = {"layerNorm": 1, "instanceNorm": shape[1]}.get(family, groups)
    inputs = {"acts": values(*shape, dtype=dtype),
              "gamma": values(shape[1], dtype=dtype, seed=1, low=0.5),
              "beta": values(shape[1], dtype=dtype, seed=2),
              "grads": values(*shape, dtype=dtype, seed=3)}
    return Case("popnn." + family, inputs,
                {"epsilon": 1e-3, "unbiased": unbiased, "stable": stable,
                 "groups": groups},
                expectation(family, groups, strided, 1e-3, unbiased),
                options=options or {},
                tolerance=HALF if dtype == np.float16 else 1e-4)


def distributed(stable, unbiased):
    case = row("batchNorm", (2, 3, 5), 1, stable=stable, unbiased=unbiased)
    wanted = expectation("batchNorm", 1, True, 1e-3, unbiased, replicas=4)

    def expected(inputs):
        names = ("mean", "invStdDev", "actsGrad")
        return {k: v for k, v in wanted(inputs).items() if k in names}
    return Case("popnn.distributedBatchNorm", case.inputs,
                dict(case.params, replicas=4), expected, tolerance=1e-4)


FAMILIES = ("batchNorm", "groupNorm", "layerNorm", "instanceNorm")
NOT_STRIDED = {"groupNormStridedChannelGrouping": "false"}
ROWS = [
    row(family, shape, groups, dtype)
    for family in FAMILIES
    for dtype in (np.float32, np.float16)
    for shape, groups in SHAPES
    if not (family == "instanceNorm" and len(shape) == 2)
] + [
    row(family, (3, 6, 10), 3, unbiased=unbiased, stable=stable)
    for family in FAMILIES for unbiased in (False, True)
    for stable in (False, True)
] + [
    row("groupNorm", shape, groups, strided=False, options=NOT_STRIDED)
    for shape, groups in SHAPES
] + [distributed(stable, unbiased)
     for stable in (False, True) for unbiased in (False, True)] + [
    Case("popnn.batchNormalise",
         {"acts": values(2, 3, 4), "gamma": values(3), "beta": values(3, seed=1)},
         expected=lambda t: (t["acts"] * t["gamma"][:, None]
                             + t["beta"][:, None])),
]


def broken(operation, shape, groups, kind, text, options=None):
    case = row(operation, shape, groups, options=options)
    case.error = (kind, text)
    return case


ERRORS = [
    broken("groupNorm", (2, 6, 3), 4, "poplibs_error",
           "6 channels cannot be put into 4 equal groups"),
    broken("batchNorm", (2, 3), 1, "invalid_option",
           "Unrecognised option 'groups'", {"groups": "2"}),
    broken("groupNorm", (2, 4), 2, "invalid_option",
           "Not one of the values: ['true', 'false']",
           {"groupNormStridedChannelGrouping": "1"}),
]


@pytest.mark.parametrize("case", ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)
