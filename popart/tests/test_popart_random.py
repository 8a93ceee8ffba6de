"""Random numbers of sessions: distributions, seeds, and masks of dropout that
are the same in the forward and the backward pass."""
import numpy as np
import popart
import pytest

RATIO = 0.25
SHAPE = [4, 2048]
X = np.random.default_rng(1).uniform(1, 2, SHAPE).astype(np.float32)


def device(ipus=1):
    return popart.DeviceManager().createIpuModelDevice(
        {"numIPUs": ipus, "tilesPerIPU": 4})


class Model:
    """Two layers, each a product with a weight and a dropout."""

    def __init__(self, opset=10, dtype=np.float32, shaped=None):
        self.dtype = dtype
        name = {np.float32: "FLOAT", np.float16: "FLOAT16"}[dtype]
        self.builder = builder = popart.Builder(opsets={
            "ai.onnx": opset, "ai.graphcore": 1})
        self.x = t = builder.addInputTensor(name, SHAPE, "x")
        self.dropped, self.inputs = [], []
        for layer in range(2):
            with builder.virtualGraph(layer):
                w = builder.addInitializedInputTensor(
                    np.full([1], 1 + layer, dtype), f"w{layer}")
                t = builder.aiOnnx.mul([t, w])
                self.inputs.append(t)
                if shaped:
                    t = builder.aiGraphcore.shapeddropout(
                        [t], shape=shaped, ratio=RATIO)
                else:
                    t = builder.aiOnnx.dropout([t], 1, ratio=RATIO)[0]
                self.dropped.append(t)
                if layer == 1:
                    self.loss = builder.aiGraphcore.identityloss(
                        [t], reduction=popart.ReductionType.Sum)
        builder.addOutputTensor(self.loss)

    def anchors(self):
        return [*self.dropped, *("Gradient___" + t for t in self.inputs)]

    def session(self, options=None, ipus=1, batches=1):
        options = options or popart.SessionOptions()
        is_off = options.virtualGraphMode == popart.VirtualGraphMode.Off
        if ipus > 1 and is_off:
            options.virtualGraphMode = popart.VirtualGraphMode.Manual
        session = popart.TrainingSession(
            self.builder.getModelProto(),
            popart.DataFlow(batches, {t: popart.AnchorReturnType("All")
                                      for t in self.anchors()}),
            self.loss, popart.ConstSGD(1e-20),
            device(ipus * max(1, options.replicatedGraphCount)),
            userOptions=options)
        session.prepareDevice()
        session.weightsFromHost()
        return session

    def step(self, session, count=1):
        """The anchors of `count` micro-batches of the same data, by name."""
        anchors = session.initAnchorArrays()
        data = np.stack([X.astype(self.dtype)] * count)
        session.run(popart.PyStepIO({self.x: data}, anchors))
        return {name: value.reshape(count, *SHAPE)
                for name, value in anchors.items()}


def masks(model, results):
    """What each layer keeps; the second's gradient shows it even where the
    first has kept nothing."""
    return [results[model.dropped[0]] != 0,
            results["Gradient___" + model.inputs[1]] != 0]


def assert_right(model, results):
    """Kept elements are scaled, and the gradient has the same mask."""
    first, second = masks(model, results)
    scale = 1 / (1 - RATIO)
    x = X.astype(model.dtype).astype(np.float32)
    for name, expected in (
            (model.dropped[0], x * first * scale),
            (model.dropped[1], x * first * scale * 2 * second * scale),
            ("Gradient___" + model.inputs[1], second * scale),
            ("Gradient___" + model.inputs[0],
             first * second * 2 * scale * scale)):
        np.testing.assert_allclose(
            results[name].astype(np.float32), expected, err_msg=name,
            rtol=1e-5 if model.dtype == np.float32 else 4e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("opset", [6, 7, 10])
def test_dropout_scales_what_it_keeps_and_gradients_match(opset, dtype):
    model = Model(opset, dtype)
    results = model.step(model.session())
    assert_right(model, results)
    for mask in masks(model, results):
        # Four standard deviations of a binomial distribution.
        assert abs(mask.mean() - (1 - RATIO)) < 4 * np.sqrt(
            RATIO * (1 - RATIO) / mask.size)


def test_operators_and_micro_batches_have_different_masks():
    model = Model()
    session = model.session(batches=2)
    one, two = (model.step(session, 2) for _ in range(2))
    found = [mask[i].tobytes() for results in (one, two)
             for mask in masks(model, results)[:1] for i in range(2)]
    assert len(set(found)) == 4
    # Independent: the share that both keep is the product.
    first, second = masks(model, one)
    assert abs((first & second).mean() - (1 - RATIO) ** 2) < 0.02


def test_seed_restarts_the_numbers():
    model = Model()
    session = model.session()
    assert session.getRandomSeed() == 0
    default = model.step(session)
    session.setRandomSeed(7)
    assert session.getRandomSeed() == 7
    seven = [model.step(session) for _ in range(2)]
    session.setRandomSeed(8)
    eight = model.step(session)
    session.setRandomSeed(7)
    again = [model.step(session) for _ in range(2)]
    for ours, theirs in zip(seven, again):
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])
    found = [masks(model, r)[0].tobytes() for r in (default, *seven, eight)]
    assert len(set(found)) == 4
    session.setRandomSeed(0)
    np.testing.assert_array_equal(masks(model, model.step(session))[0],
                                  masks(model, default)[0])


