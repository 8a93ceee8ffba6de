"""CTC loss against PyTorch's, and beam search against every path tried."""

import itertools

import numpy as np
import pytest
import torch
from conformance import Case, check, values


def log_probs(*shape, seed=0):
    return torch.tensor(values(*shape, seed=seed)).log_softmax(-1).numpy()


def labels_of(batch, length, classes, blank, seed=0):
    generator = np.random.default_rng(seed)
    choices = [c for c in range(classes) if c != blank]
    return generator.choice(choices, (batch, length)).astype(np.int32)


def loss_expected(blank, is_logits, with_softmax, zero_infinity):
    """PyTorch's gradient is by what the log softmax was taken of; by log
    probabilities it lacks their exponentials."""
    def expected(inputs):
        data = torch.tensor(inputs["data"], dtype=torch.float64,
                            requires_grad=True)
        probs = data.log_softmax(-1)
        loss = torch.nn.functional.ctc_loss(
            probs, torch.tensor(inputs["labels"]).long(),
            torch.tensor(inputs["dataLengths"]).long(),
            torch.tensor(inputs["labelLengths"]).long(), blank, "none",
            zero_infinity)
        loss.sum().backward()
        gradient = data.grad
        if not with_softmax:
            live = (torch.arange(data.shape[0])[:, None]
                    < torch.tensor(inputs["dataLengths"])[None]).double()
            if zero_infinity:
                live = live * (loss.detach() != 0).double()
            gradient = gradient - probs.exp().detach() * live[..., None]
        return {"loss": loss.detach().numpy(), "only": loss.detach().numpy(),
                "gradient": gradient.numpy()}
    return expected


def loss_row(steps, batch, classes, length, dtype=np.float32, blank=0,
             logits=False, with_softmax=True, zero_infinity=False,
             data_lengths=None, label_lengths=None):
    data = (values(steps, batch, classes) if logits
            else log_probs(steps, batch, classes)).astype(dtype)
    inputs = {
        "data": data,
        "labels": labels_of(batch, length, classes, blank),
        "dataLengths": np.asarray(data_lengths or [steps] * batch, np.int32),
        "labelLengths": np.asarray(label_lengths or [length] * batch, np.int32),
    }
    return Case("popnn.ctcLoss", inputs, {"blank": blank, "logits": logits},
                loss_expected(blank, logits, with_softmax, zero_infinity),
                options={"includeSoftmaxGradient": str(with_softmax).lower(),
                         "zeroInfinity": str(zero_infinity).lower()},
                tolerance=1e-4 if dtype == np.float32 else 2e-2)


def collapse(path, blank):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def beam_expected(blank, width, paths):
    """Every path, which a wide beam must equal."""
    def expected(inputs):
        data = inputs["data"].astype(np.float64)
        data = torch.tensor(data).log_softmax(-1).numpy()
        steps, batch, classes = data.shape
        probs = np.full((batch, paths), -np.inf)
        lengths = np.zeros((batch, paths), np.uint32)
        labels = np.full((batch, paths, steps), blank, np.uint32)
        for b in range(batch):
            totals = {}
            count = int(inputs["lengths"][b])
            for path in itertools.product(range(classes), repeat=count):
                p = sum(data[t, b, c] for t, c in enumerate(path))
                key = collapse(path, blank)
                totals[key] = np.logaddexp(totals.get(key, -np.inf), p)
            best = sorted(totals.items(), key=lambda i: -i[1])[:paths]
            for i, (key, p) in enumerate(best):
                probs[b, i], lengths[b, i] = p, len(key)
                labels[b, i, :len(key)] = key
        return {"probs": probs, "lengths": lengths, "labels": labels}
    return expected


def beam_row(steps, batch, classes, paths, blank=0, logits=False, lengths=None,
             width=200):
    data = (values(steps, batch, classes, seed=3) if logits
            else log_probs(steps, batch, classes, seed=3))
    return Case("popnn.beamSearch",
                {"data": data,
                 "lengths": np.asarray(lengths or [steps] * batch, np.int32)},
                {"blank": blank, "logits": logits, "beamwidth": width,
                 "topPaths": paths},
                beam_expected(blank, width, paths),
                types={"lengths": "unsigned int", "labels": "unsigned int"},
                tolerance=1e-4)


ROWS = [
    loss_row(steps, batch, classes, length, dtype, blank, logits)
    for steps, batch, classes, length in ((1, 1, 2, 1), (6, 3, 5, 2),
                                          (20, 4, 7, 6), (9, 2, 33, 3))
    for dtype in (np.float32, np.float16)
    for blank, logits in ((0, False), (1, True))
] + [
    loss_row(6, 3, 5, 3, with_softmax=False),
    loss_row(8, 3, 5, 3, data_lengths=[8, 5, 6], label_lengths=[3, 1, 0]),
    loss_row(8, 3, 5, 3, data_lengths=[8, 5, 6], label_lengths=[3, 2, 0],
             with_softmax=False),
    loss_row(4, 3, 5, 3, data_lengths=[4, 1, 4], zero_infinity=True),
    loss_row(4, 3, 5, 3, data_lengths=[4, 1, 4], zero_infinity=True,
             with_softmax=False),
] + [
    beam_row(3, 2, 3, 1), beam_row(4, 2, 3, 4), beam_row(5, 1, 3, 3, blank=2),
    beam_row(4, 3, 3, 2, lengths=[4, 2, 3], logits=True), beam_row(1, 1, 2, 2),
]


def broken(case, kind, text, **params):
    return Case(case.operation, case.inputs, {**case.params, **params},
                options=case.options, error=(kind, text))


ERRORS = [
    broken(loss_row(3, 1, 4, 1), "poplibs_error",
           "blank is 9; it must be one of the 4 classes", blank=9),
    broken(beam_row(3, 1, 3, 2), "poplibs_error",
           "topPaths is 3; it must be from 1 to the beam's width, 2",
           beamwidth=2, topPaths=3),
    Case("popnn.ctcLoss", loss_row(3, 1, 4, 1).inputs, {},
         options={"zeroInfinite": "true"},
         error=("invalid_option", "Unrecognised option 'zeroInfinite'")),
]


@pytest.mark.parametrize("case", ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)
