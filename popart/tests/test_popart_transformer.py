"""Changes to whole models, and how far two of them are apart. ONNX's own
package reads the results."""
import numpy as np
import onnx
import popart
import pytest
from onnx import TensorProto, helper, numpy_helper

error = popart.popart_exception


def parse(model: bytes) -> onnx.ModelProto:
    return onnx.load_from_string(model)


def one_node(op, inputs, constant, **attributes):
    """A model with the node's inputs and an initialiser "w"."""
    node = helper.make_node(op, ["x", "w"], ["y"], name="node", **attributes)
    graph = helper.make_graph(
        [node], "g", inputs,
        [floats("y", ["n"])],
        [numpy_helper.from_array(constant, "w")])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=4
    ).SerializeToString()


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def transformed(model, method, *arguments) -> onnx.ModelProto:
    transformer = popart.GraphTransformer(model)
    getattr(transformer, method)(*arguments)
    return parse(transformer.getModelProto())


def test_floats_become_halves_everywhere():
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2, 2])
    w = builder.addInitializedInputTensor(
        np.array([[1.5, 0], [65504, 1e-9]], np.float32))
    ops = builder.aiOnnx
    constant = ops.constant(np.array([2.5], np.float32))
    y = ops.mul([ops.cast([ops.matmul([x, w])], "FLOAT"), constant])
    builder.addOutputTensor(y)
    model = transformed(builder.getModelProto(), "convertFloatsToHalfs")
    graph = model.graph
    assert {v.type.tensor_type.elem_type for v in
            [*graph.input, *graph.output, *graph.value_info]} == {
                TensorProto.FLOAT16}
    np.testing.assert_array_equal(
        numpy_helper.to_array(graph.initializer[0]),
        np.array([[1.5, 0], [65504, 0]], np.float16))
    nodes = {node.op_type: node for node in graph.node}
    assert nodes["Cast"].attribute[0].i == TensorProto.FLOAT16
    assert numpy_helper.to_array(nodes["Constant"].attribute[0].t) == 2.5
    session = popart.InferenceSession(
        model.SerializeToString(), popart.DataFlow(1, [y]),
        popart.DeviceManager().createCpuDevice())
    session.prepareDevice()
    anchors = session.initAnchorArrays()
    session.run(popart.PyStepIO(
        {x: np.array([[2, 0], [4, 0]], np.float16)}, anchors))
    np.testing.assert_array_equal(anchors[y],
                                  np.array([[7.5, 0], [15, 0]], np.float16))


@pytest.mark.parametrize("method, given, wanted", [
    ("convertUINT8ToINT32", np.uint8, np.int32),
    ("convertUINT16ToINT32", np.uint16, np.int32),
    ("convertINT8ToINT32", np.int8, np.int32),
    ("convertINT16ToINT32", np.int16, np.int32),
    ("convertINT64ToINT32", np.int64, np.int32),
    ("convertDoublesToFloats", np.float64, np.float32),
    ("convertDoublesToHalfs", np.float64, np.float16),
])  # fmt: skip
def test_other_types_are_converted(method, given, wanted):
    values = np.array([[1, 2], [100, 127]], given)
    number = helper.np_dtype_to_tensor_dtype if hasattr(
        helper, "np_dtype_to_tensor_dtype") else (
            lambda t: onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[t])
    model = one_node("Add", [helper.make_tensor_value_info(
        "x", number(np.dtype(given)), [2, 2])], values)
    graph = transformed(model, method).graph
    found = numpy_helper.to_array(graph.initializer[0])
    assert found.dtype == wanted
    np.testing.assert_array_equal(found, values.astype(wanted))
    assert graph.input[0].type.tensor_type.elem_type == number(
        np.dtype(wanted))


def test_bfloat16_is_the_upper_half_of_a_float():
    tensor = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[2])
    tensor.raw_data = np.array([1.5, -2], np.float32).view(
        np.uint16)[1::2].tobytes()
    model = parse(one_node("Add", [floats("x", [2])], np.zeros(2, np.float32)))
    model.graph.initializer[0].CopyFrom(tensor)
    graph = transformed(model.SerializeToString(),
                        "convertBFloats16ToFloat32").graph
    np.testing.assert_array_equal(
        numpy_helper.to_array(graph.initializer[0]), [1.5, -2])


def test_wide_integers_are_clipped_if_wanted():
    model = one_node("Add", [helper.make_tensor_value_info(
        "x", TensorProto.INT64, [2])], np.array([2**40, -2**40]))
    graph = transformed(model, "convertINT64ToINT32", True).graph
    np.testing.assert_array_equal(
        numpy_helper.to_array(graph.initializer[0]), [2**31 - 1, -2**31])
    with pytest.raises(error, match="does not fit INT32"):
        transformed(model, "convertINT64ToINT32")


def test_unused_inputs_are_removed():
    model = one_node("Add", [floats("x", [2]), floats("unused", [3])],
                     np.ones(2, np.float32))
    assert [i.name for i in transformed(
        model, "removeUnusedInputs").graph.input] == ["x"]


def test_nodes_are_prepared_for_training():
    node = helper.make_node("BatchNormalization",
                            ["x", "s", "b", "m", "v"], ["y"])
    names = "sbmv"
    graph = helper.make_graph(
        [node], "g", [floats("x", [2, 3, 4, 4])],
        [floats("y", ["n"])],
        [numpy_helper.from_array(np.ones(3, np.float32), n) for n in names])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=4)
    done = transformed(model.SerializeToString(), "prepareNodesForTraining")
    assert len(set(done.graph.node[0].output)) == 5
    onnx.checker.check_model(done)


def test_initialisers_become_constants():
    model = one_node("Add", [floats("x", [2])], np.array([1, 2], np.float32))
    done = transformed(model, "convertInitializersToConstants", ["w"])
    assert not done.graph.initializer
    assert [n.op_type for n in done.graph.node] == ["Constant", "Add"]
    onnx.checker.check_model(done)
    with pytest.raises(error, match="'x' is not an initialiser"):
        transformed(model, "convertInitializersToConstants", ["x"])
    # The float stays, the integer goes.
    integer = one_node("Reshape", [floats("x", [2])], np.array([2, 1]))
    method = "convertAllFixedPointInitializersToConstants"
    assert transformed(model, method).graph.initializer
    assert not transformed(integer, method).graph.initializer


def test_initialisers_go_to_a_file(tmp_path):
    model = one_node("Add", [floats("x", [2])], np.array([1, 2], np.float32))
    file = tmp_path / "weights.bin"
    done = transformed(model, "saveInitializersExternally", ["w"], str(file))
    np.testing.assert_array_equal(np.fromfile(file, np.float32), [1, 2])
    where = {e.key: e.value for e in done.graph.initializer[0].external_data}
    assert where == {"location": str(file), "offset": "0", "length": "8"}


def test_numerics_report():
    def model(*values):
        return one_node("Add", [floats("x", [2])],
                        np.array(values, np.float32))

    # Steps of 5 and 10, and a gap of 5: 25 / (5 * 10).
    report = popart.NumericsReport(model(0, 0), model(3, 4), model(0, 0),
                                   model(6, 8))
    assert report.getRelativeErrors() == {"w": 0.5}
    assert "relative error 0.5" in report.report("w")
    assert report.fullReport() == report.report("w") + "\n"
    with pytest.raises(error, match="no weight 'v'"):
        report.report("v")
    with pytest.raises(error, match="model 1 has no weight 'w'"):
        popart.NumericsReport(model(0, 0), model(0, 0, 0), model(0, 0),
                              model(0, 0))