def test_seed_wants_a_prepared_device():
    model = Model()
    session = popart.TrainingSession(
        model.builder.getModelProto(), popart.DataFlow(1, [model.loss]),
        model.loss, popart.ConstSGD(0.1), device())
    with pytest.raises(popart.popart_exception, match="prepareDevice"):
        session.setRandomSeed(1)


def test_weights_from_host_do_not_touch_the_seed():
    model = Model()
    session, other = model.session(), model.session()
    model.step(session)
    session.weightsToHost()
    session.weightsFromHost()
    model.step(other)
    np.testing.assert_array_equal(masks(model, model.step(session))[0],
                                  masks(model, model.step(other))[0])


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("executor", ["fast", "reference"])
def test_threads_and_executors_do_not_change_numbers(monkeypatch, threads,
                                                     executor):
    model = Model()
    expected = model.step(model.session())
    monkeypatch.setenv("ASPEN_THREADS", threads)
    monkeypatch.setenv("ASPEN_EXECUTOR", executor)
    found = model.step(model.session())
    for mask, other in zip(masks(model, expected), masks(model, found)):
        np.testing.assert_array_equal(mask, other)


def accumulating(options):
    options.enableGradientAccumulation = True
    options.accumulationFactor = 4


def pipelined(options):
    options.enablePipelining = True


def recomputing(options):
    options.autoRecomputation = popart.RecomputationType.RecomputeAll


def standard(options):
    options.autoRecomputation = popart.RecomputationType.Standard


def phased(options):
    options.virtualGraphMode = popart.VirtualGraphMode.ExecutionPhases
    options.executionPhaseSettings.phases = 2


def replicated(options):
    options.enableReplicatedGraphs = True
    options.replicatedGraphCount = 2


@pytest.mark.parametrize("ipus, batches, changes", [
    (1, 1, [accumulating]),
    (1, 4, [recomputing]),
    (1, 4, [standard]),
    (2, 4, []),
    (2, 4, [pipelined]),
    (2, 1, [pipelined, accumulating]),
    (2, 1, [pipelined, accumulating, recomputing]),
    (2, 4, [phased]),
    (1, 2, [replicated]),
    (2, 4, [replicated, pipelined]),
], ids=lambda value: "+".join(c.__name__ for c in value) if isinstance(
    value, list) else str(value))
def test_how_a_model_runs_does_not_change_its_masks(ipus, batches, changes):
    """Micro-batch i has the same masks in all of them, and gradients match."""
    model = Model()
    options = popart.SessionOptions()
    for change in changes:
        change(options)
    count = (batches * max(1, options.replicatedGraphCount)
             * options.accumulationFactor)
    expected = model.step(model.session(batches=count), count)
    found = model.step(model.session(options, ipus, batches), count)
    assert_right(model, found)
    for mask, other in zip(masks(model, expected), masks(model, found)):
        np.testing.assert_array_equal(mask, other)


@pytest.mark.parametrize("shape", [[4, 1], [2048], [1], [4, 2048]])
def test_shaped_dropout_decides_by_its_shape(shape):
    model = Model(shaped=shape)
    results = model.step(model.session(batches=8), 8)
    assert_right(model, results)
    for mask in masks(model, results)[0]:
        if shape == [4, 1]:
            assert (mask == mask[:, :1]).all()
        elif shape == [1]:
            assert (mask == mask[:1, :1]).all()
        elif shape == [2048]:
            assert (mask == mask[:1]).all() and len(set(mask[0])) == 2


def inference(build, seed=None, **arguments):
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    outputs = build(builder)
    for output in outputs:
        builder.addOutputTensor(output)
    session = popart.InferenceSession(
        builder.getModelProto(), popart.DataFlow(1, outputs), device(),
        **arguments)
    session.prepareDevice()
    if seed is not None:
        session.setRandomSeed(seed)
    session.weightsFromHost()
    return session, outputs


def draw(session, outputs, inputs=None):
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(inputs or {}, anchors))
    return [anchors[output].copy() for output in outputs]


