"""Sessions: what goes in and out of them beside steps, and their errors."""
import ctypes

import numpy as np
import onnx
import popart
import pytest
from onnx import numpy_helper
from small_sessions import (cpu, error, inference, ipus, model, replicated,
                            run, total)

# Weights, named buffers, state.


def test_named_buffers_are_updated_alone():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [1], "x")
    a, b = (builder.addInitializedInputTensor(np.array([v], np.float32), n)
            for v, n in ((1.0, "a"), (10.0, "b")))
    y = builder.aiOnnx.sum([x, a, b])
    options = popart.SessionOptions()
    options.constantWeights = False
    options.updatableNamedBuffers = ["a"]
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [y]), cpu(),
        userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    session.writeWeights(popart.PyWeightsIO(
        {name: np.array([100.0], np.float32) for name in "ab"}))
    session.buffersFromHost()
    assert run(session, [0])[y] == 110
    session.weightsFromHost()
    assert run(session, [0])[y] == 200
    options.updatableNamedBuffers = ["c"]
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [y]), cpu(),
        userOptions=options)
    session.prepareDevice()
    with pytest.raises(error, match="has 'c', which is not a variable"):
        session.buffersFromHost()


@pytest.mark.parametrize("isDisabled", [False, True])
def test_state_of_optimisers_need_not_be_copied(tmp_path, isDisabled):
    options = popart.SessionOptions()
    options.disableOptimizerStateTensorStreams = isDisabled
    proto, x, w, _, loss = model()
    session = popart.TrainingSession(
        proto, popart.DataFlow(1, [loss]), loss,
        popart.SGD({"defaultLearningRate": (1.0, True),
                    "defaultMomentum": (0.5, True)}), cpu(),
        userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    run(session, [2, 4])
    session.modelToHost(str(tmp_path / "m.onnx"))
    saved = {t.name: numpy_helper.to_array(t) for t in
             onnx.load(str(tmp_path / "m.onnx")).graph.initializer}
    np.testing.assert_array_equal(saved[w], [3, 2])
    # The velocity after the step: the gradient times the momentum.
    np.testing.assert_array_equal(saved[popart.reservedAcclPrefix() + w],
                                  [0, 0] if isDisabled else [1, 2])


class Product:
    """y = x * w + b of integers: any order of sums gives the same bits."""

    def __init__(self):
        self.random = np.random.default_rng(0)
        self.w, self.b = self.integers(40, 37), self.integers(37)
        options = popart.SessionOptions()
        options.constantWeights = False
        self.session = popart.InferenceSession(
            self.proto(self.w, self.b), popart.DataFlow(1, ["Add:0"]), cpu(),
            userOptions=options)
        self.session.prepareDevice()

    def integers(self, *shape):
        return self.random.integers(-4, 5, shape).astype(np.float32)

    def proto(self, w, b):
        builder = popart.Builder()
        x = builder.addInputTensor("FLOAT", [64, 40], "x")
        w = builder.addInitializedInputTensor(w, "w")
        b = builder.addInitializedInputTensor(b, "b")
        y = builder.aiOnnx.add([builder.aiOnnx.matmul([x, w]), b])
        builder.addOutputTensor(y)
        return builder.getModelProto()

    def write(self, **weights):
        self.session.writeWeights(popart.PyWeightsIO(weights))

    def read(self):
        weights = {"w": np.zeros_like(self.w), "b": np.zeros_like(self.b)}
        self.session.readWeights(popart.PyWeightsIO(weights))
        return weights["w"], weights["b"]

    def expect(self, w, b):
        x = self.integers(64, 40)
        np.testing.assert_array_equal(run(self.session, x)["Add:0"],
                                      x @ w + b)


def test_weights_of_an_inference_change_when_they_are_sent():
    p = Product()
    p.session.weightsFromHost()
    p.expect(p.w, p.b)
    w = p.integers(40, 37)
    p.write(w=w)  # this one alone, and only on the host
    p.expect(p.w, p.b)
    np.testing.assert_array_equal(p.read()[0], w)
    p.session.weightsFromHost()
    p.expect(w, p.b)
    for _ in range(2):
        p.session.weightsToHost()
        for found, expected in zip(p.read(), (w, p.b)):
            np.testing.assert_array_equal(found, expected)
        p.expect(w, p.b)
    b = p.integers(37)
    p.write(w=p.w, b=b)
    p.session.weightsToHost()  # the device has not heard of them
    for found, expected in zip(p.read(), (w, p.b)):
        np.testing.assert_array_equal(found, expected)
    p.write(b=b)
    p.session.weightsFromHost()
    p.expect(w, b)


def test_weights_of_an_inference_are_reset_and_loaded_again(tmp_path):
    p = Product()
    p.expect(p.w, p.b)
    w, b = p.integers(40, 37), p.integers(37)
    p.session.resetHostWeights(p.proto(w, b))
    p.expect(p.w, p.b)
    p.session.weightsFromHost()
    p.expect(w, b)
    p.session.modelToHost(str(tmp_path / "model.onnx"))
    saved = {t.name: numpy_helper.to_array(t) for t in
             onnx.load(str(tmp_path / "model.onnx")).graph.initializer}
    np.testing.assert_array_equal(saved["w"], w)
    p.session.saveExecutable(str(tmp_path / "executable"))
    again = Product()
    again.session.loadExecutable(str(tmp_path / "executable"))
    again.session.prepareDevice()
    again.expect(w, b)


def test_weights_are_broadcast_from_the_only_process():
    session, *_ = inference()
    session.broadcastWeights()
    with pytest.raises(error, match="its rank is 0, not 1"):
        session.broadcastWeights(1)


# Steps.


def test_a_step_by_the_name_of_its_program():
    session, x, _, y = inference()
    anchors = session.initAnchorArrays()
    io = popart.PyStepIO({x: np.ones(2, np.float32)}, anchors)
    session.run("main", io)
    np.testing.assert_array_equal(anchors[y], [5, 6])
    with pytest.raises(error, match="no program 'other'"):
        session.run("other", io, "name")


def test_sessions_share_a_device():
    device = ipus()
    first = inference(device=device, start=(1.0, 2.0))
    second = inference(device=device, start=(3.0, 4.0))
    for _ in range(2):
        for session, values in ((first, [1, 2]), (second, [3, 4])):
            np.testing.assert_array_equal(run(session[0], [1, 1])["Mul:0"],
                                          values)


def test_asserts_may_be_off():
    """A short array is read again from its start."""
    session, x, _, y = inference(steps=4)
    anchors = session.initAnchorArrays()
    short = np.array([[1, 1], [2, 2]], np.float32)
    io = popart.PyStepIO({x: short}, anchors)
    with pytest.raises(error, match="Expected 8, but received 4"):
        session.run(io)
    io.enableRuntimeAsserts(False)
    session.run(io)
    np.testing.assert_array_equal(anchors[y], [[5, 6], [10, 12]] * 2)


def giver(*values):
    """A callback that writes these numbers."""
    array = np.array(values, np.float32)

    def give(buffer):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object,
                                                      ctypes.c_char_p]
        ctypes.memmove(get(buffer, None), array.ctypes.data, array.nbytes)

    return give


