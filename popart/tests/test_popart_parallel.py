"""Options that change the machine program, as programs in Python set them."""
import numpy as np
import popart
import pytest


def layers(count, width):
    """Products by matrices, a layer in each phase; the loss is their sum."""
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2, width], "x")
    random = np.random.default_rng(1)
    weights = [random.normal(size=(width, width)).astype(np.float32) / width
               for _ in range(count)]
    y = x
    for phase, weight in enumerate(weights):
        with builder.executionPhase(phase), builder.virtualGraph(phase % 2):
            w = builder.addInitializedInputTensor(weight, f"w{phase}")
            y = builder.aiOnnx.matmul([y, w])
    with builder.executionPhase(count - 1), builder.virtualGraph(
            (count - 1) % 2):
        loss = builder.customOp("IdentityLoss", 1, "ai.graphcore", [y],
                                {"reduction": 0})[0]
    return builder.getModelProto(), x, weights, y, loss


def phased_options(count):
    options = popart.SessionOptions()
    options.virtualGraphMode = popart.VirtualGraphMode.ExecutionPhases
    options.executionPhaseSettings.phases = count
    options.executionPhaseSettings.stages = 2
    options.numIOTiles = 128
    location = popart.TensorLocation()
    location.storage = popart.TensorStorage.OffChip
    location.loadTileSet = popart.TileSet.IO
    location.storageTileSet = popart.TileSet.IO
    options.weightTensorLocationSettings.location = location
    options.constantWeights = False
    options.engineOptions = {"debug.allowOutOfMemory": "true"}
    return options


def two_ipus():
    return popart.DeviceManager().acquireAvailableDevice(
        2, pattern=popart.SyncPattern.ReplicaAndLadder)


@pytest.mark.parametrize("trains", [False, True])
def test_execution_phases_with_weights_off_chip(trains):
    model, x, weights, y, loss = layers(count=4, width=8)
    flow = popart.DataFlow(1, {y: popart.AnchorReturnType("All")})
    if trains:
        session = popart.TrainingSession(
            model, flow, loss, popart.ConstSGD(0.5), two_ipus(),
            userOptions=phased_options(4))
    else:
        session = popart.InferenceSession(
            model, flow, two_ipus(), userOptions=phased_options(4))
    session.prepareDevice()
    session.weightsFromHost()
    data = np.random.default_rng(2).normal(size=(2, 8)).astype(np.float32)
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({x: data}, anchors))
    expected = data
    for weight in weights:
        expected = expected @ weight
    np.testing.assert_allclose(anchors[y], expected, rtol=1e-5, atol=1e-6)


def test_phases_need_their_mode():
    model, _, _, y, _ = layers(count=4, width=8)
    options = phased_options(4)
    options.virtualGraphMode = popart.VirtualGraphMode.Manual
    with pytest.raises(popart.popart_exception, match="execution phases"):
        popart.InferenceSession(
            model, popart.DataFlow(1, {y: popart.AnchorReturnType("All")}),
            two_ipus(), userOptions=options)


@pytest.mark.parametrize("tiles", [2, 33, 4096])
def test_io_tiles_are_even_and_not_all(tiles):
    model, _, _, y, _ = layers(count=4, width=8)
    options = phased_options(4)
    options.numIOTiles = tiles
    with pytest.raises(popart.popart_exception, match="numIOTiles"):
        popart.InferenceSession(
            model, popart.DataFlow(1, {y: popart.AnchorReturnType("All")}),
            two_ipus(), userOptions=options)


@pytest.mark.parametrize("strategy", ["JustInTime", "OverlapInnerLoop",
                                      "OverlapLoops"])
def test_overlapped_transfers_bring_the_same_values(strategy):
    strategy = getattr(popart.ExchangeStrategy, strategy)
    builder = popart.Builder()
    x = builder.addInputTensor(
        popart.TensorInfo("FLOAT", [3]),
        popart.InputSettings(popart.TileSet.IO, strategy), "x")
    y = builder.aiOnnx.add([x, x])
    anchor = popart.AnchorReturnType("All", tileSet=popart.TileSet.IO,
                                     exchangeStrategy=strategy)
    options = popart.SessionOptions()
    options.enableExplicitIR(True)
    options.numIOTiles = 32
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(4, {y: anchor}),
        popart.DeviceManager().acquireAvailableDevice(1), userOptions=options)
    session.prepareDevice()
    data = np.arange(12, dtype=np.float32).reshape(4, 3)
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({x: data}, anchors))
    np.testing.assert_array_equal(anchors[y], 2 * data)