def test_inference_drops_nothing():
    def build(builder):
        x = builder.addInputTensor("FLOAT", SHAPE, "x")
        y, mask = builder.aiOnnx.dropout([x], 2, ratio=0.9)
        return [y, mask, builder.aiGraphcore.shapeddropout([x], shape=[4, 1])]

    y, mask, shaped = draw(*inference(build), {"x": X})
    np.testing.assert_array_equal(y, X)
    np.testing.assert_array_equal(shaped, X)
    assert mask.dtype == bool and mask.all()


def test_mask_output_is_what_was_kept():
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    w = builder.addInitializedInputTensor(X, "w")
    y, mask = builder.aiOnnx.dropout([w], 2, ratio=0.5)
    loss = builder.aiGraphcore.identityloss([y])
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [y, mask]), loss,
        popart.ConstSGD(0.1), device())
    session.prepareDevice()
    session.weightsFromHost()
    y, mask = draw(session, [y, mask])
    assert mask.dtype == bool and 0.45 < mask.mean() < 0.55
    np.testing.assert_array_equal(mask, y != 0)


def moments(array):
    array = array.astype(np.float64)
    return array.mean(), array.std()


@pytest.mark.parametrize("dtype", [1, 10])
def test_distributions(dtype):
    def build(builder):
        ones = builder.aiOnnx.constant(np.ones([100, 200], np.float32))
        return [
            builder.aiOnnx.randomnormal([100, 200], dtype=dtype, mean=3.0,
                                        scale=0.5),
            builder.aiOnnx.randomuniform([100, 200], dtype=dtype, low=-1.0,
                                         high=3.0),
            builder.aiOnnx.randomnormallike([ones], dtype=dtype),
            builder.aiOnnx.randomuniformlike([ones], dtype=dtype)]

    session, outputs = inference(build, seed=3)
    first = draw(session, outputs)
    for array, (mean, deviation), (low, high) in zip(
            first, ((3, 0.5), (1, 4 / np.sqrt(12)), (0, 1), (0.5, 1 / np.sqrt(12))),
            ((0, 6), (-1, 3), (-6, 6), (0, 1))):
        assert array.dtype == {1: np.float32, 10: np.float16}[dtype]
        assert low <= array.min() and array.max() <= high
        found = moments(array)
        error = deviation / np.sqrt(array.size)
        assert abs(found[0] - mean) < 4 * error
        assert abs(found[1] - deviation) < 4 * error
        # Neighbours do not know of each other.
        flat = (array.astype(np.float64).ravel() - found[0]) / found[1]
        assert abs((flat[1:] * flat[:-1]).mean()) < 4 / np.sqrt(flat.size)
    for array, other in zip(first, draw(session, outputs)):
        assert (array != other).mean() > 0.9  # each run goes on
    session.setRandomSeed(3)
    for array, other in zip(first, draw(session, outputs)):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("build, text", [
    (lambda b: b.aiOnnx.randomnormal([2], seed=1.0), "session::setRandomSeed"),
    (lambda b: b.aiOnnx.randomuniform([2], seed=1.0), "session::setRandomSeed"),
    (lambda b: b.aiOnnx.randomnormal([2], dtype=6), "must be FLOAT or FLOAT16"),
    (lambda b: b.aiOnnx.randomuniformlike(
        [b.aiOnnx.constant(np.ones([2], np.int32))]), "must be FLOAT or FLOAT16"),
    (lambda b: b.aiOnnx.dropout(
        [b.aiOnnx.constant(np.ones([2], np.float32))], 1, ratio=1.0)[0],
     "less than 1"),
    (lambda b: b.aiGraphcore.shapeddropout(
        [b.aiOnnx.constant(np.ones([2, 3], np.float32))], shape=[2]),
     "do not broadcast"),
    (lambda b: b.aiGraphcore.shapeddropout(
        [b.aiOnnx.constant(np.ones([3], np.float32))], shape=[2, 3]),
     "does not broadcast"),
])
def test_limits(build, text):
    with pytest.raises(popart.popart_exception, match=text):
        inference(lambda builder: [build(builder)])


def drawing_branch(builder, condition):
    """Random numbers where `condition` holds, and zeros elsewhere."""
    then, other = (builder.createSubgraphBuilder() for _ in range(2))
    then.addOutputTensor(then.aiOnnx.randomnormal([64]))
    other.addOutputTensor(other.aiOnnx.constant(np.zeros([64], np.float32)))
    return builder.aiOnnx.logical_if([condition], 1, other, then)[0]


