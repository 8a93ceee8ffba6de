# What tests of tracing share: an input, and models on the IPU beside torch.
import copy

import torch

import poptorch

X = torch.arange(12.0).reshape(3, 4) / 4


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def run(model, *args, **kwargs):
    return poptorch.inferenceModel(model, options())(*args, **kwargs)


def same(result, expected, tolerance=1e-5):
    torch.testing.assert_close(
        result.detach().float(), expected.detach().float(),
        rtol=tolerance, atol=tolerance)  # fmt: skip


def checkInference(model, *args):
    """Also by a second wrapper, and torch afterwards with the same model."""
    expected = copy.deepcopy(model)(*args)
    same(run(model, *args), expected)
    same(run(model, *args), expected)
    same(model(*args), expected)
