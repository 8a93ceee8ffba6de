"""Reductions by every way to say which dimensions, in every opset, against
NumPy: all of an opset in one session."""
import itertools

import numpy as np
import popart
import pytest
from programs import infer, train

onnx = pytest.importorskip("onnx")
numpy_helper = pytest.importorskip("onnx.numpy_helper")

X = np.random.default_rng(5).uniform(0.1, 2, (2, 3, 4)).astype(np.float32)


def over(function, before=lambda x: x, after=lambda y: y):
    return lambda x, axes, keep: after(function(before(x), axis=axes,
                                                keepdims=keep))


REDUCTIONS = {
    "L1": over(np.sum, np.abs),
    "L2": over(np.sum, np.square, np.sqrt),
    "LogSum": over(np.sum, after=np.log),
    "LogSumExp": over(np.sum, np.exp, np.log),
    "Max": over(np.max),
    "Mean": over(np.mean),
    "Min": over(np.min),
    "Prod": over(np.prod),
    "Sum": over(np.sum),
    "SumSquare": over(np.sum, np.square),
}
AXES = [None, [], [1], [-1], [0, 2], [-3, 1], [2, 1, 0]]


def add_list(node, name, values):
    attribute = node.attribute.add(name=name, type=onnx.AttributeProto.INTS)
    attribute.ints.extend(values)


def node_of(reduction, axes, keep, opset, output, constants):
    """The node, and the dimensions that it is about."""
    given = axes
    node = onnx.helper.make_node("Reduce" + reduction, ["x"], [output])
    if keep is not None:
        node.attribute.append(onnx.helper.make_attribute("keepdims", int(keep)))
    if reduction == "Sum" and opset >= 13:
        if axes is not None:
            constants.append(numpy_helper.from_array(
                np.array(axes, np.int64), output + "/axes"))
            node.input.append(constants[-1].name)
        given = axes or None  # here, an empty list is as none
    elif axes is not None:
        add_list(node, "axes", axes)
    return node, given


@pytest.mark.parametrize("executor", ["fast", "reference"])
@pytest.mark.parametrize("opset", range(6, 18))
def test_dimensions_however_they_are_given(opset, executor, monkeypatch):
    monkeypatch.setenv("ASPEN_EXECUTOR", executor)
    nodes, wanted, constants = [], {}, []
    for reduction, axes, keep in itertools.product(REDUCTIONS, AXES,
                                                   [None, True, False]):
        name = f"{reduction} {axes} {keep}"
        node, axes = node_of(reduction, axes, keep, opset, name, constants)
        nodes.append(node)
        axes = None if axes is None else tuple(axes)
        wanted[name] = REDUCTIONS[reduction](X.astype(np.float64), axes,
                                             keep is not False)
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes, "reductions",
        [onnx.helper.make_tensor_value_info("x", kind, X.shape)],
        [onnx.helper.make_tensor_value_info(name, kind, value.shape)
         for name, value in wanted.items()], constants)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    found = infer(model.SerializeToString(), {"x": X}, list(wanted))
    for array, (name, value) in zip(found, wanted.items()):
        assert array.shape == value.shape, name
        np.testing.assert_allclose(array, value, rtol=2e-5, err_msg=name)


@pytest.mark.parametrize("is_noop", [0, 1])
def test_empty_input_of_axes(is_noop):
    node = onnx.helper.make_node("ReduceSum", ["x", "axes"], ["y"],
                                 noop_with_empty_axes=is_noop)
    kind = onnx.TensorProto.FLOAT
    shape = X.shape if is_noop else [1, 1, 1]
    graph = onnx.helper.make_graph(
        [node], "sum", [onnx.helper.make_tensor_value_info("x", kind, X.shape)],
        [onnx.helper.make_tensor_value_info("y", kind, shape)],
        [numpy_helper.from_array(np.array([], np.int64), "axes")])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    (found,) = infer(model.SerializeToString(), {"x": X}, ["y"])
    np.testing.assert_allclose(found, X if is_noop else X.sum(keepdims=True),
                               rtol=1e-6)


# Of [[1,2],[3,4]]: value and gradient of its sum, where nothing is reduced.
UNREDUCED = {
    "reducesum": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducemean": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reduceprod": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducemax": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducemin": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducelogsumexp": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducel1": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducel2": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
    "reducesumsquare": ([[1, 4], [9, 16]], [[2, 4], [6, 8]]),
    "reducelogsum": (np.log([[1, 2], [3, 4]]), [[1, 1 / 2], [1 / 3, 1 / 4]]),
    "reducemedian": ([[1, 2], [3, 4]], [[1, 1], [1, 1]]),
}


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("name", UNREDUCED)
def test_the_builder_reduces_nothing_by_an_empty_list(name, keep):
    builder = popart.Builder()
    x = builder.addInputTensor("FLOAT", [2, 2], "x")
    domain = (builder.aiGraphcore if name == "reducemedian" else builder.aiOnnx)
    y = getattr(domain, name)([x], axes=[], keepdims=keep)
    y = y[0] if isinstance(y, (list, tuple)) else y
    assert builder.getTensorShape(y) == [2, 2]
    array = np.array([[1, 2], [3, 4]], np.float32)
    value, gradient = train(builder, {x: array}, y, [x])
    np.testing.assert_allclose(value, UNREDUCED[name][0], rtol=1e-6)
    np.testing.assert_allclose(gradient, UNREDUCED[name][1], rtol=1e-6)
