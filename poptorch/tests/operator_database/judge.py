"""Runs one sample with PopTorch and with PyTorch and compares them."""

import warnings

import poptorch
import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from .database import ENTRIES, GRADIENT, isApplicable, samplesOf, tensorsIn

# Verdicts, from the best to the worst.
OUTSIDE = "outside"  # no sample for this device: PyTorch refuses it itself, ...
RIGHT = "right"
REFUSED = "refused"  # poptorch.Error with a sentence
RAISED = "raised"  # something else was raised
INTERNAL = "internal"
WRONG = "wrong"
CRASHED = "crashed"
VERDICTS = (OUTSIDE, RIGHT, REFUSED, RAISED, INTERNAL, WRONG, CRASHED)

# Entries whose values are drawn or left open: shapes and types are compared.
DRAWN = {
    "bernoulli", "multinomial", "normal", "normal.number_mean", "rand_like",
    "randn", "randn_like", "randint_like", "uniform", "empty", "empty_like",
    "new_empty", "new_empty_strided", "nn.functional.dropout",
    "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout.with_train",
    "nn.functional.rrelu", "nn.functional._scaled_dot_product_attention",
    "nn.functional.fractional_max_pool2d", "svd_lowrank", "pca_lowrank",
    "nn.functional.fractional_max_pool3d",
}  # fmt: skip

# Entries that give places: among equals, any will do.
PLACES = {"argsort", "kthvalue", "median", "mode", "msort", "nanmedian", "sort",
          "topk", "masked.median"}  # fmt: skip

_TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 1e-2}
# Of entries whose samples magnify roundings: norms of a single element, sums that
# cancel.
_ENTRY_TOLERANCES = {"native_layer_norm": 1e-3, "nn.functional.layer_norm": 1e-3,
                     "nn.functional.embedding_bag": 4e-2}  # fmt: skip
# Of gradients; those of a narrow type are rounded to it.
_GRADIENT_TOLERANCES = {"bfloat16": 1e-2, "half": 1e-2}


class Outside(Exception):
    """The sample is none for this device."""


class Wrong(Exception):
    """The results are not PyTorch's."""


class Call:
    """A sample's call, with its tensors taken out."""

    def __init__(self, entry, sample):
        self.function = entry.op
        self.process = sample.output_process_fn_grad
        values, self._tree = tree_flatten(
            (sample.input, sample.args, sample.kwargs)
        )
        self._values = values
        self._places = [
            i for i, v in enumerate(values) if isinstance(v, torch.Tensor)
        ]
        self.tensors = [values[i] for i in self._places]
        if not self.tensors or not all(map(isApplicable, self.tensors)):
            raise Outside
        self.has_order = sample.kwargs.get("stable", False)

    def __call__(self, *tensors):
        values = list(self._values)
        for place, tensor in zip(self._places, tensors):
            values[place] = tensor
        first, args, kwargs = tree_unflatten(values, self._tree)
        return self.function(first, *args, **kwargs)


class Differentiated(nn.Module):
    """The call's results and the sum of them times fixed weights. What is
    differentiated has a parameter of zeros added: one step of SGD with rate 1
    makes it the gradient, negated and exact. `places` are those of the results
    that torch differentiates."""

    def __init__(self, call, places):
        super().__init__()
        self.call = call
        self.places = places
        self.zeros = nn.ParameterDict({
            str(i): nn.Parameter(torch.zeros(t.shape))
            for i, t in enumerate(call.tensors)
            if t.requires_grad
        })
        self.count = len(call.tensors)

    def forward(self, *tensors):
        values = list(tensors[:self.count])
        for i, zeros in self.zeros.items():
            values[int(i)] = values[int(i)] + zeros
        results = tensorsIn(self.call.process(self.call(*values)))
        weights = tensors[self.count:]
        loss = sum(
            (results[place] * weight).sum()
            for place, weight in zip(self.places, weights)
        )
        return results, poptorch.identity_loss(loss, "sum")


def options():
    return poptorch.Options().showCompilationProgressBar(False)


def asOnDevice(tensor):
    """In the type that the device has instead of torch's."""
    narrower = {torch.int64: torch.int32, torch.float64: torch.float32,
                torch.bfloat16: torch.float32}  # fmt: skip
    return tensor.to(narrower.get(tensor.dtype, tensor.dtype))


def compare(result, expected, is_drawn=False, tolerance=1e-4):
    if result.shape != expected.shape:
        raise Wrong(f"shape {tuple(result.shape)}, not {tuple(expected.shape)}")
    tolerance = max(_TOLERANCES.get(expected.dtype, 0), tolerance)
    result, expected = asOnDevice(result), asOnDevice(expected)
    if result.dtype != expected.dtype:
        raise Wrong(f"type {result.dtype}, not {expected.dtype}")
    if is_drawn:
        return
    try:
        torch.testing.assert_close(result, expected, rtol=tolerance,
                                   atol=tolerance, equal_nan=True)
    except AssertionError as error:
        raise Wrong(" ".join(str(error).split())) from None


