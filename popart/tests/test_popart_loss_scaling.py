"""Automatic loss scaling: what programs anchor, save and get wrong."""
import numpy as np
import popart
import pytest

onnx = pytest.importorskip("onnx")

# Two of ten gradients are beyond 65504 / 8 at a scale of 1000: 10 * 1000.
X = np.array([[1.0] * 9 + [10.0]], np.float16)


def session_of(threshold=0.2, accumulation=1, replicas=1, batches=1,
               anchors=("finalLossScale",), model=None, scale=(1000.0, False),
               kind=popart.TrainingSession, **settings):
    """loss = sum(x * w) in FLOAT16: the gradient of w is x times the scale."""
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT16", [10], "x")
    w = builder.addInitializedInputTensor(np.zeros([10], np.float16), "w")
    loss = builder.aiGraphcore.identityloss([builder.aiOnnx.mul([x, w])],
                                            popart.ReductionType.Sum)
    builder.addOutputTensor(loss)
    options = popart.SessionOptions()
    options.automaticLossScalingSettings.enabled = True
    options.automaticLossScalingSettings.thresholdUpperCountProportion = (
        threshold)
    options.automaticLossScalingSettings.gradientTensorTrackingMethod = (
        popart.GradientTensorTrackingMethod.GradientsOfUserSpecifiedTensors)
    options.automaticLossScalingSettings.toTrackTensors = [w]
    for name, value in settings.items():
        setattr(options.automaticLossScalingSettings, name, value)
    if accumulation > 1:
        options.enableGradientAccumulation = True
        options.accumulationFactor = accumulation
    device = popart.DeviceManager().createCpuDevice()
    flow = popart.DataFlow(batches, list(anchors))
    model = model or builder.getModelProto()
    if kind == popart.InferenceSession:
        return kind(model, popart.DataFlow(1, [loss]), device,
                    userOptions=options)
    session = kind(model, flow, loss, popart.SGD(
        {"defaultLearningRate": (0.0, False), "lossScaling": scale}), device,
        userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    return session


def run(session, x):
    arrays = session.initAnchorArrays()
    session.run(popart.PyStepIO({"x": np.array(x, np.float16)}, arrays))
    return {name: array.tolist() for name, array in arrays.items()}


def test_the_scale_of_a_batch_is_the_factor_times_the_optimisers():
    session = session_of(batches=2, anchors=(
        "finalLossScale", "lossScaling_FLOAT16", "Gradient___w"))
    # One large of ten is no more than a quarter of the small ones.
    found = run(session, np.tile(X, (2, 1)))
    assert found["finalLossScale"] == [1000.0, 2000.0]
    assert found["lossScaling_FLOAT16"] == [1000.0, 1000.0]
    np.testing.assert_array_equal(found["Gradient___w"],
                                  [X[0] * 1000, X[0] * 2000])


def test_micro_batches_of_an_accumulation_have_one_scale():
    session = session_of(batches=2, accumulation=3)
    assert run(session, np.tile(X, (6, 1)))["finalLossScale"] == [
        [1000.0] * 3, [2000.0] * 3]


@pytest.mark.parametrize("threshold, factor", [
    (0.0, 0.5), (0.09, 0.5), (0.2, 2.0), (1.0, 2.0)])
def test_thresholds_from_end_to_end(threshold, factor):
    session = session_of(threshold, batches=2)
    assert run(session, np.tile(X, (2, 1)))["finalLossScale"] == [
        1000.0, 1000.0 * factor]


def test_the_factor_is_saved_and_outlives_the_optimiser(tmp_path):
    session = session_of()
    for expected in (1000.0, 2000.0, 4000.0):
        assert run(session, X)["finalLossScale"] == expected
    session.updateOptimizerFromHost(popart.SGD(
        {"defaultLearningRate": (0.0, False), "lossScaling": (500.0, False)}))
    # Now 20,000 and more: the large one is beyond, the others are not.
    assert run(session, X)["finalLossScale"] == 500.0 * 8
    file = str(tmp_path / "model.onnx")
    session.modelToHost(file)
    saved = {tensor.name: tensor for tensor in onnx.load(file).graph.initializer}
    assert "lossScaleUpdateFactor" in saved
    again = session_of(model=file)
    assert run(again, X)["finalLossScale"] == 16000.0


@pytest.mark.parametrize("change, message", [
    ({"scale": (1000.0, True)}, "The optimizer must have non-const loss scal"),
    ({"kind": popart.InferenceSession}, "Only compatible when doing training"),
    ({"binEdgeLocation": 1.5}, "Out of range value for 'binEdgeLocation'"),
    ({"binEdgeLocation": -0.1}, "Out of range value for 'binEdgeLocation'"),
    ({"threshold": 1.5},
     "Out of range value for 'thresholdUpperCountProportion'"),
    ({"updatePeriod": 0}, "updatePeriod is 0"),
])
def test_what_cannot_be_is_said(change, message):
    with pytest.raises(popart.popart_exception, match=message):
        session_of(**change)
