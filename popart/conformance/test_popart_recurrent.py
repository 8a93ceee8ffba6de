"""Recurrent layers against PyTorch's, whose gates are in another order."""

import numpy as np
import pytest
import torch

from operators import Case, check, values

F16, F32 = np.float16, np.float32
STEPS, BATCH, FEATURES, HIDDEN = 5, 3, 4, 2


def reordered(weights, order):
    """ONNX's gates, [1, gates * hidden, ...], in the order of PyTorch's."""
    parts = weights[0].chunk(len(order))
    return torch.cat([parts[i] for i in order])


def lstm(x, w, r, b=None, lengths=None, h=None, c=None):
    order = (0, 2, 3, 1)  # i, f, c, o of i, o, f, c
    b = torch.zeros(1, 8 * HIDDEN) if b is None else b
    zeros = torch.zeros(1, BATCH, HIDDEN)
    wb, rb = b.chunk(2, 1)
    y, hs, cs = run(torch.lstm_cell, x, reordered(w, order), reordered(r, order),
                    reordered(wb, order), reordered(rb, order), lengths,
                    zeros if h is None else h, zeros if c is None else c)
    return y, hs, cs


def run(cell, x, w, r, wb, rb, lengths, h, c):
    h, c, outputs = h[0], c[0], []
    for t in range(STEPS):
        next_h, next_c = cell(x[t], (h, c), w, r, wb, rb)
        alive = torch.ones(BATCH, 1) if lengths is None else (
            (t < lengths)[:, None].float())
        h, c = alive * next_h + (1 - alive) * h, alive * next_c + (1 - alive) * c
        outputs.append(alive * next_h)
    return torch.stack(outputs)[:, None], h[None], c[None]


def gru(before_reset):
    def function(x, w, r, b=None, lengths=None, h=None):
        b = torch.zeros(1, 6 * HIDDEN) if b is None else b
        wz, wr, wh = w[0].chunk(3)
        rz, rr, rh = r[0].chunk(3)
        wbz, wbr, wbh, rbz, rbr, rbh = b[0].chunk(6)
        state = torch.zeros(BATCH, HIDDEN) if h is None else h[0]
        outputs = []
        for t in range(STEPS):
            z = torch.sigmoid(x[t] @ wz.T + state @ rz.T + wbz + rbz)
            g = torch.sigmoid(x[t] @ wr.T + state @ rr.T + wbr + rbr)
            past = (g * (state @ rh.T + rbh) if before_reset
                    else (g * state) @ rh.T + rbh)
            new = (1 - z) * torch.tanh(x[t] @ wh.T + past + wbh) + z * state
            alive = torch.ones(BATCH, 1) if lengths is None else (
                (t < lengths)[:, None].float())
            state = alive * new + (1 - alive) * state
            outputs.append(alive * new)
        return torch.stack(outputs)[:, None], state[None]
    return function


def rnn(activation):
    def function(x, w, r, b=None, lengths=None, h=None):
        b = torch.zeros(1, 2 * HIDDEN) if b is None else b
        wb, rb = b[0].chunk(2)

        def cell(x, state, *_):
            h, c = state
            return activation(x @ w[0].T + wb + h @ r[0].T + rb), c

        first = torch.zeros(1, BATCH, HIDDEN) if h is None else h
        return run(cell, x, None, None, None, None, lengths, first,
                   torch.zeros(1, 1, 1))[:2]
    return function


def softmax(x):
    return torch.softmax(x, -1)


# What popnn's layers do not have inside of them.
WRITTEN_OUT = {
    "Gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "GeluErf": torch.nn.functional.gelu,
    "Swish": torch.nn.functional.silu,
    "Softmax": softmax,
    "SoftmaxStable": softmax,
    "SoftmaxScaled": lambda x: 16384 * softmax(x),
}


def lstm_of(gates, values):
    """An LSTM with these activations, by its formulas."""
    def function(x, w, r, b=None, lengths=None, h=None, c=None):
        b = torch.zeros(1, 8 * HIDDEN) if b is None else b
        wb, rb = b[0].chunk(2)

        def cell(x, state, *_):
            h, c = state
            i, o, f, g = (x @ w[0].T + wb + h @ r[0].T + rb).chunk(4, -1)
            c = gates(f) * c + gates(i) * values(g)
            return gates(o) * values(c), c

        zeros = torch.zeros(1, BATCH, HIDDEN)
        return run(cell, x, None, None, None, None, lengths,
                   zeros if h is None else h, zeros if c is None else c)
    return function


def small_operands(gates, dtype):
    """Gates without bounds must not make the state explode."""
    return [a / dtype(4) if a.dtype == dtype else a
            for a in operands(gates, dtype)]


