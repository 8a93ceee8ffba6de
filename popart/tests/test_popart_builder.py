"""What programs write with the Builder, in the spellings that they use, and
what they find in the model."""
import numpy as np
import onnx
import popart
import pytest
from onnx import numpy_helper
from programs import expect, floats, run, train
from small_sessions import cpu, error


@pytest.mark.parametrize("dtype, field", [
    (np.float32, "float_data"), (np.float16, "int32_data"),
    (np.float64, "double_data"), (np.int32, "int32_data"),
    (np.int64, "int64_data"), (np.int16, "int32_data"), (np.int8, "int32_data"),
    (np.uint8, "int32_data"), (np.uint16, "int32_data"),
    (np.uint32, "uint64_data"), (np.uint64, "uint64_data"),
    (np.bool_, "int32_data")])
def test_numbers_are_in_the_field_of_their_type(dtype, field):
    array = np.array([[1, 0, 3]]).astype(dtype)
    if np.issubdtype(dtype, np.signedinteger) or np.issubdtype(dtype, np.floating):
        array = -array
    builder = popart.Builder()
    constant = builder.aiOnnx.constant(array, "c")
    if dtype in (np.float32, np.float16, np.int32):
        builder.addInitializedInputTensor(array, "w")
    graph = onnx.load_from_string(builder.getModelProto()).graph
    tensors = [a.t for n in graph.node if n.output[0] == constant
               for a in n.attribute if a.name == "value"]
    tensors += graph.initializer
    assert tensors
    for tensor in tensors:
        assert tensor.raw_data == b""
        assert len(getattr(tensor, field)) == 3
        np.testing.assert_array_equal(numpy_helper.to_array(tensor), array)


def test_saved_weights_are_in_the_field_of_their_type(tmp_path):
    builder = popart.Builder()
    w = builder.addInitializedInputTensor(np.array([1, 2], np.float32), "w")
    loss = builder.aiGraphcore.identityloss([w])
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [loss]), loss,
        popart.SGD({"defaultMomentum": (0.5, True)}), cpu())
    session.prepareDevice()
    session.weightsFromHost()
    session.modelToHost(str(tmp_path / "m.onnx"))
    saved = onnx.load(str(tmp_path / "m.onnx")).graph.initializer
    assert len(saved) == 2
    assert all(t.raw_data == b"" and len(t.float_data) == 2 for t in saved)
    assert list(saved[0].float_data) == [1.0, 2.0]


def inputs_only(optimizer):
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2], "x")
    loss = builder.aiGraphcore.identityloss([x], popart.ReductionType.Sum)
    return popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [loss, "Gradient___x"]),
        loss, optimizer, cpu()), loss


def test_weights_are_asked_for_where_there_are_any():
    session, loss = inputs_only(popart.SGD({"lossScaling": (2.0, False)}))
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO({"x": np.array([3, 4], np.float32)}, anchors))
    assert anchors[loss] == 7
    np.testing.assert_array_equal(anchors["Gradient___x"], [2, 2])


@pytest.mark.parametrize("spelling", ["fifo", "FIFO", "Greedy", "random"])
def test_tie_breakers_in_any_case(spelling):
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2], "x")
    y = builder.aiOnnx.relu([x])
    options = popart.SessionOptions()
    options.kahnTieBreaker = spelling
    popart.InferenceSession(builder.getModelProto(), popart.DataFlow(1, [y]),
                            cpu(), userOptions=options)
    options.kahnTieBreaker = "first"
    with pytest.raises(error, match="Unrecognised KahnTieBreaker, first. "
                       "Should be one of greedy, fifo, random"):
        popart.InferenceSession(builder.getModelProto(),
                                popart.DataFlow(1, [y]), cpu(),
                                userOptions=options)


@pytest.mark.parametrize("spelling", ["HALF", "half", "Float"])
def test_partials_in_any_case(spelling):
    builder = popart.Builder()
    a, b = (builder.addInputTensor("FLOAT16", [4, 4], n) for n in "ab")
    y = builder.aiOnnx.matmul([a, b])
    builder.setPartialsType(y, spelling)
    assert builder.getPartialsType(y) == spelling
    array = np.eye(4, dtype=np.float16)
    np.testing.assert_array_equal(
        run(builder, {"a": array, "b": array}, [y])[0], array)
    with pytest.raises(error, match="'float' and 'half' in any letter case"):
        builder.setPartialsType(y, "double")


def test_zeros_with_a_name():
    builder = popart.Builder()
    y = builder.aiGraphcore.init([2, 3], popart.DataType.FLOAT,
                                 popart.InitType.Zero, "slice_input")
    x = builder.addInputTensor("FLOAT", [2, 3], "x")
    total = builder.aiOnnx.add([x, y])
    array = floats(2, 3)
    np.testing.assert_array_equal(run(builder, {"x": array}, [total])[0], array)


