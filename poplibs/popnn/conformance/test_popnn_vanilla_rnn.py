"""Vanilla recurrent layers against PyTorch, and the spatial softmax."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

F, H = np.float32, np.float16


def torch_rnn(v, function):
    t = {k: torch.tensor(x, requires_grad=True) for k, x in v.items()}
    h, outputs = t["h"], []
    for x in t["x"]:
        h = getattr(torch, function.lower())(x @ t["w"].T + h @ t["v"].T + t["b"])
        outputs.append(h)
    y = torch.stack(outputs)
    (y * t["dy"]).sum().backward()
    return {"y": y.detach().numpy(),
            **{"d" + k: t[k].grad.numpy() for k in "xwvb"}}


def rnn_row(steps, batch, inputs, outputs, function, t=F):
    shapes = {"x": (steps, batch, inputs), "h": (batch, outputs), "w": (outputs, inputs),
              "v": (outputs, outputs), "b": (outputs,), "dy": (steps, batch, outputs)}
    return Case("popnn.rnn",
                {name: values(*shape, dtype=t, seed=seed, low=-0.7, high=0.7)
                 for seed, (name, shape) in enumerate(shapes.items())},
                {"function": function}, lambda v: torch_rnn(v, function),
                tolerance=2e-2 if t == H else 1e-4)


def of_creators(v):
    h, outputs = np.zeros((v["x"].shape[1], 4), F), []
    for x in v["x"]:
        h = np.tanh(0.5 * x.sum(-1, keepdims=True) + 0.5 * h.sum(-1, keepdims=True)
                    + 0.5 + np.zeros_like(h))
        outputs.append(h)
    return {"y": np.array(outputs)}


def spatial(v, temperature, plain):
    fields = v["fields"].astype(np.float64)
    count, height, width = fields.shape
    p = fields.reshape(count, -1)
    if not plain:
        p = np.exp((p - p.max(1, keepdims=True)) / temperature)
        p /= p.sum(1, keepdims=True)
    p = p.reshape(fields.shape)
    rows, columns = np.linspace(-1, 1, height), np.linspace(-1, 1, width)
    return {"out": np.stack([(p.sum(2) * rows).sum(1), (p.sum(1) * columns).sum(1)], 1),
            "temperature": np.array([temperature])}


CASES = [
    rnn_row(steps, batch, inputs, outputs, function, t)
    for steps, batch, inputs, outputs in ((1, 1, 1, 1), (3, 2, 4, 5), (6, 1, 3, 2))
    for function in ("TANH", "RELU") for t in (F, H)
] + [
    Case("popnn.rnnOfCreators", {"x": values(4, 3, 5)}, {"outputs": 4}, of_creators),
    Case("popnn.rnn", rnn_row(1, 1, 1, 1, "TANH").inputs, {"function": "GELU"},
         error=("poplibs_error", "the gradient of this non-linearity")),
] + [
    Case("popnn.spatialSoftMax", {"fields": values(*shape, dtype=t)},
         {"temperature": temperature, "plain": plain},
         lambda v, a=temperature, b=plain: spatial(v, a, b),
         tolerance=5e-3 if t == H else None)
    for shape in ((1, 2, 2), (5, 4, 7)) for temperature in (1.0, 0.5)
    for plain in (False, True) for t in (F, H)
] + [
    Case("popnn.spatialSoftMax", {"fields": values(3, 4)}, {"temperature": 1.0},
         error=("poplibs_error", "they must be fields, rows and columns")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_conforms(case):
    check(case)