def test_branches_draw_numbers_of_their_own():
    def build(builder):
        condition = builder.addInputTensor("BOOL", [], "condition")
        return [drawing_branch(builder, condition) for _ in range(2)]

    session, outputs = inference(build, seed=5)
    yes, no = ({"condition": np.array(flag)} for flag in (True, False))
    first = draw(session, outputs, yes)
    second = draw(session, outputs, yes)
    found = [*first, *second]
    assert all(np.unique(array).size == 64 for array in found)
    assert len({array.tobytes() for array in found}) == 4
    assert not any(array.any() for array in draw(session, outputs, no))
    session.setRandomSeed(5)
    for array, other in zip(first, draw(session, outputs, yes)):
        np.testing.assert_array_equal(array, other)


def test_branch_drops_the_same_forward_and_backward():
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    condition = builder.addInputTensor("BOOL", [], "condition")
    w = builder.addInitializedInputTensor(X, "w")
    then, other = (builder.createSubgraphBuilder() for _ in range(2))
    for branch in (then, other):
        branch.addInputTensorFromParentGraph(w)
    then.addOutputTensor(then.aiOnnx.dropout([w], 1, ratio=RATIO)[0])
    other.addOutputTensor(other.aiOnnx.identity([w]))
    y = builder.aiOnnx.logical_if([condition], 1, other, then)[0]
    loss = builder.aiGraphcore.identityloss(
        [y], reduction=popart.ReductionType.Sum)
    names = [y, "Gradient___" + w]
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, names), loss,
        popart.ConstSGD(1e-20), device())
    session.prepareDevice()
    session.weightsFromHost()
    y, gradient = draw(session, names, {"condition": np.array(True)})
    mask = y != 0
    assert abs(mask.mean() - (1 - RATIO)) < 0.02
    np.testing.assert_allclose(y, X * mask / (1 - RATIO), rtol=1e-6)
    np.testing.assert_allclose(gradient, mask / (1 - RATIO), rtol=1e-6)


@pytest.mark.parametrize("is_nested", [False, True])
def test_turns_of_a_loop_draw_different_numbers(is_nested):
    """A loop that the device runs: its length is not known before."""
    def build(builder):
        trips = builder.addInputTensor("INT64", [], "trips")
        goes_on = builder.aiOnnx.constant(np.array(True))
        start = builder.aiOnnx.constant(np.zeros([3, 64], np.float32))
        body = builder.createSubgraphBuilder()
        body.addInputTensor("INT64", [])
        condition = body.addInputTensor("BOOL", [])
        rows = body.addInputTensor("FLOAT", [3, 64])
        row = body.reshape_const(
            body.aiOnnx,
            [drawing_branch(body, condition) if is_nested
             else body.aiOnnx.randomnormal([64])], [1, 64])
        kept = body.aiGraphcore.slice([rows], [2], [0], [0])
        body.addOutputTensor(body.aiOnnx.identity([condition]))
        body.addOutputTensor(body.aiOnnx.concat([row, kept], 0))
        return builder.aiOnnx.loop([trips, goes_on, start], 1, body)

    session, outputs = inference(build, seed=9)
    trips = {"trips": np.array(3, np.int64)}
    (first,) = draw(session, outputs, trips)
    (second,) = draw(session, outputs, trips)
    assert np.unique(np.concatenate([first, second])).size == 6 * 64
    session.setRandomSeed(9)
    np.testing.assert_array_equal(draw(session, outputs, trips)[0], first)


@pytest.mark.parametrize("opset", [12, 13])
@pytest.mark.parametrize("mode, drops", [(True, True), (False, False),
                                         (None, False)])
def test_newer_dropout_asks_its_inputs(opset, mode, drops):
    onnx = pytest.importorskip("onnx")
    numpy_helper = pytest.importorskip("onnx.numpy_helper")
    arrays = {"w": X, "ratio": np.array(RATIO, np.float32)}
    inputs = ["w", "ratio"]
    if mode is not None:
        arrays["mode"] = np.array(mode)
        inputs.append("mode")
    helper = onnx.helper
    info = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, SHAPE)
    graph = helper.make_graph(
        [helper.make_node("Dropout", inputs, ["y", "mask"]),
         helper.make_node("ReduceMean", ["y"], ["loss"], keepdims=0)],
        "dropout", [], [info],
        [numpy_helper.from_array(a, n) for n, a in arrays.items()])
    model = helper.make_model(graph, ir_version=7, opset_imports=[
        helper.make_operatorsetid("", opset)])
    session = popart.TrainingSession(
        model.SerializeToString(), popart.DataFlow(1, ["y", "mask"]), "loss",
        popart.ConstSGD(1e-20), device())
    session.prepareDevice()
    session.weightsFromHost()
    y, mask = draw(session, ["y", "mask"])
    assert mask.dtype == bool
    assert mask.all() != drops
    np.testing.assert_allclose(
        y, X * mask / (1 - RATIO) if drops else X, rtol=1e-6)
