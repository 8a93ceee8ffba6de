"""Losses by labels against NumPy, gradients against PyTorch."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

MASKED = 0xFFFFFFFF


def probabilities(batch, classes, dtype, scaling=1.0):
    soft = torch.tensor(values(batch, classes)).softmax(-1).numpy()
    return (soft * scaling).astype(dtype)


def loss_expected(kind, dtype, scaling, deltas_scale, counts):
    epsilon = 5.9605e-8 if dtype == np.float16 else 1.17549435e-38

    def expected(inputs):
        p = inputs["out"].astype(np.float64) / scaling
        labels = inputs["expected"].astype(np.uint32)
        masked = labels == MASKED
        batch, classes = p.shape
        hot = np.zeros_like(p)
        rows = np.flatnonzero(~masked)
        hot[rows, labels[rows]] = 1
        deltas = np.where(masked[:, None], 0, p - hot) * deltas_scale
        if kind == "SUM_SQUARED":
            loss = 0.5 * np.where(masked[:, None], 0, (p - hot) ** 2).sum(1)
        else:
            loss = np.zeros(batch)
            loss[rows] = -np.log(p[rows, labels[rows]] + epsilon)
        results = {"loss": loss, "deltas": deltas}
        if counts:
            results["numCorrect"] = (inputs["numCorrect"]
                                     + (p.argmax(1) == labels).sum(
                                         dtype=np.uint32))
        return results
    return expected


def loss_row(kind, batch, classes, dtype=np.float32, scaling=None, counts=False,
             masks=False, label_type=np.uint32):
    generator = np.random.default_rng(batch)
    labels = generator.integers(0, classes, batch).astype(np.uint32)
    if masks:
        labels[::2] = MASKED
    inputs = {"out": probabilities(batch, classes, dtype, scaling or 1.0),
              "expected": labels.astype(label_type)}
    types = {}
    if scaling:
        inputs["deltasScale"] = np.asarray(4.0, dtype)
        inputs["outputScaling"] = np.asarray(scaling, dtype)
    if counts:
        inputs["numCorrect"] = np.asarray(7, np.uint32)
        types["numCorrect"] = "unsigned int"
    return Case("popnn.calcLoss", inputs, {"type": kind},
                loss_expected(kind, dtype, scaling or 1.0,
                              4.0 if scaling else 1.0, counts), types=types,
                tolerance=1e-5 if dtype == np.float32 else 1e-2)


def extremes(t):
    x = t["in"]
    return {"max": x.max(1), "argMax": x.argmax(1).astype(np.uint32),
            "min": x.min(1), "argMin": x.argmin(1).astype(np.uint32),
            "argMax2": x.argmax(1).astype(np.uint32),
            "argMin2": x.argmin(1).astype(np.uint32)}


INDICES = {name: "unsigned int"
           for name in ("argMax", "argMin", "argMax2", "argMin2")}
ROWS = [
    loss_row(kind, batch, classes, dtype, scaling, counts)
    for kind in ("CROSS_ENTROPY", "SUM_SQUARED")
    for dtype in (np.float32, np.float16)
    for batch, classes in ((1, 1), (4, 10), (17, 3))
    for scaling in (None, 8.0) for counts in (False, True)
] + [
    loss_row(kind, 6, 5, masks=True, counts=True, label_type=label_type)
    for kind in ("CROSS_ENTROPY", "SUM_SQUARED")
    for label_type in (np.uint32, np.int32)
] + [
    Case("popnn.calcAccuracy",
         {"out": probabilities(9, 4, dtype),
          "expected": np.arange(9, dtype=np.uint32) % 4,
          "numCorrect": np.asarray(2, np.uint32)},
         expected=lambda t: {"numCorrect": t["numCorrect"] + np.uint32(
             (t["out"].argmax(1) == t["expected"]).sum())},
         types={"numCorrect": "unsigned int"})
    for dtype in (np.float32, np.float16)
] + [
    # Few different values: the first of equals is meant.
    Case("popnn.extremes",
         {"in": np.round(values(*shape, dtype=dtype)).astype(dtype)},
         expected=extremes, types=INDICES)
    for dtype in (np.float32, np.float16) for shape in ((1, 1), (5, 7), (3, 40))
] + [
    Case("popnn.topK", {"in": values(*shape, dtype=dtype)}, {"k": k},
         lambda t, k=k: {"values": -np.sort(-t["in"], 1)[:, :k],
                         "indices": np.argsort(-t["in"], 1, "stable")[:, :k]},
         types={"indices": "unsigned int"})
    for dtype in (np.float32, np.float16)
    for shape, k in (((1, 1), 1), ((3, 9), 4), ((2, 40), 40))
]


def broken(text, **changes):
    inputs = dict(loss_row("CROSS_ENTROPY", 4, 5, counts=True).inputs)
    inputs.update(changes)
    return Case("popnn.calcLoss", inputs, {"type": "CROSS_ENTROPY"},
                error=("poplibs_error", text))


ERRORS = [
    broken("calcLoss: batch size mismatch", expected=np.zeros(3, np.uint32)),
    broken("calcLoss: label type mismatch",
           expected=np.zeros(4, np.float32)),
    broken("mismatch with [batch, classes]", out=values(4),
           expected=np.zeros(4, np.uint32)),
    broken("mismatch with a scalar", numCorrect=np.zeros(2, np.uint32)),
    Case("popnn.topK", {"in": values(2, 3)}, {"k": 4},
         error=("poplibs_error",
                "K is 4; it must be from 1 to the 3 elements of a row")),
    Case("popnn.extremes", {"in": values(3)},
         error=("poplibs_error", "it must be a matrix")),
]


@pytest.mark.parametrize("case", ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)


def test_deltas_are_the_gradient_by_the_inputs_of_the_softmax():
    logits = torch.tensor(values(5, 4), requires_grad=True)
    labels = torch.tensor([0, 3, 1, 1, 2])
    torch.nn.functional.cross_entropy(logits, labels,
                                      reduction="sum").backward()
    case = Case("popnn.calcLoss",
                {"out": logits.detach().softmax(-1).numpy(),
                 "expected": labels.numpy().astype(np.int32)},
                {"type": "CROSS_ENTROPY"},
                lambda _: {"deltas": logits.grad.numpy()})
    check(case)