def test_streams_may_be_served_by_the_user():
    session, x, _, y = inference()
    session.connectStreamToCallback(x, giver(2, 3))
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({}, anchors))
    np.testing.assert_array_equal(anchors[y], [10, 18])
    with pytest.raises(error, match="no replica 1"):
        session.connectStreamToCallback(x, giver(0, 0), 1)


def test_each_replica_has_a_callback():
    session, x, _, y = inference(replicated(2), ipus(2))
    session.connectStreamToCallback(x, giver(1, 2), 0)
    session.connectStreamToCallback(x, giver(3, 4), 1)
    anchors = session.initAnchorArrays()
    for _ in range(2):
        session.run(popart.PyStepIO({}, anchors))
        np.testing.assert_array_equal(anchors[y], [[5, 12], [15, 24]])


def test_steps_want_a_prepared_session():
    proto, x, w, y, loss = model()
    session = popart.InferenceSession(proto, popart.DataFlow(1, [y]), cpu())
    with pytest.raises(error, match=r"Devicex::prepare\(\) must be called "
                       "before Devicex::run"):
        run(session, [1, 1])
    options = popart.SessionOptions()
    options.compileEngine = False
    session = popart.InferenceSession(proto, popart.DataFlow(1, [y]), cpu(),
                                      userOptions=options)
    session.prepareDevice()
    with pytest.raises(error, match=r"Devicex::prepare\(\)"):
        run(session, [1, 1])
    training = popart.TrainingSession(
        proto, popart.DataFlow(1, [loss]), loss, popart.ConstSGD(1.0), cpu())
    training.prepareDevice()
    with pytest.raises(error, match="Must call weightsFromHost before run"):
        run(training, [1, 1])
    with pytest.raises(error, match="User must specify an anchor tensor when "
                       "doing inference"):
        popart.InferenceSession(proto, popart.DataFlow(1, {}), cpu())
    with pytest.raises(error, match="Anchor tensor `z' not in Ir Tensors"):
        popart.InferenceSession(proto, popart.DataFlow(1, ["z"]), cpu())
    with pytest.raises(error, match="Could not find loss tensor 'z'"):
        popart.TrainingSession(proto, popart.DataFlow(1, {}), "z",
                               popart.ConstSGD(1.0), cpu())
    with pytest.raises(error, match=f"Loss tensor, '{y}', must be a scalar"):
        popart.TrainingSession(proto, popart.DataFlow(1, {}), y,
                               popart.ConstSGD(1.0), cpu())
    with pytest.raises(error, match="TensorInfo for `z' not found"):
        session.getInfo("z")


