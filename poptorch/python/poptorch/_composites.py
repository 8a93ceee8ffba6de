# Operators that torch would take apart before a tensor subclass sees them and
# that are worth keeping whole: registered on the autograd key of traced tensors.
import torch
from torch.utils._pytree import tree_flatten

from ._active_tracer import activeTracer
from ._traced_tensor import TracedTensor

_WHOLE = """
linear matmul dropout feature_dropout
batch_norm layer_norm group_norm instance_norm
lstm.input gru.input rnn_tanh.input rnn_relu.input
softmax.int log_softmax.int adaptive_avg_pool1d adaptive_avg_pool2d
adaptive_avg_pool3d one_hot linalg_matrix_norm linalg_matrix_norm.str_ord
cross_entropy_loss nll_loss_nd nll_loss nll_loss2d l1_loss
binary_cross_entropy_with_logits kl_div poisson_nll_loss huber_loss
hinge_embedding_loss cosine_embedding_loss margin_ranking_loss
triplet_margin_loss ctc_loss.IntList ctc_loss.Tensor
log_sigmoid prelu rrelu
""".split()

# Operators that write to arguments their schema does not mark: the argument that
# says whether they do, and the positions of those that are written.
_HIDDEN_UPDATES = {
    "aten::batch_norm": (5, (3, 4)),
    "aten::instance_norm": (5, (3, 4)),
}

_libraries = []


def hiddenUpdates(op, args):
    """The arguments that a call writes to although its schema does not say."""
    condition, positions = _HIDDEN_UPDATES.get(op, (0, ()))
    if not positions or not args[condition]:
        return []
    return [args[i] for i in positions if isinstance(args[i], TracedTensor)]


def updatesHidden(op):
    """Whether an operator has such arguments: the statistics of norms."""
    return op in _HIDDEN_UPDATES


def _kernel(overload):
    def run(*args, **kwargs):
        values = tree_flatten((args, kwargs))[0]
        tracer = activeTracer()
        if tracer is None or not any(isinstance(v, TracedTensor) for v in values):
            return overload.decompose(*args, **kwargs)
        return tracer.recordWhole(overload, args, kwargs)

    return run


def registerWhole(library, overload):
    """Makes traced tensors see one call of `overload` instead of its parts."""
    library.impl(overload.name().split("::")[1], _kernel(overload))


def registerComposites():
    """Registers every operator of the list; once per process."""
    if _libraries:
        return
    library = torch.library.Library("aten", "IMPL", "AutogradMeta")
    _libraries.append(library)
    for name in _WHOLE:
        packet, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        composite = torch._C.DispatchKey.CompositeImplicitAutograd
        if torch._C._dispatch_has_kernel_for_dispatch_key(
            operator.name(), composite
        ):
            registerWhole(library, operator)
