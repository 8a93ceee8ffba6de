"""The package popart: what programs see of it."""
import inspect
import os
import subprocess
import sys

import numpy as np
import popart
import pytest


def cpu():
    return popart.DeviceManager().createCpuDevice()


def small_model(start=(5.0, 6.0)):
    """loss = sum(w * x): each step of SGD takes x from w."""
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2], "x")
    w = builder.addInitializedInputTensor(np.array(start, np.float32), "w")
    product = builder.aiOnnx.mul([x, w])
    loss = builder.customOp("IdentityLoss", 1, "ai.graphcore", [product],
                            {"reduction": 0})[0]
    builder.addOutputTensor(loss)
    return builder.getModelProto(), x, w, product, loss


def training(**arguments):
    model, x, w, _, loss = small_model()
    session = popart.TrainingSession(
        model, popart.DataFlow(1, {loss: popart.AnchorReturnType("Final")}),
        loss, popart.ConstSGD(1.0), cpu(), **arguments)
    session.prepareDevice()
    session.weightsFromHost()
    return session, x, w, loss


def step(session, x, values=(1.0, 2.0)):
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({x: np.array(values, np.float32)}, anchors))
    return anchors


def test_versions():
    assert popart.versionString() == popart.__version__
    assert popart.versionNumber() == (3, 3, 0)
    assert isinstance(popart.packageHash(), str)
    assert popart.defaultAiOnnxOpset == 10


def test_tensor_info_takes_names_types_and_arrays():
    wanted = popart.TensorInfo("FLOAT16", [2, 3])
    assert popart.TensorInfo(np.float16, (2, 3)) == wanted
    assert popart.TensorInfo(popart.DataType.FLOAT16, (2, 3)) == wanted
    assert popart.TensorInfo(np.zeros((2, 3), np.float16)) == wanted
    assert wanted.shape() == [2, 3]
    assert wanted.data_type_lcase() == "float16"
    assert (wanted.rank(), wanted.nelms(), wanted.nbytes()) == (2, 6, 12)
    with pytest.raises(TypeError, match="Can not create TensorInfo with args"):
        popart.TensorInfo(3)


def test_first_opset_is_the_builders():
    builder = popart.Builder()
    builder.aiOnnxOpset9
    assert builder.aiOnnx.version == 9
    with pytest.raises(RuntimeError, match="Invalid opset 'aiOnnxOpset10' "
                       "selected. Opset for domain ai.onnx already defined "
                       "as 9"):
        builder.aiOnnxOpset10
    assert popart.Builder(opsets={"ai.onnx": 11}).aiOnnx.version == 11


def test_methods_have_the_documented_signatures():
    def names(method):
        return list(inspect.signature(method).parameters)[1:]

    assert names(popart.AiOnnxOpset10.conv) == [
        "args", "dilations", "group", "kernel_shape", "pads", "strides",
        "debugContext"]
    assert names(popart.AiOnnxOpset10.constant) == ["value", "debugContext"]
    assert names(popart.AiOnnxOpset11.constant) == [
        "value", "is_value_sparse", "debugContext"]
    assert names(popart.AiGraphcoreOpset1.nllloss) == [
        "args", "reduction", "ignoreIndex", "inputIsLogProbability",
        "debugContext"]
    parameters = inspect.signature(popart.AiOnnxOpset10.reducesum).parameters
    assert parameters["axes"].default is None
    assert parameters["keepdims"].default == 1
    assert not hasattr(popart.AiOnnxOpset6, "acos")
    assert hasattr(popart.AiOnnxOpset10, "logical_and")


def test_scopes_mark_nodes():
    builder = popart.Builder()
    x = builder.addInputTensor(popart.TensorInfo("FLOAT", [2]))
    ops = builder.aiOnnx
    with builder.virtualGraph(1), builder.nameScope("outer"):
        a = ops.relu([x])
        with builder.virtualGraph(2):
            b = ops.relu([a])
        c = ops.relu([b])
    d = ops.relu([c])
    assert a == "outer/Relu:0"
    assert [builder.getVirtualGraph(y) for y in (a, b, c)] == [1, 2, 1]
    assert not builder.hasVirtualGraph(d)
    builder.pipelineStage(d, 3)
    assert builder.getPipelineStage([d]) == 3
    builder.recomputeOutputInBackwardPass(d)
    assert builder.getRecomputeOutputInBackwardPass(d)
    (kept,) = builder.checkpointOutput([d])
    assert kept == "Identity:0"
    builder.setAvailableMemoryProportion({a}, 0.5)
    assert builder.getFloatNodeAttribute("__available_memory", {a}) == 0.5


