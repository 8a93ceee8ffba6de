"""Custom operators and patterns in C++, built as users build theirs: what they
compute, against PyTorch or figures by hand."""
import ctypes
import subprocess
from pathlib import Path

import numpy as np
import popart
import pytest
import torch

CUSTOM = Path(__file__).resolve().parent / "custom"
DOMAIN = "extensions"


def compile(sources, target, *flags):
    subprocess.run(
        ["g++", "-std=c++14", "-Wall", "-Werror",
         *(str(CUSTOM / source) for source in sources), *flags,
         "-lpopart", "-lpopops", "-lpoputil", "-lpoplar", "-o", str(target)],
        check=True)  # fmt: skip
    return target


@pytest.fixture(scope="module", autouse=True)
def extensions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extensions")
    library = compile(["Extensions.cpp", "Patterns.cpp"],
                      folder / "libextensions.so", "-fPIC", "-shared")
    ctypes.cdll.LoadLibrary(str(library))


def device():
    return popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": 1, "tilesPerIPU": 4})


def custom(builder, name, inputs, attributes=None, outputs=1):
    return builder.customOp(name, 1, DOMAIN, inputs, attributes or {}, outputs)


def total(builder, x):
    return builder.aiGraphcore.identityloss([x], popart.ReductionType.Sum)


class Model:
    """A model of inputs and weights by name, run with one step of SGD."""

    def __init__(self, rate=0.1, patterns=None):
        self.builder = popart.Builder(
            opsets={"ai.onnx": 10, "ai.graphcore": 1})
        self.optimizer = popart.SGD({"defaultLearningRate": (rate, True)})
        self.patterns = popart.Patterns()
        for name, isOn in (patterns or {}).items():
            self.patterns.enablePattern(name, isOn)
        self.options = popart.SessionOptions()
        self.data = {}
        self.weights = {}

    def input(self, name, values):
        self.data[name] = np.asarray(values)
        info = popart.TensorInfo(self.data[name])
        return self.builder.addInputTensor(info, name)

    def weight(self, name, values):
        values = np.asarray(values, np.float32)
        self.weights[name] = values
        return self.builder.addInitializedInputTensor(values, name)

    def train(self, loss, anchors, steps=1):
        self.session = popart.TrainingSession(
            self.builder.getModelProto(), popart.DataFlow(1, anchors), loss,
            self.optimizer, device(), patterns=self.patterns,
            userOptions=self.options)
        return self._run(anchors, steps)

    def infer(self, anchors):
        for name in anchors:
            self.builder.addOutputTensor(name)
        self.session = popart.InferenceSession(
            self.builder.getModelProto(), popart.DataFlow(1, anchors),
            device(), patterns=self.patterns)
        return self._run(anchors, 1)

    def _run(self, anchors, steps):
        self.session.prepareDevice()
        self.session.weightsFromHost()
        arrays = self.session.initAnchorArrays()
        factor = max(1, self.options.accumulationFactor)
        data = {k: np.stack([v] * factor) if factor > 1 else v
                for k, v in self.data.items()}
        for _ in range(steps):
            self.session.run(popart.PyStepIO(data, arrays))
        return [arrays[name] for name in anchors]

    def read(self):
        self.session.weightsToHost()
        arrays = {k: np.empty_like(v) for k, v in self.weights.items()}
        self.session.readWeights(popart.PyWeightsIO(arrays))
        return arrays


def test_aProgramWithItsOwnOperatorAndNoWeight(tmp_path):
    """The gradient's inputs come in the order that it says."""
    program = compile(["CubeProgram.cpp"], tmp_path / "cube")
    output = subprocess.run([program], check=True, capture_output=True,
                            text=True).stdout
    assert output == ("Output Data: {0.027, 19.683, 1.728, 125}\n"
                      "Input Grad:  {0.00081, 0.59049, 0.05184, 3.75}\n")


def test_tensorsByTheirIds():
    model = Model()
    x = model.input("x", np.array([1, -2, 0.5], np.float32))
    y = custom(model.builder, "CubeById", [x])[0]
    assert np.allclose(model.infer([y])[0], [1, -8, 0.125])