def areSamePlaces(values, places, others):
    """Whether two tensors of places choose the same values along a dimension of
    a tensor, or in all of it."""
    if values.dim() == 0 or places.dim() == 0:
        flat = values.flatten()
        return torch.equal(flat[places], flat[others])
    for d in range(values.dim()):
        along, *both = (
            t.movedim(d, -1) if t.dim() == values.dim() else t.unsqueeze(-1)
            for t in (values, places, others)
        )
        if along.shape[:-1] == both[0].shape[:-1] and torch.equal(
            *(along.gather(-1, p) for p in both)
        ):
            return True
    return False


def compareAll(entry, call, results, expected):
    results = tensorsIn(results)
    if len(results) != len(expected):
        raise Wrong(f"{len(results)} results, not {len(expected)}")
    for result, wanted in zip(results, expected):
        is_place = entry in PLACES and not call.has_order
        if is_place and wanted.dtype == torch.int64 and areSamePlaces(
            call.tensors[0].detach(), result.long(), wanted
        ):
            continue
        compare(result, wanted, entry in DRAWN,
                _ENTRY_TOLERANCES.get(entry, 1e-4))


def _byTorch(function, *arguments):
    """What PyTorch gives; a sample that it refuses itself is none."""
    try:
        results = function(*arguments)
    except Exception as error:
        raise Outside from error
    tensors = tensorsIn(results)
    if not tensors or not all(map(isApplicable, tensors)):
        raise Outside
    return tensors


def widened(tensors):
    return [t.float() if t.dtype == torch.half else t.clone() for t in tensors]


def compareHalves(entry, call, results, expected):
    """PyTorch's own halves overflow where sums in FLOAT do not: either is
    right."""
    try:
        compareAll(entry, call, results, expected)
    except Wrong:
        with torch.no_grad():
            exact = _byTorch(call, *widened(call.tensors))
        exact = [e.to(t.dtype) for e, t in zip(exact, expected)]
        compareAll(entry, call, results, exact)


def checkForward(entry, call):
    with torch.no_grad():
        expected = _byTorch(call, *(t.clone() for t in call.tensors))
    model = poptorch.inferenceModel(lambda *tensors: call(*tensors), options())
    try:
        inputs = [t.clone() for t in call.tensors]
        compareHalves(entry, call, model(*inputs), expected)
    finally:
        model.destroy()


def checkGradient(entry, call):
    values = [t.detach() for t in call.tensors]
    leaves = [
        v.clone().requires_grad_(t.requires_grad)
        for v, t in zip(values, call.tensors)
    ]
    # Leaves may be written to by nothing; what is computed may be.
    inputs = [v * 1 if v.requires_grad else v.clone() for v in leaves]
    expected = _byTorch(lambda *t: call.process(call(*t)), *inputs)
    places = [i for i, r in enumerate(expected) if r.requires_grad]
    weights = [
        torch.linspace(0.5, 1.5, expected[i].numel()).reshape(expected[i].shape)
        for i in places
    ]
    wanted = [v for v in leaves if v.requires_grad]
    if not weights or not wanted:
        raise Outside
    loss = sum((expected[i] * w).sum() for i, w in zip(places, weights))
    gradients = torch.autograd.grad(loss, wanted, allow_unused=True)
    model = Differentiated(call, places)
    trainer = poptorch.trainingModel(
        model, options(), torch.optim.SGD(model.parameters(), lr=1.0)
    )
    try:
        results, _ = trainer(*(v.clone() for v in values), *weights)
        compareAll(entry, call, results, [t.detach() for t in expected])
        trainer.copyWeightsToHost()
    finally:
        trainer.destroy()
    for zeros, gradient in zip(model.zeros.values(), gradients):
        if gradient is None:
            gradient = torch.zeros_like(zeros)
        compare(-zeros.detach(), gradient, entry in DRAWN,
                _GRADIENT_TOLERANCES.get(entry, 1e-3))


def judge(case):
    """(verdict, what was said)"""
    check = checkGradient if case.mode == GRADIENT else checkForward
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sample = samplesOf(case.entry, case.mode)[case.index]
            check(case.entry, Call(ENTRIES[case.entry], sample))
        except Outside:
            return OUTSIDE, ""
        except Wrong as error:
            return WRONG, str(error)
        except poptorch.Error as error:
            text = " ".join(str(error).split())
            is_internal = "internal error" in text.lower()
            return INTERNAL if is_internal else REFUSED, text
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            is_internal = "internal error" in text.lower()
            return INTERNAL if is_internal else RAISED, text
    return RIGHT, ""
