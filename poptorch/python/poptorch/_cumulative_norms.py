# Norms with momentum=None keep the mean of all batches, for which torch reads
# their counter on the host. While such a model is traced for training they
# replace their statistics, and the means are moved towards them afterwards.
import contextlib

import torch

NORMS = torch.nn.modules.batchnorm._NormBase


@contextlib.contextmanager
def cumulativeNorms(model, is_training):
    """Inside, these norms compute their means from traced counters."""
    handles = []
    for module in model.modules() if is_training else ():
        if isinstance(module, NORMS) and _isCumulative(module):
            handles.append(module.register_forward_pre_hook(_begin))
            handles.append(module.register_forward_hook(_end))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _isCumulative(norm):
    return norm.training and norm.track_running_stats and norm.momentum is None


def _begin(norm, inputs):
    norm.momentum = 1.0
    norm._means_before = [s.clone() for s in (norm.running_mean, norm.running_var)]


def _end(norm, inputs, outputs):
    norm.momentum = None
    with torch.no_grad():
        for mean, before in zip(
            (norm.running_mean, norm.running_var), norm._means_before
        ):
            mean.copy_(before + (mean - before) / norm.num_batches_tracked)
    del norm._means_before