@pytest.mark.parametrize("reduction, expected", [
    (popart.ReductionType.Sum, 7), (popart.ReductionType.NoReduction, [1, 2, 4])])
def test_identity_loss_of_integers(reduction, expected):
    builder = popart.Builder()
    x = builder.addInputTensor("INT32", [3], "x")
    y = builder.aiGraphcore.identityloss([x], reduction)
    np.testing.assert_array_equal(
        run(builder, {"x": np.array([1, 2, 4], np.int32)}, [y])[0], expected)


def test_groups_of_one():
    assert popart.CommGroupType.Ungrouped == popart.CommGroupType(3)


def test_sizes_without_regions_and_scales():
    """Inputs of Resize that are left out have empty names."""
    builder = popart.Builder(opsets={"ai.onnx": 11, "ai.graphcore": 1,
                                     "ai.onnx.ml": 1})
    x = builder.addInputTensor("FLOAT", [1, 1, 2, 2], "x")
    sizes = builder.aiOnnx.constant(np.array([1, 1, 4, 4], np.int64))
    y = builder.aiOnnx.resize([x, "", "", sizes])
    array = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    np.testing.assert_array_equal(run(builder, {"x": array}, [y])[0],
                                  array.repeat(2, 2).repeat(2, 3))
    scales = builder.aiOnnx.constant(np.array([1, 1, 2, 2], np.float32))
    y = builder.aiOnnx.resize([x, "", scales])
    assert builder.getTensorShape(y) == [1, 1, 4, 4]


# Tensors of the graph around a subgraph.


def test_calls_count_the_parents_tensors():
    builder = popart.Builder()
    a, b = (builder.addInputTensor("INT32", [2], n) for n in "ab")
    body = builder.createSubgraphBuilder()
    body.addInputTensorFromParentGraph(a)
    body.addInputTensorFromParentGraph(b)
    body.addOutputTensor(body.aiOnnx.add([a, b]))
    y = builder.aiGraphcore.call([a, b], 1, body)[0]
    swapped = builder.aiGraphcore.call([b, b], 1, body)[0]
    results = run(builder, {"a": np.array([2, -1], np.int32),
                            "b": np.array([-4, 3], np.int32)}, [y, swapped])
    np.testing.assert_array_equal(results[0], [-2, 2])
    np.testing.assert_array_equal(results[1], [-8, 6])


def test_calls_may_leave_out_the_parents_tensors():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2], "x")
    w = builder.addInitializedInputTensor(np.array([3, 4], np.float32), "w")
    body = builder.createSubgraphBuilder()
    body.addInputTensorFromParentGraph(w)
    inner = body.addInputTensor(popart.TensorInfo("FLOAT", [2]))
    body.addOutputTensor(body.aiOnnx.mul([inner, w]))
    y = builder.aiGraphcore.call([x], 1, body)[0]
    array = floats(2)
    results = train(builder, {"x": array}, y, ["x", "w"])
    expect(results, lambda a, b: a * b, [array, np.array([3, 4], np.float32)])


def test_the_parents_tensors_may_be_named_in_any_order():
    """Before a loop's own inputs, and by a subgraph in it alone."""
    builder = popart.Builder()
    builder.setGraphName("outer")
    x = builder.addInputTensor("FLOAT", [2], "x")
    step = builder.addInputTensor("FLOAT", [2], "step")
    turns = builder.aiOnnx.constant(np.array(3, np.int64))
    goes_on = builder.aiOnnx.constant(np.array(True))
    body = builder.createSubgraphBuilder()
    body.setGraphName("body")
    body.addInputTensorFromParentGraph(step)
    body.addInputTensor(popart.TensorInfo("INT64", []))
    keep = body.addInputTensor(popart.TensorInfo("BOOL", []))
    value = body.addInputTensor(popart.TensorInfo("FLOAT", [2]))
    branches = []
    for name in ("yes", "no"):
        branch = body.createSubgraphBuilder()
        branch.setGraphName(name)
        branch.addInputTensorFromParentGraph(value)
        branch.addInputTensorFromParentGraph(step)
        branch.addOutputTensor(branch.aiOnnx.add([value, step]))
        branches.append(branch)
    body.addOutputTensor(keep)
    body.addOutputTensor(body.aiOnnx.logical_if([keep], 1, branches[1],
                                                branches[0])[0])
    y = builder.aiOnnx.loop([turns, goes_on, x], 1, body)[0]
    a, b = floats(2), floats(2)
    np.testing.assert_allclose(run(builder, {"x": a, "step": b}, [y])[0],
                               a + 3 * b, rtol=1e-6)


def test_only_tensors_around_it_are_the_parents():
    body = popart.Builder().createSubgraphBuilder()
    with pytest.raises(error, match="Failed to add unrecognised Tensor 'z' "
                       "from higher scope"):
        body.addInputTensorFromParentGraph("z")
