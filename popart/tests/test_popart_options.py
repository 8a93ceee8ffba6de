"""Options that contradict each other, and those that change what they say."""
import numpy as np
import onnx
import popart
import pytest

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
    (dict(kahnTieBreaker="alphabet"), "unknown value 'alphabet'"),
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