def test_values_of_custom_attributes():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2])

    def add(value):
        return builder.customOp("Cube", 1, "custom.ops", [x], {"a": value})

    assert add([1, 2]) == ["Cube:0"]
    assert builder.getFloatVectorNodeAttribute("a", set(add([0.5]))) == [0.5]
    with pytest.raises(popart.popart_exception,
                       match="Invalid type provided in custom op attribute"):
        add({})
    with pytest.raises(popart.popart_exception,
                       match="Invalid or mismatched python list type"):
        add([1, "a"])


def test_training_and_weights():
    session, x, w, loss = training()
    assert step(session, x)[loss] == 17
    weights = {w: np.zeros(2, np.float32)}
    session.weightsToHost()
    session.readWeights(popart.PyWeightsIO(weights))
    np.testing.assert_array_equal(weights[w], [4, 4])
    session.writeWeights(popart.PyWeightsIO({w: np.ones(2, np.float32)}))
    session.weightsFromHost()
    assert step(session, x)[loss] == 3
    with pytest.raises(popart.popart_exception, match="3 elements"):
        session.readWeights(
            popart.PyWeightsIO({w: np.zeros(3, np.float32)}))
    assert w in session.getTensorIds()
    assert session.getInfo(w).shape() == [2]
    assert session.accumulationFactor == 1


def test_gradients_can_be_anchored():
    model, x, w, product, loss = small_model()
    gradient = popart.reservedGradientPrefix() + w
    session = popart.TrainingSession(
        model, popart.DataFlow(2, [gradient, product]), loss,
        popart.SGD({"defaultLearningRate": (1.0, False)}), cpu())
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    assert anchors[product].shape == (2, 2)
    batches = np.array([[1, 2], [3, 4]], np.float32)
    session.run(popart.PyStepIO({x: batches}, anchors))
    np.testing.assert_array_equal(anchors[gradient], batches)
    # w is {5, 6} before the first batch and {4, 4} before the second.
    np.testing.assert_array_equal(anchors[product], [[5, 12], [12, 16]])
    session.updateOptimizerFromHost(
        popart.SGD({"defaultLearningRate": (0.5, False)}))
    with pytest.raises(popart.popart_exception,
                       match="New optimizer is not a valid replacement"):
        session.updateOptimizerFromHost(popart.ConstSGD(0.5))


def test_anchored_views_of_weights_are_those_of_the_forward_pass():
    builder = popart.Builder()
    w = builder.addInitializedInputTensor(np.array([[1, 2]], np.float32))
    turned = builder.aiOnnx.transpose([w], [1, 0])
    loss = builder.aiGraphcore.identityloss(
        [builder.aiOnnx.reducesum([turned], keepdims=0)])
    updated = "UpdatedVar___" + w
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [turned, updated]), loss,
        popart.ConstSGD(0.5), cpu())
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({}, anchors))
    np.testing.assert_array_equal(anchors[turned], [[1], [2]])
    np.testing.assert_array_equal(anchors[updated], [[0.5, 1.5]])


def test_constants_keep_their_rank():
    ops = popart.Builder().aiOnnx
    scalar = ops.constant(np.array(1, np.float32))
    assert ops._builder.getTensorShape(scalar) == []


def test_callbacks_serve_micro_batches():
    model, x, _, product, _ = small_model()
    session = popart.InferenceSession(
        model, popart.DataFlow(3, [product]), cpu())
    session.prepareDevice()
    log = []
    data = iter(np.arange(6, dtype=np.float32).reshape(3, 2))
    results = []

    def give(name, is_prefetch):
        log.append("in")
        return next(data)

    def take(name):
        results.append(np.zeros(2, np.float32))
        return results[-1]

    session.run(popart.PyStepIOCallback(
        give, lambda name: log.append("in done"), take,
        lambda name: log.append("out done")))
    np.testing.assert_array_equal(results, [[0, 6], [10, 18], [20, 30]])
    assert log[:2] == ["in", "in done"]
    assert log.count("out done") == 3


