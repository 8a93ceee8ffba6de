"""LSTM and GRU layers against cells written in PyTorch, gradients by autograd;
the cells themselves against torch.nn."""

import numpy as np
import pytest
import torch
from conformance import Case, check, values

FUNCTIONS = {"TANH": torch.tanh, "SIGMOID": torch.sigmoid, "RELU": torch.relu,
             "HARD_SIGMOID": lambda x: (0.2 * x + 0.5).clamp(0, 1)}


def lengths(t, batch, steps):
    given = t.get("steps", t.get("realTimeSteps"))
    if given is None:
        return [steps] * batch
    return [int(n) for n in np.broadcast_to(np.ravel(given), batch)]


def walk(t, numbers, full, step):
    """Runs `step` where a sample has one; its last state otherwise."""
    h = t["h"]
    outputs = []
    for time in range(t["in"].shape[0]):
        new = step(time)
        live = torch.tensor([[time < n] for n in numbers])
        h = torch.where(live, new, h)
        outputs.append(torch.where(live, h, torch.zeros_like(h)))
        t["h_now"] = h
    return torch.stack(outputs) if full else h


def lstm_layer(t, numbers, order, activation, recurrent, full):
    position = {unit: i for i, unit in enumerate(order)}
    act, rec = FUNCTIONS[activation], FUNCTIONS[recurrent]
    state = {"c": t["c"]}
    t["h_now"] = t["h"]

    def gate(unit, time, function):
        i = position[unit]
        return function(t["in"][time] @ t["wIn"][i] + t["h_now"] @ t["wOut"][i]
                        + t["b"][i])

    def step(time):
        f, i = gate(0, time, rec), gate(1, time, rec)
        g, o = gate(2, time, act), gate(3, time, rec)
        live = torch.tensor([[time < n] for n in numbers])
        state["c"] = torch.where(live, f * state["c"] + i * g, state["c"])
        return o * act(state["c"])
    return walk(t, numbers, full, step), state["c"]


def gru_layer(t, numbers, order, activation, recurrent, full, reset_after):
    position = {unit: i for i, unit in enumerate(order)}
    act, rec = FUNCTIONS[activation], FUNCTIONS[recurrent]
    t["h_now"] = t["h"]

    def step(time):
        x, h = t["in"][time], t["h_now"]

        def weigh(unit, state):
            i = position[unit]
            bias = t["b"][i] if not reset_after else t["b"][i][0]
            behind = 0 if not reset_after else t["b"][i][1]
            return x @ t["wIn"][i] + bias, state @ t["wOut"][i] + behind
        r = rec(sum(weigh(0, h)))
        u = rec(sum(weigh(1, h)))
        if reset_after:
            direct, behind = weigh(2, h)
            g = act(direct + r * behind)
        else:
            g = act(sum(weigh(2, r * h)))
        if "attention" in t:
            u = (1 - t["attention"][:, time:time + 1]) * u
        return u * h + (1 - u) * g
    return walk(t, numbers, full, step)


def leaves(inputs):
    return {name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
            for name, value in inputs.items()
            if np.issubdtype(value.dtype, np.floating)}


def gradient(tensor):
    return (torch.zeros_like(tensor) if tensor.grad is None
            else tensor.grad).numpy()


def lstm_expected(order, activation, recurrent, full, names=None,
                  with_last_output=True):
    def expected(inputs):
        t = leaves(inputs)
        numbers = lengths(inputs, t["in"].shape[1], t["in"].shape[0])
        out, cell = lstm_layer(t, numbers, order, activation, recurrent, full)
        loss = (out * t["outGrad"]).sum() + (cell * t["dcLast"]).sum()
        if with_last_output:
            loss = loss + (t["h_now"] * t["dhLast"]).sum()
        loss.backward()
        results = {"out": out.detach().numpy(), "cell": cell.detach().numpy(),
                   "inference": out.detach().numpy(),
                   "inGrad": gradient(t["in"]), "hGrad": gradient(t["h"]),
                   "cGrad": gradient(t["c"]), "wInGrad": gradient(t["wIn"]),
                   "wOutGrad": gradient(t["wOut"]), "bGrad": gradient(t["b"])}
        return {k: v for k, v in results.items() if not names or k in names}
    return expected


