"""Options that contradict each other, and those that change what they say."""
import numpy as np
import onnx
import popart
import pytest
import torch

error = popart.popart_exception


def ipus(count=1, tiles=4):
    return popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": count, "tilesPerIPU": tiles})


def make(options, device=None, steps=1):
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [64], "x")
    y = builder.aiOnnx.relu([x])
    return popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(steps, [y]),
        device or ipus(), userOptions=options)


def set_all(options, **values):
    for name, value in values.items():
        target = options
        *path, last = name.split("__")
        for part in path:
            target = getattr(target, part)
        setattr(target, last, value)


@pytest.mark.parametrize("values, message", [
    (dict(enableReplicatedGraphs=True, replicatedGraphCount=3),
     "number of IPUs must be divisible by the replication factor"),
    (dict(enableReplicatedGraphs=True, replicatedGraphCount=0),
     "replicat"),
    (dict(enableGradientAccumulation=True, accumulationFactor=2),
     "Gradient Accumulation only available when training"),
    (dict(enableDistributedReplicatedGraphs=True, globalReplicationFactor=0),
     "globalReplicationFactor .0. must be at least 1"),
    (dict(enableDistributedReplicatedGraphs=True, globalReplicationFactor=2,
          globalReplicaOffset=3), "globalReplicaOffset .3. must be from 0"),
    (dict(enableDistributedReplicatedGraphs=True, globalReplicationFactor=2,
          replicatedGraphCount=4), "is more than globalReplicationFactor"),
    (dict(enableDistributedReplicatedGraphs=True, globalReplicationFactor=2,
          enableReplicatedGraphs=True),
     "Local replicated graphs enabled but replication factor is 1"),
    (dict(enableExplicitMainLoops=True),
     "enableExplicitMainLoops requires useHostCopyOps"),
    (dict(batchSerializationSettings__factor=2,
          batchSerializationSettings__method=(
              popart.BatchSerializationMethod.Loop)), "Loop"),
    (dict(aliasZeroCopy=True,
          autoRecomputation=popart.RecomputationType.Standard),
     "aliasZeroCopy"),
    (dict(kahnTieBreaker="alphabet"), "Unrecognised KahnTieBreaker, alphabet"),
    (dict(gclOptions={"method": "ring"}), "unknown option 'method'"),
    (dict(enablePipelining=True), "Pipelining requires more than 1 IPU"),
    (dict(virtualGraphMode=popart.VirtualGraphMode.Manual),
     "no Ops have been annotated|annotated"),
])  # fmt: skip
def test_contradictions_are_refused(values, message):
    options = popart.SessionOptions()
    set_all(options, **values)
    with pytest.raises(error, match=message):
        make(options, ipus(4))


def test_models_of_other_opsets_are_refused():
    builder = popart.Builder()
    builder.aiOnnx.relu([builder.addInputTensor("FLOAT", [1])])
    model = onnx.load_from_string(builder.getModelProto())
    model.opset_import[0].version = 5
    with pytest.raises(error, match="Encountered ONNX opset version 5, "
                       "Maximimum supported opset is"):
        popart.Builder(model.SerializeToString())


def cycles_and_memory(options, steps=4):
    options.instrumentWithHardwareCycleCounter = True
    session = make(options, steps=steps)
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    x = np.arange(-32 * steps, 32 * steps, dtype=np.float32)
    session.run(popart.PyStepIO({"x": x}, anchors))
    np.testing.assert_array_equal(anchors["Relu:0"].ravel(),
                                  np.maximum(x, 0))
    return session.getCycleCount()


def test_anchors_put_in_order_on_the_device_take_time():
    options = popart.SessionOptions()
    on_host = cycles_and_memory(options)
    options.rearrangeAnchorsOnHost = False
    assert cycles_and_memory(options) > on_host


def test_codelets_are_added(tmp_path):
    options = popart.SessionOptions()
    options.customCodelets.append(str(tmp_path / "none.cpp"))
    session = make(options)
    with pytest.raises(popart.poplar_exception, match="none.cpp"):
        session.prepareDevice()
    file = tmp_path / "codelet.cpp"
    file.write_text("#include <poplar/Vertex.hpp>\n"
                    "struct V : poplar::Vertex {\n"
                    "  poplar::Output<int> y;\n"
                    "  void compute() { *y = VALUE; }\n};\n")
    options.customCodelets = [str(file)]
    options.customCodeletCompileFlags = "-DVALUE=3"
    make(options).prepareDevice()


def test_options_inside_options_write_through():
    options = popart.SessionOptions()
    settings = options.experimentalSettings.customTransformApplierSettings
    settings["Fwd0"] = ["Mine"]
    assert options.experimentalSettings.customTransformApplierSettings == {
        "Fwd0": ["Mine"]}
    options.gclOptions["maxBytesPerTile"] = "1000"
    assert dict(options.gclOptions) == {"maxBytesPerTile": "1000"}
    options.bufferingDepthMap = {"x": 2}
    options.prefetchBufferingDepthMap["y"] = 3
    assert options.bufferingDepthMap == {"x": 2, "y": 3}


@pytest.mark.parametrize("strided", [False, True])
def test_channels_of_a_group_are_neighbours_or_strided(strided):
    """Two groups of six channels: 0 1 2 and 3 4 5, or 0 2 4 and 1 3 5."""
    generator = np.random.default_rng(3)
    data = generator.standard_normal((2, 6, 4)).astype(np.float32)
    scale = generator.standard_normal(6).astype(np.float32)
    weights = generator.standard_normal(data.shape).astype(np.float32)
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    x = builder.addInputTensor("FLOAT", data.shape, "x")
    gamma = builder.addInitializedInputTensor(scale, "gamma")
    beta = builder.addInitializedInputTensor(scale * 0, "beta")
    y = builder.aiGraphcore.groupnormalization([x, gamma, beta], 2)[0]
    product = builder.aiOnnx.mul([y, builder.aiOnnx.constant(weights)])
    loss = builder.aiGraphcore.identityloss([product], popart.ReductionType.Sum)
    options = popart.SessionOptions()
    options.groupNormStridedChannelGrouping = strided
    names = [y, "Gradient___x", "Gradient___gamma"]
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, names), loss,
        popart.ConstSGD(0.1), ipus(), userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    found = session.initAnchorArrays()
    session.run(popart.PyStepIO({x: data}, found))
    order = [0, 2, 4, 1, 3, 5] if strided else list(range(6))
    tensor = torch.tensor(data, requires_grad=True)
    factor = torch.tensor(scale, requires_grad=True)
    grouped = torch.nn.functional.group_norm(
        tensor[:, order], 2)[:, np.argsort(order)]
    expected = grouped * factor[:, None]
    (expected * torch.tensor(weights)).sum().backward()
    for name, value in zip(names, (expected.detach(), tensor.grad, factor.grad)):
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5)
