"""What anchors return: every return type by batches of a step, accumulation and
replicas, sharded and pipelined, against tables that NumPy makes."""
import itertools

import numpy as np
import popart
import pytest


def numbered(device_iterations, accumulation, replicas, size=3):
    """[batch][accumulation][replica] of micro-batches, no two numbers equal."""
    shape = (device_iterations, accumulation, replicas, size)
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def expected(kind, period, x):
    """What is documented, counted by hand from the inputs."""
    batches, accumulation, replicas = x.shape[:3]
    steps = x.reshape(batches * accumulation, *x.shape[2:])
    if kind == "Final":
        result = steps[-1]
    elif kind == "Sum":
        result = steps.sum(0)
    else:
        period = period if kind == "EveryN" else 1
        result = steps[period - 1::period].reshape(
            batches // period, accumulation, replicas, *x.shape[3:])
    leading = result.ndim - 1
    return result.reshape([n for n in result.shape[:leading] if n != 1] +
                          [x.shape[3]])


def options_of(accumulation, replicas, is_pipelined):
    options = popart.SessionOptions()
    if accumulation > 1 or is_pipelined:
        options.enableGradientAccumulation = True
        options.accumulationFactor = accumulation
    if replicas > 1:
        options.enableReplicatedGraphs = True
        options.replicatedGraphCount = replicas
    if is_pipelined:
        options.virtualGraphMode = popart.VirtualGraphMode.Manual
        options.enablePipelining = True
    return options


def run(x, anchors, is_pipelined=False):
    """Arrays of x + 1 in stage 0 and of (x + 1) * w in stage 1, w being 2."""
    builder = popart.Builder()
    batches, accumulation, replicas, size = x.shape
    x_id = builder.addInputTensor("FLOAT", [size], "x")
    w = builder.addInitializedInputTensor(np.full([size], 2, np.float32), "w")
    one = builder.aiOnnx.constant(np.ones([size], np.float32))
    with builder.virtualGraph(0), builder.pipelineStage(0):
        y = builder.aiOnnx.add([x_id, one])
    last = int(is_pipelined)
    with builder.virtualGraph(last), builder.pipelineStage(last):
        z = builder.aiOnnx.mul([y, w])
        # Nothing to learn: z stays what it is.
        loss = builder.aiGraphcore.l1loss([z], 0.0)
    flow = {name: anchors for name in (y, z)}
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(batches, flow), loss,
        popart.ConstSGD(0.1), popart.DeviceManager().createIpuModelDevice(
            {"numIPUs": replicas * (last + 1)}),
        userOptions=options_of(accumulation, replicas, is_pipelined))
    session.prepareDevice()
    session.weightsFromHost()
    arrays = session.initAnchorArrays()
    session.run(popart.PyStepIO({x_id: x}, arrays))
    return arrays[y], arrays[z]


KINDS = [("All", 1), ("Final", 1), ("Sum", 1), ("EveryN", 1), ("EveryN", 2),
         ("EveryN", 3), ("EveryN", 4), ("EveryN", 6)]


@pytest.mark.parametrize("executor", ["fast", "reference"])
@pytest.mark.parametrize("kind, period", KINDS)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("is_pipelined", [False, True])
def test_anchors_are_those_of_the_table(kind, period, replicas, is_pipelined,
                                        executor, monkeypatch):
    monkeypatch.setenv("ASPEN_EXECUTOR", executor)
    for batches, accumulation in itertools.product((1, 2, 4, 6, 12),
                                                   (1, 2, 3, 4)):
        if batches % period or (is_pipelined and accumulation < 3):
            continue
        x = numbered(batches, accumulation, replicas)
        anchors = (popart.AnchorReturnType(kind, period) if kind == "EveryN"
                   else popart.AnchorReturnType(kind))
        y, z = run(x, anchors, is_pipelined)
        what = f"{batches} batches, accumulation {accumulation}"
        np.testing.assert_array_equal(y, expected(kind, period, x + 1), what)
        np.testing.assert_array_equal(z, expected(kind, period, 2 * x + 2),
                                      what)


def test_every_second_micro_batch():
    """Two batches of two: the second and the fourth micro-batch."""
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 2, 1, 2)
    y, _ = run(x - 1, popart.AnchorReturnType("EveryN", 2))
    np.testing.assert_array_equal(y, [[3, 4], [7, 8]])


def test_anchors_of_two_periods():
    x = numbered(6, 2, 1)
    builder = popart.Builder()
    x_id = builder.addInputTensor("FLOAT", [3], "x")
    names = [builder.aiOnnx.neg([x_id]), builder.aiOnnx.abs([x_id])]
    loss = builder.aiGraphcore.l1loss([builder.aiOnnx.add(names)], 1.0)
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(6, {
            name: popart.AnchorReturnType("EveryN", period)
            for name, period in zip(names, (2, 3))}), loss,
        popart.ConstSGD(0.1), popart.DeviceManager().createCpuDevice(),
        userOptions=options_of(2, 1, False))
    session.prepareDevice()
    session.weightsFromHost()
    arrays = session.initAnchorArrays()
    session.run(popart.PyStepIO({x_id: x}, arrays))
    np.testing.assert_array_equal(arrays[names[0]], -expected("EveryN", 2, x))
    np.testing.assert_array_equal(arrays[names[1]], expected("EveryN", 3, x))