def gru_expected(order, activation, recurrent, full, reset_after):
    def expected(inputs):
        t = leaves(inputs)
        numbers = lengths(inputs, t["in"].shape[1], t["in"].shape[0])
        out = gru_layer(t, numbers, order, activation, recurrent, full,
                        reset_after)
        (out * t["outGrad"]).sum().backward()
        results = {"out": out.detach().numpy(), "inGrad": gradient(t["in"]),
                   "hGrad": gradient(t["h"]), "wInGrad": gradient(t["wIn"]),
                   "wOutGrad": gradient(t["wOut"]), "bGrad": gradient(t["b"])}
        if "attention" in t:
            results["attentionGrad"] = gradient(t["attention"])
        return results
    return expected


def layer_inputs(units, steps, batch, size, out, dtype, full, double_bias=False):
    def make(*shape, seed, scale=1.0):
        return (values(*shape, seed=seed, low=-scale, high=scale)
                .astype(dtype))
    state = (batch, out)
    bias = (units, 2, out) if double_bias else (units, out)
    return {"in": make(steps, batch, size, seed=1), "h": make(*state, seed=2),
            "c": make(*state, seed=3),
            "wIn": make(units, size, out, seed=4, scale=0.5),
            "wOut": make(units, out, out, seed=5, scale=0.5),
            "b": make(*bias, seed=6, scale=0.5),
            "outGrad": make(*((steps, *state) if full else state), seed=7),
            "dhLast": make(*state, seed=8), "dcLast": make(*state, seed=9)}


def lstm_row(sizes, dtype=np.float32, order=(0, 1, 2, 3), full=True,
             activation="TANH", recurrent="SIGMOID", steps=None, options=None,
             name=""):
    inputs = layer_inputs(4, *sizes, dtype, full)
    if steps is not None:
        inputs["steps"] = np.asarray(steps, np.int32)
    return Case("popnn.lstm", inputs,
                {"order": list(order), "full": full, "activation": activation,
                 "recurrent": recurrent},
                lstm_expected(order, activation, recurrent, full),
                options=options or {}, name=name,
                tolerance=1e-4 if dtype == np.float32 else 5e-2)


def gru_row(sizes, dtype=np.float32, order=(0, 1, 2), full=True,
            reset_after=False, steps=None, attention=False, real=False,
            activation="TANH", recurrent="SIGMOID"):
    inputs = layer_inputs(3, *sizes, dtype, full, reset_after)
    del inputs["c"], inputs["dcLast"], inputs["dhLast"]
    if steps is not None:
        inputs["realTimeSteps" if real else "steps"] = np.asarray(steps,
                                                                  np.int32)
    if attention:
        inputs["attention"] = values(sizes[1], sizes[0], low=0,
                                     high=1).astype(dtype)
    return Case("popnn.gru", inputs,
                {"order": list(order), "full": full, "resetAfter": reset_after,
                 "activation": activation, "recurrent": recurrent},
                gru_expected(order, activation, recurrent, full, reset_after),
                tolerance=1e-4 if dtype == np.float32 else 5e-2)


SIZES = [(1, 1, 1, 1), (3, 2, 4, 5), (5, 3, 7, 2), (2, 33, 3, 17)]
ROWS = [
    lstm_row(sizes, dtype, full=full)
    for sizes in SIZES for dtype in (np.float32, np.float16)
    for full in (True, False)
] + [
    lstm_row((4, 3, 2, 5), order=order)
    for order in ((1, 0, 2, 3), (3, 2, 1, 0))
] + [
    lstm_row((4, 3, 2, 5), steps=steps, full=full)
    for steps in ([2], [4, 0, 3]) for full in (True, False)
] + [
    lstm_row((3, 2, 4, 5), activation="RELU", recurrent="HARD_SIGMOID"),
    lstm_row((3, 2, 4, 5), name="preCalc",
             options={"preCalcWeights": "true", "partialsType": "half",
                      "availableMemoryProportion": "0.3"}),
    Case("popnn.lstmBwd", layer_inputs(4, 3, 2, 4, 5, np.float32, True),
         expected=lstm_expected((0, 1, 2, 3), "TANH", "SIGMOID", True,
                                ("hGrad", "cGrad", "wInGrad"), False),
         tolerance=1e-4),
] + [
    gru_row(sizes, dtype, full=full, reset_after=reset_after)
    for sizes in SIZES for dtype in (np.float32, np.float16)
    for full in (True, False) for reset_after in (False, True)
] + [
    gru_row((4, 3, 2, 5), order=order, reset_after=reset_after)
    for order in ((1, 0, 2), (2, 0, 1)) for reset_after in (False, True)
] + [
    gru_row((4, 3, 2, 5), steps=steps, full=full, real=real)
    for steps in ([4, 0, 3],) for full in (True, False)
    for real in (False, True)
] + [
    gru_row((4, 3, 2, 5), attention=True, reset_after=reset_after)
    for reset_after in (False, True)
] + [gru_row((3, 2, 4, 5), activation="RELU", recurrent="HARD_SIGMOID")]


