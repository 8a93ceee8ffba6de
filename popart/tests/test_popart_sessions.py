"""Sessions: what goes in and out of them beside steps, and their errors."""
import ctypes
import json
import os
import subprocess
import sys

import numpy as np
import onnx
import popart
import pytest
from onnx import numpy_helper

error = popart.popart_exception


def cpu():
    return popart.DeviceManager().createCpuDevice()


def ipus(count=1):
    return popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": count, "tilesPerIPU": 4})


def total(builder, x):
    return builder.customOp("IdentityLoss", 1, "ai.graphcore", [x],
                            {"reduction": int(popart.ReductionType.Sum)})[0]


def model(start=(5.0, 6.0), settings=None, replicas=1):
    """loss = sum(w * x): each step of SGD takes x from w."""
    builder = popart.Builder()
    if settings:
        builder.embedReplicationFactor(replicas)
    x = builder.addInputTensor("FLOAT", [2], "x")
    w = builder.addInitializedInputTensor(
        np.array(start, np.float32), settings or popart.VariableSettings(),
        "w")
    y = builder.aiOnnx.mul([x, w])
    loss = total(builder, y)
    builder.addOutputTensor(loss)
    return builder.getModelProto(), x, w, y, loss


def inference(options=None, device=None, steps=1, **arguments):
    proto, x, w, y, _ = model(**arguments)
    session = popart.InferenceSession(
        proto, popart.DataFlow(steps, [y]), device or cpu(),
        userOptions=options)
    session.prepareDevice()
    return session, x, w, y


def run(session, values, name="x"):
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({name: np.array(values, np.float32)}, anchors))
    return anchors


def replicated(count):
    options = popart.SessionOptions()
    options.enableReplicatedGraphs = True
    options.replicatedGraphCount = count
    return options


# Weights of groups of replicas.

GROUPS = [
    ("Consecutive", 2, [[1, 1], [2, 2]], [0, 0, 1, 1]),
    ("Orthogonal", 2, [[1, 1], [2, 2]], [0, 1, 0, 1]),
    ("None", 0, [[1, 1], [2, 2], [3, 3], [4, 4]], [0, 1, 2, 3]),
    ("All", 0, [1, 1], [0, 0, 0, 0]),
]


@pytest.mark.parametrize("kind, size, start, groups", GROUPS)
@pytest.mark.parametrize("constant", [True, False])
def test_groups_of_replicas_have_weights_of_their_own(kind, size, start,
                                                      groups, constant):
    settings = popart.VariableSettings(
        popart.CommGroup(getattr(popart.CommGroupType, kind), size))
    options = replicated(4)
    options.constantWeights = constant
    session, x, w, y = inference(options, ipus(4), start=start,
                                 settings=settings, replicas=4)
    if not constant:
        session.weightsFromHost()
    found = run(session, np.ones((4, 2)))[y]
    wanted = np.array(start).reshape(-1, 2)[groups]
    np.testing.assert_array_equal(found, wanted)
    if constant and kind == "All":
        with pytest.raises(error, match="constantWeights is set"):
            session.writeWeights(popart.PyWeightsIO({}))


