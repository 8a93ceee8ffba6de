"""Operators of ai.graphcore that need more than one step or replica to see:
printing, and collectives between replicas."""
import inspect

import numpy as np
import popart
import pytest
from popart._internal.ir import CollectiveOperator

X = np.array([[1, -2], [3, 4]], np.float32)


def device(ipus=1):
    return popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": ipus, "tilesPerIPU": 4})


def train(build, replicas=1, anchors=(), recompute=False):
    """One step of loss = sum(build(w * x)); X, times the number of the replica
    and one, is x."""
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    x = builder.addInputTensor("FLOAT", X.shape, "x")
    w = builder.addInitializedInputTensor(np.full(X.shape, 2, np.float32), "w")
    y = builder.aiOnnx.mul([x, w])
    result = build(builder, y)
    loss = builder.aiGraphcore.identityloss([result], popart.ReductionType.Sum)
    options = popart.SessionOptions()
    options.enableReplicatedGraphs = replicas > 1
    options.replicatedGraphCount = replicas
    if recompute:
        options.autoRecomputation = popart.RecomputationType.RecomputeAll
    names = [result, "Gradient___" + y, *anchors]
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, names), loss,
        popart.ConstSGD(1e-20), device(replicas), userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    found = session.initAnchorArrays()
    data = np.stack([X * (i + 1) for i in range(replicas)])
    session.run(popart.PyStepIO({x: data if replicas > 1 else X}, found))
    return [found[name] for name in names]


@pytest.mark.parametrize("frozen", [True, False])
def test_a_variable_that_the_model_overwrites(frozen):
    """It has its old value in one step and the new one in the next."""
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    x = builder.addInputTensor("FLOAT", X.shape, "x")
    total = builder.addInitializedInputTensor(np.ones_like(X), "total")
    result = builder.aiOnnx.add([total, x])
    builder.aiGraphcore.copyvarupdate([total, result])
    builder.addOutputTensor(result)
    options = popart.SessionOptions()
    options.constantWeights = frozen
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [result]), device(),
        userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    found = session.initAnchorArrays()
    for steps in (1, 2, 3):
        session.run(popart.PyStepIO({x: X}, found))
        np.testing.assert_allclose(found[result], 1 + steps * X)


def test_multiconv_is_several_convolutions():
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    rng = np.random.default_rng(5)
    tensors = [[builder.aiOnnx.constant(rng.random(shape, np.float32))
                for shape in ((1, 2, size, size), (3, 2, 2, 2), (3,))]
               for size in (5, 6)]
    strides = [[1, 2], [2, 2]]
    together = builder.aiGraphcore.multiconv(tensors, strides=strides,
                                             planType="parallel")
    apart = [builder.aiOnnx.conv(inputs, strides=s)
             for inputs, s in zip(tensors, strides)]
    for output in (*together, *apart):
        builder.addOutputTensor(output)
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, [*together, *apart]),
        device())
    session.prepareDevice()
    found = session.initAnchorArrays()
    session.run(popart.PyStepIO({}, found))
    for ours, theirs in zip(together, apart):
        np.testing.assert_allclose(found[ours], found[theirs], rtol=1e-6)


def test_abort_ends_the_run_where_its_condition_holds():
    def run(value):
        def build(builder, y):
            condition = builder.aiOnnx.constant(np.array([value], np.int32))
            builder.aiGraphcore.abort([condition])
            return builder.aiGraphcore.nop([y])
        return train(build)

    run(0)
    with pytest.raises(popart.poplar_exception, match="the model ends here"):
        run(1)


def test_abort_without_a_condition():
    def build(builder, y):
        builder.aiGraphcore.abort()
        return builder.aiGraphcore.nop([y])

    with pytest.raises(popart.poplar_exception, match="the model ends here"):
        train(build)


def printed(capfd, **arguments):
    train(lambda b, y: b.aiGraphcore.printtensor([y], **arguments))
    return capfd.readouterr().err


def test_prints_the_tensor_and_its_gradient(capfd):
    text = printed(capfd, title="product", digits=1)
    assert text.index("product: [\n  [ 2 -4]\n  [ 6  8]\n]") < text.index(
        "product_gradient: [\n  [1 1]\n  [1 1]\n]"), text


def test_prints_no_gradient_where_none_is_asked_for(capfd):
    text = printed(capfd, print_gradient=0, title="product")
    assert "product" in text and "_gradient" not in text