def broken(operation, kind, text, options=None, change=None, **params):
    case = lstm_row((3, 2, 4, 5)) if operation != "popnn.gru" else gru_row(
        (3, 2, 4, 5))
    case.inputs.update(change or {})
    return Case(operation, case.inputs, {**case.params, **params},
                options=options or {}, error=(kind, text))


ERRORS = [
    broken("popnn.lstm", "poplibs_error",
           "the cell order {0, 0, 1, 2} must name each of the 4 units once",
           order=[0, 0, 1, 2]),
    broken("popnn.lstm", "poplibs_error",
           "SIGMOID, HARD_SIGMOID, RELU and TANH", activation="GELU"),
    broken("popnn.lstm", "poplibs_error", "the input weights has shape",
           change={"wIn": values(4, 3, 5)}),
    broken("popnn.lstm", "invalid_option", "Unrecognised option 'speed'",
           {"speed": "1"}),
    broken("popnn.lstm", "invalid_option",
           "Not one of the values: ['none', 'cellAndTanh', 'full']",
           {"recomputationMode": "all"}),
    broken("popnn.lstmBwd", "poplibs_error", "calcInputGradients is false",
           asksInputGrad=True),
    broken("popnn.gru", "poplibs_error", "the bias has shape",
           change={"b": values(3, 4)}),
]


@pytest.mark.parametrize("case", ROWS + ERRORS, ids=str)
def test_conforms(case):
    check(case)


def test_cells_are_those_of_torch():
    """torch has gates [input, forget, candidate, output] and [reset, update,
    candidate], and computes its GRU with the reset after the weights."""
    torch.manual_seed(0)
    x = torch.randn(5, 3, 4, dtype=torch.float64)
    lstm = torch.nn.LSTM(4, 6).double()
    t = {"in": x, "h": torch.zeros(3, 6, dtype=torch.float64),
         "c": torch.zeros(3, 6, dtype=torch.float64),
         "wIn": lstm.weight_ih_l0.reshape(4, 6, 4).transpose(1, 2),
         "wOut": lstm.weight_hh_l0.reshape(4, 6, 6).transpose(1, 2),
         "b": (lstm.bias_ih_l0 + lstm.bias_hh_l0).reshape(4, 6)}
    out, cell = lstm_layer(t, [5] * 3, (1, 0, 2, 3), "TANH", "SIGMOID", True)
    wanted, (_, wanted_cell) = lstm(x)
    torch.testing.assert_close(out, wanted)
    torch.testing.assert_close(cell, wanted_cell[0])
    gru = torch.nn.GRU(4, 6).double()
    t = {"in": x, "h": torch.zeros(3, 6, dtype=torch.float64),
         "wIn": gru.weight_ih_l0.reshape(3, 6, 4).transpose(1, 2),
         "wOut": gru.weight_hh_l0.reshape(3, 6, 6).transpose(1, 2),
         "b": torch.stack([gru.bias_ih_l0.reshape(3, 6),
                           gru.bias_hh_l0.reshape(3, 6)], 1)}
    torch.testing.assert_close(
        gru_layer(t, [5] * 3, (0, 1, 2), "TANH", "SIGMOID", True, True),
        gru(x)[0])