def test_step_io_is_checked():
    session, x, _, loss = training()
    anchors = session.initAnchorArrays()

    def run(array):
        session.run(popart.PyStepIO({x: array}, anchors))

    with pytest.raises(popart.popart_exception,
                       match="Unexpected number of input elements"):
        run(np.zeros(3, np.float32))
    with pytest.raises(popart.popart_exception, match="ascontiguousarray"):
        run(np.zeros((2, 2), np.float32)[:, 0])
    with pytest.raises(popart.popart_exception, match="Type discrepancy"):
        run(np.zeros(2, np.float16))
    with pytest.raises(popart.popart_exception, match="no input was given"):
        session.run(popart.PyStepIO({}, anchors))


def test_options_are_changed_in_place():
    options = popart.SessionOptions()
    options.engineOptions["debug.allowOutOfMemory"] = "true"
    assert options.engineOptions == {"debug.allowOutOfMemory": "true"}
    options.engineOptions = {"a": "b"}
    assert dict(options.engineOptions) == {"a": "b"}
    del options.engineOptions["a"]
    assert len(options.engineOptions) == 0
    options.customCodelets.append("a.cpp")
    assert list(options.customCodelets) == ["a.cpp"]
    options.weightTensorLocationSettings.location.storage = (
        popart.TensorStorage.OffChip)
    assert (options.weightTensorLocationSettings.location.storage ==
            popart.TensorStorage.OffChip)
    options.tensorLocationSettingsOverride["w"] = popart.TensorLocation()
    options.executionPhaseSettings.phases = 2
    assert options.executionPhaseSettings.phases == 2
    options.enableExplicitIR(True)
    assert options.useHostCopyOps


@pytest.mark.parametrize("name, default", [
    ("virtualGraphMode", popart.VirtualGraphMode.Off),
    ("autoRecomputation", popart.RecomputationType.NoRecompute),
    ("accumulationFactor", 1),
    ("constantWeights", True),
    ("numIOTiles", 0),
    ("enableOutlining", True),
    ("outlineThreshold", 1.0),
    ("mergeVarUpdate", popart.MergeVarUpdateType.Off),
    ("rearrangeAnchorsOnHost", True),
    ("defaultPrefetchBufferingDepth", 1),
    ("cachePath", "session_cache"),
    ("kahnTieBreaker", "greedy"),
    ("hardwareInstrumentations", {popart.Instrumentation.Outer}),
    ("compilationProgressTotal", 100),
])  # fmt: skip
def test_option_defaults(name, default):
    assert getattr(popart.SessionOptions(), name) == default


def test_options_reach_the_session():
    options = popart.SessionOptions()
    options.accumulationFactor = 2
    with pytest.raises(popart.popart_exception,
                       match="enableGradientAccumulation is false"):
        training(userOptions=options)
    options.enableGradientAccumulation = True
    model, x, _, _, loss = small_model()
    session = popart.TrainingSession(
        model, popart.DataFlow(1, {loss: popart.AnchorReturnType("All")}),
        loss, popart.ConstSGD(1.0), cpu(), userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    assert step(session, x, [1, 2, 3, 4])[loss].shape == (2,)
    assert session.accumulationFactor == 2


def test_patterns():
    patterns = popart.Patterns(popart.PatternsLevel.Minimal)
    assert patterns.enablePattern("InPlace", True).isPatternEnabled("InPlace")
    patterns.PreUniRepl = True
    assert patterns.isPatternEnabled("PreUniRepl")
    with pytest.raises(popart.popart_exception, match="mandatory"):
        patterns.MatMulOp = False
    with pytest.raises(popart.popart_exception, match="did you mean InPlace"):
        patterns.enablePattern("Inplace", False)


def test_exceptions_have_the_documented_bases():
    assert issubclass(popart.popart_internal_exception,
                      popart.popart_exception)
    assert issubclass(popart.poplar_recoverable_runtime_error,
                      popart.poplar_system_runtime_error)
    assert issubclass(popart.OutOfMemoryException, popart.popart_exception)
    with pytest.raises(popart.popart_exception, match="Failed to load"):
        popart.Builder(b"no model")


def test_out_of_memory():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [1 << 20])
    y = builder.aiOnnx.relu([x])
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [y]),
        popart.DeviceManager().acquireAvailableDevice(1, tilesPerIpu=2))
    with pytest.raises(popart.OutOfMemoryException) as caught:
        session.prepareDevice()
    assert caught.value.error
    with pytest.raises(popart.popart_exception, match="allowOutOfMemory"):
        caught.value.getSummaryReport()