def train(kind, size, start, mode, accumulate=False, optimizer=None):
    settings = popart.VariableSettings(
        popart.CommGroup(getattr(popart.CommGroupType, kind), size),
        getattr(popart.VariableRetrievalMode, mode))
    options = replicated(4)
    if accumulate:
        options.enableGradientAccumulation = True
        options.accumulationFactor = 2
    proto, x, w, _, loss = model(start, settings, 4)
    session = popart.TrainingSession(
        proto, popart.DataFlow(1, [loss]), loss,
        optimizer or popart.ConstSGD(1.0), ipus(4), userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    micro = 2 if accumulate else 1
    # Replica r has (10 to the r) as its gradient in each micro-batch.
    gradients = np.array([[1, 1], [10, 10], [100, 100], [1000, 1000]])
    run(session, np.array([gradients] * micro))
    session.weightsToHost()
    return session, w, gradients * micro


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("kind, size, start, groups", GROUPS)
def test_groups_are_trained_by_their_own_replicas(kind, size, start, groups,
                                                  accumulate):
    session, w, gradients = train(kind, size, start, "OnePerGroup",
                                  accumulate)
    weights = {w: np.zeros(np.shape(start), np.float32)}
    session.readWeights(popart.PyWeightsIO(weights))
    wanted = np.array(start, np.float32).reshape(-1, 2)
    for replica, group in enumerate(groups):
        wanted[group] -= gradients[replica]
    np.testing.assert_array_equal(weights[w].reshape(-1, 2), wanted)


def test_every_replica_may_return_its_weights():
    session, w, _ = train("Consecutive", 2, [[0, 0], [0, 0]], "AllReplicas")
    weights = {w: np.zeros((4, 2), np.float32)}
    session.readWeights(popart.PyWeightsIO(weights))
    np.testing.assert_array_equal(
        weights[w], [[-11, -11], [-11, -11], [-1100, -1100], [-1100, -1100]])
    # It may be written as it was read, or a value for each group.
    weights[w][:] = [[1, 1], [9, 9], [2, 2], [9, 9]]
    session.writeWeights(popart.PyWeightsIO(weights))
    back = {w: np.zeros((4, 2), np.float32)}
    session.readWeights(popart.PyWeightsIO(back))
    np.testing.assert_array_equal(back[w], [[1, 1], [1, 1], [2, 2], [2, 2]])
    session.writeWeights(popart.PyWeightsIO(
        {w: np.array([[3, 3], [4, 4]], np.float32)}))
    session.readWeights(popart.PyWeightsIO(back))
    np.testing.assert_array_equal(back[w], [[3, 3], [3, 3], [4, 4], [4, 4]])
    with pytest.raises(error, match="has 6 elements"):
        session.writeWeights(popart.PyWeightsIO(
            {w: np.zeros((3, 2), np.float32)}))


def test_grouped_weights_and_their_state_are_saved(tmp_path):
    optimizer = popart.SGD({"defaultLearningRate": (1.0, True),
                            "defaultMomentum": (0.5, True)})
    session, w, _ = train("Consecutive", 2, [[0, 0], [0, 0]], "OnePerGroup",
                          optimizer=optimizer)
    session.modelToHost(str(tmp_path / "m.onnx"))
    saved = {t.name: numpy_helper.to_array(t)
             for t in onnx.load(str(tmp_path / "m.onnx")).graph.initializer}
    np.testing.assert_array_equal(saved[w], [[-11, -11], [-1100, -1100]])
    state = saved[popart.reservedAcclPrefix() + w]
    assert state.shape == (2, 2)
    assert state[1, 0] == 100 * state[0, 0]
    session.resetHostWeights(str(tmp_path / "m.onnx"))


def test_retrieval_by_reduction_is_refused():
    settings = popart.VariableSettings(
        popart.VariableRetrievalMode.AllReduceReplicas)
    with pytest.raises(error, match="AllReduceReplicas is not supported"):
        inference(replicated(2), ipus(2), settings=settings, replicas=2)


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


# Reports and files.


def test_cycles_are_counted():
    options = popart.SessionOptions()
    session, *_ = inference(options)
    with pytest.raises(error, match="'instrumentWithHardwareCycleCounter' "
                       "must be set to true"):
        session.getCycleCount()
    options.instrumentWithHardwareCycleCounter = True
    options.hardwareInstrumentations = {popart.Instrumentation.Outer,
                                        popart.Instrumentation.Inner}
    session, *_ = inference(options, ipus(), steps=4)
    with pytest.raises(error, match="Must call run before getCycleCount"):
        session.getCycleCount()
    run(session, np.ones((4, 2)))
    cycles = session.getCycleCount()
    assert session.getCycleCount("inner_ipu_0") == cycles // 4
    with pytest.raises(error, match="Invalid id for cycle counter, 'outer'"):
        session.getCycleCount("outer")
    run(session, np.ones((4, 2)))
    assert session.getCycleCount() == cycles
    summary = session.getSummaryReport()
    assert f"Total cycles: {cycles:,}" in " ".join(summary.split())


def test_summaries_start_again():
    session, *_ = inference(device=ipus())
    run(session, [1, 1])
    first = session.getSummaryReport(False)
    assert session.getSummaryReport() == first
    assert "inference" in first
    assert "Total cycles: 0" in " ".join(session.getSummaryReport().split())
    with pytest.raises(error, match="use getSummaryReport"):
        session.getReport()
    assert len(session.getSerializedGraph()) > 100


def test_cached_programs_have_reports_too(tmp_path):
    options = popart.SessionOptions()
    options.enableEngineCaching = True
    options.cachePath = str(tmp_path)
    summaries = []
    for _ in range(2):
        session, *_ = inference(options, ipus())
        run(session, [1, 1])
        summaries.append(session.getSummaryReport())
    assert len(list(tmp_path.iterdir())) == 1
    assert summaries[0] == summaries[1]
    (file,) = tmp_path.iterdir()
    file.unlink()
    session.updateEngineCache()
    assert file.exists()


def test_out_of_memory_with_a_report():
    options = popart.SessionOptions()
    options.engineOptions["debug.allowOutOfMemory"] = "true"
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [1 << 20])
    y = builder.aiOnnx.relu([x])
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [y]),
        popart.DeviceManager().acquireAvailableDevice(1, tilesPerIpu=2),
        userOptions=options)
    with pytest.raises(popart.OutOfMemoryException) as caught:
        session.prepareDevice()
    assert "Memory Usage" in caught.value.getSummaryReport()
    with pytest.raises(error, match="use getSummaryReport"):
        caught.value.getProfilePath()


