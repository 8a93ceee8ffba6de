# gaussian_nll_loss, which torch writes in Python and looks at values in.
import math

import torch

# As identity_loss numbers them.
_REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}


def gaussianNllLoss(
    input, target, var, full=False, eps=1e-6, reduction="mean"
):
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    if var.shape != input.shape and var.dim() == input.dim() - 1:
        var = var.unsqueeze(-1)
    # No gradient goes through the limit.
    limited = var + (var.detach().clamp(min=eps) - var.detach())
    terms = 0.5 * (limited.log() + (input - target).square() / limited)
    if full:
        terms = terms + 0.5 * math.log(2 * math.pi)
    return torch.ops.poptorch.identity_loss(terms, _REDUCTIONS[reduction])