def test_devices():
    manager = popart.DeviceManager()
    with manager.createIpuModelDevice(
            {"numIPUs": 2, "tilesPerIPU": 8, "compileIPUCode": True}) as ipus:
        assert (ipus.numIpus, ipus.tilesPerIPU) == (2, 8)
        assert ipus.type == popart.DeviceType.IpuModel
    assert cpu().version == "<unknown-cpu>"
    with pytest.raises(popart.popart_exception, match="colour"):
        manager.createIpuModelDevice({"colour": "red"})
    with pytest.raises(popart.popart_exception, match="power of two"):
        manager.acquireAvailableDevice(3)
    with manager.acquireAvailableDevice(1) as device:
        assert device.tilesPerIPU == 1472
    assert manager.enumerateDevices()
    offline = manager.createOfflineIPUDevice({"numIPUs": 1})
    model, x, _, product, _ = small_model()
    session = popart.InferenceSession(model, popart.DataFlow(1, [product]),
                                      offline)
    session.prepareDevice()
    with pytest.raises(popart.popart_exception, match="Offline IPU device"):
        step(session, x)


def test_executables_and_models_in_files(tmp_path):
    session, x, w, loss = training()
    step(session, x)
    session.modelToHost(str(tmp_path / "m.onnx"))
    session.saveExecutable(str(tmp_path))
    assert (tmp_path / "executable.popef").exists()
    session.resetHostWeights(small_model((7.0, 8.0))[0])
    session.weightsFromHost()
    assert step(session, x)[loss] == 23
    reader = popart.InferenceSession(
        str(tmp_path / "m.onnx"), popart.DataFlow(1, [loss]), cpu())
    reader.prepareDevice()
    assert step(reader, x)[loss] == 12


def test_names_and_queries():
    assert popart.reservedAcclPrefix() == "Accl___"
    assert (popart.reservedDefaultLearningRatePrefix() ==
            "learningRate___default___")
    supported = popart.getSupportedOperations(False)
    assert popart.OperatorIdentifier("ai.onnx", "Add", 7) in supported
    assert all(opid.domain != "aspen" for opid in supported)
    assert "Unique" in {opid.type for opid in popart.getUnsupportedOperations(11)}
    assert popart.syncPatternFromString("full") == popart.SyncPattern.Full


def test_logging_goes_where_the_environment_says(tmp_path):
    file = tmp_path / "log.txt"
    subprocess.run(
        [sys.executable, "-c",
         "import popart; log = popart.getLogger('session');"
         "log.info('shown'); log.debug('hidden');"
         "popart.getLogger().setLevel('DEBUG'); log.debug('now')"],
        check=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path),
             "POPART_LOG_LEVEL": "INFO", "POPART_LOG_DEST": str(file)})
    lines = file.read_text().splitlines()
    assert [line.split()[-1] for line in lines] == ["shown", "now"]
    assert " popart:session " in lines[0] and " I: " in lines[0]


def test_indices_of_max_pool_are_refused_by_name():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [1, 1, 4, 4])
    pooled, indices = builder.aiOnnx.maxpool([x], 2, [2, 2])
    builder.addOutputTensor(indices)
    device = popart.DeviceManager().createIpuModelDevice({})
    with pytest.raises(popart.popart_exception,
                       match=r"MaxPool.*output 1 .* is not supported"):
        popart.InferenceSession(builder.getModelProto(),
                                popart.DataFlow(1, [indices]), device)