@pytest.mark.parametrize("shape", [(3,), (4, 16), (2, 3, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_anIdentityWithAnotherLayout(shape, dtype):
    values = np.random.default_rng(1).normal(size=shape).astype(dtype)
    model = Model(rate=1e-3)
    x = model.input("x", values)
    w = model.builder.addInitializedInputTensor(np.ones(shape, dtype), "w")
    y = custom(model.builder, "Remap", [model.builder.aiOnnx.mul([x, w])],
               {"grain_size": 8})[0]
    z = model.builder.aiOnnx.mul([y, x])
    result, gradient = model.train(
        total(model.builder, z), [y, popart.reservedGradientPrefix() + w])
    assert np.array_equal(result, values)
    assert np.allclose(gradient, values * values, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("accumulation", [1, 3])
def test_aMovingAverageThatAPatternMakes(accumulation):
    """Once per weight update, of the weight before it."""
    model = Model(rate=0.5)
    if accumulation > 1:
        model.options.enableGradientAccumulation = True
        model.options.accumulationFactor = accumulation
    x = model.input("x", np.array([1, 1], np.float32))
    w = model.weight("w", [2, 4])
    average = model.weight("average", [1, 1])
    factor = model.builder.aiOnnx.constant(np.array(0.9, np.float32))
    custom(model.builder, "ExpMovAvg", [w, average, factor])
    loss = total(model.builder, model.builder.aiOnnx.mul([x, w]))
    model.train(loss, [loss])
    weights = model.read()
    step = 0.5 * accumulation
    assert np.allclose(weights["average"], [0.9 + 0.2, 0.9 + 0.4])
    assert np.allclose(weights["w"], [2 - step, 4 - step])


@pytest.mark.parametrize("isOn", [True, False])
def test_aPatternReplacesTwoOperatorsByADerivedOne(isOn):
    patterns = {"AddReluPattern": isOn}
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=(4, 5)).astype(np.float32) for _ in range(2))
    model = Model(rate=0.25, patterns=patterns)
    x = model.input("x", a)
    w = model.weight("w", b)
    y = model.builder.aiOnnx.relu([model.builder.aiOnnx.add([x, w])])
    z = model.builder.aiOnnx.mul([y, y])
    result, gradient = model.train(
        total(model.builder, z), [y, popart.reservedGradientPrefix() + x])
    leaf = torch.tensor(a, requires_grad=True)
    expected = torch.relu(leaf + torch.tensor(b))
    (expected**2).sum().backward()
    assert np.allclose(result, expected.detach(), atol=1e-6)
    assert np.allclose(gradient, leaf.grad, atol=1e-5)
    assert np.allclose(model.read()["w"], b - 0.25 * leaf.grad.numpy(),
                       atol=1e-5)


def test_aLookupDerivedFromTheBuiltInOne():
    """Its lowering is its own; shape and gradient are the built-in one's."""
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    indices = np.array([[5, 0, 5], [1, 1, 1]], np.int32)
    model = Model(rate=1.0)
    i = model.input("i", indices)
    w = model.weight("w", table)
    y = custom(model.builder, "TiedGather", [w, i], {"axis": 0})[0]
    result = model.train(total(model.builder, y), [y])[0]
    assert np.array_equal(result, table[indices])
    counts = np.bincount(indices.ravel(), minlength=6)
    assert np.allclose(model.read()["w"], table - counts[:, None])


@pytest.mark.parametrize("reduction", ["Sum", "Mean"])
def test_aLossOfOnesOwn(reduction):
    values = np.array([[1, -2], [3, 0.5]], np.float32)
    model = Model(rate=0.1)
    x = model.input("x", values)
    w = model.weight("w", np.full((2, 2), 2))
    loss = custom(model.builder, "SquareLoss",
                  [model.builder.aiOnnx.mul([x, w])],
                  {"reduction": reduction})[0]
    result = model.train(loss, [loss])[0]
    leaf = torch.full((2, 2), 2.0, requires_grad=True)
    expected = (torch.tensor(values) * leaf)**2
    expected = expected.sum() if reduction == "Sum" else expected.mean()
    expected.backward()
    assert np.allclose(result, expected.detach())
    assert np.allclose(model.read()["w"], 2 - 0.1 * leaf.grad.numpy())


def test_aLossWithAnUnknownReductionIsRefused():
    model = Model()
    x = model.input("x", np.ones(2, np.float32))
    w = model.weight("w", [1, 1])
    loss = custom(model.builder, "SquareLoss",
                  [model.builder.aiOnnx.mul([x, w])], {"reduction": "Max"})[0]
    with pytest.raises(popart.popart_exception, match="'Max' is no reduction"):
        model.train(loss, [loss])


def test_anUpdateOfOnesOwn():
    """The variable is another in every step."""
    model = Model()
    x = model.input("x", np.ones(2, np.float32))
    w = model.weight("w", [1, 1])
    state = model.weight("state", [8, 4])
    model.weights["state"] = np.zeros(2, np.float32)
    halved = custom(model.builder, "Decay", [
        state, model.builder.aiOnnx.constant(np.full(2, 0.5, np.float32))])[0]
    loss = total(model.builder, model.builder.aiOnnx.mul([x, w]))
    assert np.allclose(model.train(loss, [halved], steps=2)[0], [2, 1])
    assert np.allclose(model.read()["state"], [2, 1])


def test_aPatternOfUpdatesLimitsGradients():
    """Of 20 and 2 only 5 and 2 reach the weights."""
    model = Model(rate=1.0, patterns={"GradientClippingPattern": True})
    x = model.input("x", np.array([20, 2], np.float32))
    w = model.weight("w", [0, 0])
    loss = total(model.builder, model.builder.aiOnnx.mul([x, w]))
    model.train(loss, [loss])
    assert np.allclose(model.read()["w"], [-5, -2])


def test_aPatternThatOnlyChangesHints():
    model = Model(rate=0.1)
    x = model.input("x", np.ones((2, 3), np.float32))
    w = model.weight("w", np.ones((2, 3)))
    dropped = model.builder.aiOnnx.dropout([x], 1, 0.0)[0]
    y = model.builder.aiOnnx.add([dropped, w])
    assert np.allclose(model.train(total(model.builder, y), [y])[0], 2)


def test_aPatternThatMakesAConstant():
    """Its operator says nothing of its shape, so nothing is known of the next
    one's until there is a session."""
    model = Model()
    x = model.input("x", np.array([1, -3], np.float32))
    y = custom(model.builder, "Remap", custom(model.builder, "Twice", [x]))[0]
    assert np.allclose(model.infer([y])[0], [2, -6])