@pytest.mark.parametrize("arguments, message", [
    ((("EveryN",), 4), "Must specify return period with option 'EVERYN'"),
    ((("EveryN", 0), 4), "Anchor return period must be greater than zero"),
    ((("All", 2), 4), "A return period should not be supplied"),
    ((("Some",), 4), "Invalid anchor return type ID supplied: Some"),
    ((("All",), 0), "'Batches per step' must be greater than zero"),
    ((("EveryN", 5), 4), "Return period must be <= to the number of batches"),
    ((("EveryN", 3), 4), "Return period must be a factor of the number"),
    ((("All", None, popart.TileSet.Compute,
       popart.ExchangeStrategy.OverlapStep), 4), "not yet supported"),
])  # fmt: skip
def test_anchors_are_checked(arguments, message):
    kind, steps = arguments
    with pytest.raises(error, match=message):
        popart.DataFlow(steps, {"x": popart.AnchorReturnType(*kind)})


def test_inputs_cannot_overlap_steps():
    with pytest.raises(error, match="OverlapStep is not yet supported"):
        popart.Builder().addInputTensor(
            "FLOAT", [1], popart.InputSettings(
                popart.TileSet.IO, popart.ExchangeStrategy.OverlapStep))


def test_state_of_random_numbers():
    options = popart.SessionOptions()
    session, *_ = inference(options, ipus())
    with pytest.raises(error, match="'enableLoadAndOffloadRNGState' must be "
                       "set to true"):
        session.getRNGState()
    options.enableLoadAndOffloadRNGState = True
    session, *_ = inference(options, ipus())
    state = session.getRNGState()
    assert len(state) == 4 * 6 * 4  # tiles, workers, words
    changed = list(range(1, len(state) + 1))
    session.setRNGState(changed)
    assert session.getRNGState() == changed
    np.testing.assert_array_equal(run(session, [1, 1])["Mul:0"], [5, 6])
    with pytest.raises(error, match="the state has 3 words; that of this "
                       "device has 96"):
        session.setRNGState([1, 2, 3])


def test_files_of_external_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2], "x")
    w = builder.addInitializedInputTensor(np.ones(2, np.float32), "w")
    loss = total(builder, builder.aiOnnx.mul([x, w]))
    builder.saveInitializersExternally([w], "old.bin")
    builder.saveModelProto("m.onnx")
    session = popart.TrainingSession(
        "m.onnx", popart.DataFlow(1, [loss]), loss, popart.ConstSGD(1.0),
        cpu())
    session.prepareDevice()
    session.weightsFromHost()
    move = session.updateExternallySavedTensorLocations
    with pytest.raises(error, match="there is no file"):
        move("none.bin", "new.bin")
    with pytest.raises(error, match="already"):
        move("old.bin", "m.onnx")
    (tmp_path / "other.bin").write_bytes(b"")
    with pytest.raises(error, match="no initialiser is in 'other.bin'"):
        move("other.bin", "new.bin")
    run(session, [3, 4])
    move("old.bin", "new.bin")
    session.modelToHost("trained.onnx")
    np.testing.assert_array_equal(np.fromfile("new.bin", np.float32),
                                  [-2, -3])
    np.testing.assert_array_equal(np.fromfile("old.bin", np.float32), [1, 1])


# Devices.


def test_devices_on_demand():
    manager = popart.DeviceManager()
    manager.setOnDemandAttachTimeout(0)
    device = manager.acquireAvailableDevice(
        1, connectionType=popart.DeviceConnectionType.OnDemand)
    assert not device.isAttached
    session, *_ = inference(device=device)
    assert device.isAttached
    device.detach()
    assert device.tryAttachUntilTimeout()
    with pytest.raises(error, match="createOfflineIPUDevice"):
        manager.acquireAvailableDevice(
            1, connectionType=popart.DeviceConnectionType.Never)
    assert manager.tryAcquireDeviceById(9999) is None
    with pytest.raises(error, match="Failed to acquire device 9999"):
        manager.acquireDeviceById(9999)


def test_more_kinds_of_devices():
    manager = popart.DeviceManager()
    offline = manager.createOfflineIpuFromSystemString("ipu2", 2)
    assert (offline.numIpus, offline.tilesPerIPU) == (2, 1472)
    assert offline.version == "<offline-ipu>"
    like = manager.createOfflineIpuFromDeviceInfo(ipus(2))
    assert (like.numIpus, like.tilesPerIpu) == (2, 4)
    assert manager.createSimDevice({}).type == popart.DeviceType.Sim
    assert ipus().tilesPerIPU == 4