def test_prints_a_tensor_that_nothing_reads(capfd):
    def build(builder, y):
        builder.aiGraphcore.printtensor([y], title="unread")
        return builder.aiGraphcore.nop([y])

    train(build)
    assert capfd.readouterr().err.count("unread") == 1


def test_prints_once_where_the_forward_pass_is_recomputed(capfd):
    def build(builder, y):
        shown = builder.aiGraphcore.printtensor([y], title="shown")
        return builder.aiOnnx.tanh([shown])

    train(build, recompute=True)
    text = capfd.readouterr().err
    assert text.count("shown: ") == 1 and text.count("shown_gradient: ") == 1


@pytest.mark.parametrize("arguments, wanted", [
    ({"digits": 2, "floatFormat": 1}, "[ 2.0 -4.0]"),
    ({"digits": 3, "floatFormat": 2}, "[ 2.00e+00 -4.00e+00]"),
    ({"floatFormat": 3}, "2 -4"),
    ({"separator": ",", "openBracket": "(", "closeBracket": ")"},
     "( 2.0000000,-4.0000000)"),
    ({"summariseThreshold": 1, "edgeItems": 0}, "..."),
])
def test_formats(capfd, arguments, wanted):
    text = printed(capfd, print_gradient=0, title="t", **arguments)
    assert wanted in text, text


@pytest.mark.parametrize("arguments, text", [
    ({"separator": ", "}, "separator is ', '; it must be one character"),
    ({"floatFormat": 4}, "floatFormat is 4"),
    ({"digits": -1}, "digits is -1"),
])
def test_wrong_formats(arguments, text):
    with pytest.raises(popart.popart_exception, match=text):
        train(lambda b, y: b.aiGraphcore.printtensor([y], **arguments))


def test_print_takes_the_context_third():
    parameters = list(inspect.signature(
        popart.AiGraphcoreOpset1.printtensor).parameters)
    assert parameters[1:5] == ["args", "print_gradient", "debugContext", "title"]


SUM, MEAN, MAX, LOCAL = (getattr(CollectiveOperator, name)
                         for name in ("Add", "Mean", "Max", "Local"))


@pytest.mark.parametrize("how, value, gradient", [
    (None, 6, 2), (SUM, 6, 2), (MEAN, 3, 1), (LOCAL, None, 1)])
def test_all_reduce(how, value, gradient):
    arguments = {} if how is None else {"collectiveOperator": how}
    result, found = train(
        lambda b, y: b.aiGraphcore.replicatedallreduce([y], **arguments), 2)
    for replica in range(2):
        expected = 2 * (replica + 1) if value is None else value
        np.testing.assert_allclose(result[replica], X * expected)
        np.testing.assert_allclose(found[replica], gradient)


@pytest.mark.parametrize("group, sums", [
    (popart.CommGroup(), [20, 20, 20, 20]),
    (popart.CommGroup(popart.CommGroupType.Consecutive, 2), [6, 6, 14, 14]),
    (popart.CommGroup(popart.CommGroupType.Orthogonal, 2), [8, 12, 8, 12]),
    (popart.CommGroup(popart.CommGroupType.Ungrouped, 0), [2, 4, 6, 8]),
])
def test_groups(group, sums):
    result, _ = train(lambda b, y: b.aiGraphcore.replicatedallreduce(
        [y], commGroup=group), 4)
    for replica, expected in enumerate(sums):
        np.testing.assert_allclose(result[replica], X * expected)


def test_reduce_scatter():
    """Three replicas of four elements: two each, and two zeros at the end."""
    result, gradient = train(
        lambda b, y: b.aiGraphcore.replicatedreducescatter([y]), 3)
    padded = np.append(X.ravel() * 12, [0, 0]).reshape(3, 2)
    np.testing.assert_allclose(result, padded)
    np.testing.assert_allclose(gradient, np.ones((3, 2, 2)))


@pytest.mark.parametrize("build, text", [
    (lambda b, y: b.aiGraphcore.replicatedallreduce([y], 12),
     "collectiveOperator 12"),
    (lambda b, y: b.aiGraphcore.replicatedallreduce([y], MAX),
     "a gradient for Add, Mean and Local only"),
    (lambda b, y: b.aiGraphcore.replicatedallreduce(
        [y], commGroup=popart.CommGroup(popart.CommGroupType.Consecutive, 3)),
     "do not split into groups of 3"),
])
def test_wrong_collectives(build, text):
    with pytest.raises(popart.popart_exception, match=text):
        train(build, 2)
