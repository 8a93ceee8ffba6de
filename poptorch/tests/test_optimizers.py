# What the backend is told about optimisers; needs no backend.
import pytest
import torch

import poptorch
from poptorch._optimizer_values import describeOptimizer


def parameters():
    a = torch.nn.Parameter(torch.ones(2))
    b = torch.nn.Parameter(torch.ones(3))
    return a, b, {id(a): "a", id(b): "b"}


def describe(optimizer, names):
    return describeOptimizer(optimizer, names)


def test_givenAttributesAreVariable():
    a, b, names = parameters()
    optimizer = poptorch.optim.SGD([a, b], lr=0.5, momentum=0.9)
    described = describe(optimizer, names)
    assert described["type"] == "SGD"
    values = described["defaults"]
    assert values["defaultLearningRate"] == (0.5, False)
    assert values["defaultMomentum"] == (0.9, False)
    assert values["defaultWeightDecay"] == (0.0, True)
    assert values["lossScaling"] == (1.0, True)
    assert described["groups"] == []


def test_torchDefaultsAreConstant():
    a, b, names = parameters()
    described = describe(torch.optim.AdamW([a, b], lr=0.1), names)
    values = described["defaults"]
    assert values["defaultLearningRate"] == (0.1, False)
    assert values["defaultWeightDecay"] == (0.01, True)
    assert values["defaultBeta1"] == (0.9, True)
    described = describe(torch.optim.Adam([a], weight_decay=0.1), names)
    assert described["type"] == "Adam"
    assert described["defaults"]["defaultWeightDecay"] == (0.1, False)


def test_groupsHaveTheirOwnValues():
    a, b, names = parameters()
    optimizer = poptorch.optim.AdamW(
        [{"params": [a]}, {"params": [b], "lr": 0.3}], lr=0.1
    )
    groups = describe(optimizer, names)["groups"]
    assert groups[0][0] == ["a"]
    assert groups[0][1]["learningRate"] == (0.1, False)
    assert groups[1][0] == ["b"]
    assert groups[1][1]["learningRate"] == (0.3, False)


def test_variableAttributesCanBeMarked():
    a, b, names = parameters()
    optimizer = poptorch.optim.SGD([a], lr=0.1)
    optimizer.variable_attrs.markAsConstant("lr")
    optimizer.variable_attrs.markAsVariable("weight_decay")
    values = describe(optimizer, names)["defaults"]
    assert values["defaultLearningRate"][1]
    assert not values["defaultWeightDecay"][1]
    with pytest.raises(AssertionError, match="Unknown attribute nonsense"):
        optimizer.variable_attrs.isConstant("nonsense")


def test_schedulersWork():
    a, b, names = parameters()
    optimizer = poptorch.optim.SGD([a], lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    optimizer.step()
    scheduler.step()
    values = describe(optimizer, names)["defaults"]
    assert values["defaultLearningRate"] == (0.5, False)


def test_unsupportedOptimizersAreErrors():
    a, b, names = parameters()
    with pytest.raises(AssertionError, match="Unsupported optimizer type"):
        describe(torch.optim.Adagrad([a]), names)
    with pytest.raises(ValueError, match="Only non-amsgrad"):
        poptorch.optim.Adam([a], amsgrad=True)
    with pytest.raises(ValueError, match="Only non-amsgrad"):
        describe(torch.optim.Adam([a], amsgrad=True), names)
    with pytest.raises(AssertionError, match="Accumulation types must be"):
        poptorch.optim.Adam([a], accum_type=torch.int32)


def test_stateDictHasTheDevicesPart():
    a, b, _ = parameters()
    optimizer = poptorch.optim.SGD([a], lr=0.1)
    state = optimizer.state_dict()
    assert state["ipu_state"] is None and state["ipu_param"] is None
    with pytest.raises(RuntimeError, match="because it is empty"):
        optimizer.load_state_dict({})
    with pytest.raises(RuntimeError, match="Only IPU optimizer states"):
        optimizer.load_state_dict(torch.optim.SGD([a], lr=1).state_dict())
    optimizer.load_state_dict(state)