def written_out_cases():
    for name, activation in WRITTEN_OUT.items():
        for dtype in (F32, F16):
            # Scaled softmax does not fit into halves that grow with the steps.
            if name == "SoftmaxScaled" and dtype == F16:
                continue
            inputs = small_operands(4, dtype)
            common = dict(outputs=3, types=[dtype] * 3, tolerance=1e-4)
            yield Case("LSTM", 7, inputs[:3], lstm_of(torch.sigmoid, activation),
                       {"activations": [name]}, **common)
            if name == "SoftmaxScaled":
                continue
            yield Case("LSTM", 7, inputs, lstm_of(activation, torch.tanh),
                       {"activations": [name, "Tanh", "Tanh"]}, **common)
            yield Case("LSTM", 7, [*inputs[:4], None, *inputs[5:]],
                       lstm_of(torch.relu, activation),
                       {"activations": ["Relu", name, name]}, **common)
            inputs = small_operands(1, dtype)
            common = dict(outputs=2, types=[dtype] * 2, tolerance=1e-4)
            yield Case("RNN", 7, inputs[:6], rnn(activation),
                       {"activations": [name]}, **common)
            yield Case("RNN", 7, inputs[:3], rnn(activation),
                       {"activations": [name]}, **common)


def operands(gates, dtype=F32):
    return [values(STEPS, BATCH, FEATURES, dtype=dtype),
            values(1, gates * HIDDEN, FEATURES, dtype=dtype, seed=1),
            values(1, gates * HIDDEN, HIDDEN, dtype=dtype, seed=2),
            values(1, 2 * gates * HIDDEN, dtype=dtype, seed=3),
            np.array([5, 2, 3], np.int32),
            values(1, BATCH, HIDDEN, dtype=dtype, seed=4),
            values(1, BATCH, HIDDEN, dtype=dtype, seed=5)]


def cases():
    for version in (1, 7, 14):
        for dtype in (F32, F16):
            inputs = operands(4, dtype)
            types = [dtype] * 3
            common = dict(outputs=3, types=types, tolerance=1e-4)
            attributes = {"hidden_size": HIDDEN}
            yield Case("LSTM", version, inputs[:3], lstm, attributes, **common)
            yield Case("LSTM", version, inputs, lstm, attributes, **common)
            yield Case("LSTM", version, [*inputs[:4], None, *inputs[5:]], lstm,
                       attributes, **common)
    for version in (3, 7, 14):
        for before in (0, 1):
            inputs = operands(3, F32 if version > 3 else F16)
            types = [inputs[0].dtype] * 2
            common = dict(outputs=2, types=types, tolerance=1e-4)
            attributes = {"hidden_size": HIDDEN, "linear_before_reset": before}
            yield Case("GRU", version, inputs[:3], gru(before), attributes, **common)
            yield Case("GRU", version, inputs[:6], gru(before), attributes, **common)
    for version, dtype in ((7, F32), (7, F16), (14, F32)):
        inputs = operands(1, dtype)
        common = dict(outputs=2, types=[dtype] * 2, tolerance=1e-4)
        for name, activation in (("Tanh", torch.tanh), ("Relu", torch.relu),
                                 ("Sigmoid", torch.sigmoid)):
            attributes = {"hidden_size": HIDDEN, "activations": [name]}
            yield Case("RNN", version, inputs[:6], rnn(activation), attributes,
                       **common)
            yield Case("RNN", version, [*inputs[:4], None, inputs[5]],
                       rnn(activation), attributes, **common)
        yield Case("RNN", version, inputs[:3], rnn(torch.tanh), **common)
    inputs = operands(1)[:3]
    for name, value, text in (
            ("clip", 1.0, "RNNOp attribute `clip' is not supported"),
            ("direction", "bidirectional", "RNNOp attribute `direction'"),
            ("layout", 1, "RNNOp attribute `layout'"),
            ("activations", ["Tanh", "Tanh"], "1 is allowed"),
            ("activations", ["Elu"], "activation Elu is not supported")):
        yield Case("RNN", 7, inputs, attributes={name: value}, outputs=2, error=text)
    inputs = operands(3)[:3]
    for name, value, text in (
            ("clip", 1.0, "GRUOp attribute `clip' is not supported"),
            ("activations", ["Relu", "Tanh"], "GRUOp attribute `activations'"),
            ("direction", "reverse", "GRUOp attribute `direction'")):
        yield Case("GRU", 7, inputs, attributes={name: value}, outputs=2, error=text)
    inputs = operands(4)[:3]
    for name, value, text in (
            ("clip", 1.0, "LSTMOp attribute `clip' is not supported"),
            ("direction", "reverse", "LSTMOp attribute `direction'"),
            ("input_forget", 1, "LSTMOp attribute `input_forget'"),
            ("hidden_size", 3, "hidden_size is 3"),
            ("activations", ["Sigmoid", "Tanh", "Relu"], "must be the same")):
        yield Case("LSTM", 7, inputs, attributes={name: value}, outputs=3, error=text)


@pytest.mark.parametrize("case", [*cases(), *written_out_cases()], ids=str)
def test_recurrent(case):
    check(case)