def test_the_ir_as_json():
    session, x, w, y = inference()
    (op,) = json.loads(session._serializeIr(
        popart.IrSerializationFormat.JSON))["maingraph"]
    assert op["type"] == "Mul"
    assert [t["name"] for t in op["inputs"]] == [x, w]
    assert op["outputs"] == [{"name": y, "index": 0, "type": "FLOAT",
                              "shape": [2]}]
    session.checkInplacingAmbiguity()


def test_sessions_from_an_ir():
    ir = inference()[0].getIr()
    session = popart.InferenceSession.fromIr(ir, cpu())
    session.prepareDevice()
    np.testing.assert_array_equal(run(session, [1, 1])["Mul:0"], [5, 6])
    assert session.dataFlow.batchesPerStep() == 1


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


def test_compilation_reports_its_progress():
    calls = []
    options = popart.SessionOptions()
    options.compilationProgressTotal = 300
    options.compilationProgressLogger = lambda done, total: calls.append(
        (done, total))
    inference(options)
    assert calls[0] == (0, 300) and calls[-1] == (300, 300)
    assert calls == sorted(calls)


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


def test_the_log_shows_what_sessions_do(tmp_path):
    file = tmp_path / "log.txt"
    levels = tmp_path / "levels.json"
    levels.write_text('{"session": "INFO", "all": "OFF"}')
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np, popart\n"
        "b = popart.Builder()\n"
        "y = b.aiOnnx.relu([b.addInputTensor('FLOAT', [1])])\n"
        "s = popart.InferenceSession(b.getModelProto(), popart.DataFlow(1,\n"
        "    [y]), popart.DeviceManager().createCpuDevice())\n"
        "s.prepareDevice()\n"
        "s.setRandomSeed(1)\n")
    subprocess.run(
        [sys.executable, str(script)], check=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path),
             "POPART_LOG_CONFIG": str(levels), "POPART_LOG_DEST": str(file),
             "POPART_LOG_FORMAT": "%n %L %v"})
    assert file.read_text().splitlines() == [
        "popart:session I compiling inference",
        "popart:session W setRandomSeed changes nothing: the model has no "
        "random numbers"]


def test_debug_information_is_recorded(tmp_path):
    file = tmp_path / "debug.json"
    popart.initializePoplarDebugInfo(str(file))
    inference()
    popart.closePoplarDebugInfo()
    assert isinstance(json.loads(file.read_text()), list)
    with pytest.raises(error, match="there are json and cbor"):
        popart.initializePoplarDebugInfo(str(file), "xml")
