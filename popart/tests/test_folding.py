"""What exporters compute from shapes is known when a model is read."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from programs import floats, infer


def exported(opset, nodes, inputs, outputs, initializers=()):
    """A model as an exporter writes it."""
    graph = helper.make_graph(
        nodes, "exported",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
         for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
         for name, shape in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name)
         for name, array in dict(initializers).items()])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 7
    return model.SerializeToString()


def test_shapes_may_be_computed_from_shapes():
    """As Tensor.view(x.size(0), -1) is exported."""
    model = exported(11, [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["first"]),
        helper.make_node("Cast", ["first"], ["whole"], to=TensorProto.FLOAT),
        helper.make_node("Floor", ["whole"], ["floored"]),
        helper.make_node("Cast", ["floored"], ["size"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["size"], ["sizes"], axes=[0]),
        helper.make_node("Concat", ["sizes", "rest"], ["new"], axis=0),
        helper.make_node("Reshape", ["x", "new"], ["y"])],
        {"x": [2, 3, 4]}, {"y": [2, 12]},
        {"zero": np.int64(0), "rest": np.array([-1], np.int64)})
    x = floats(2, 3, 4)
    np.testing.assert_array_equal(infer(model, {"x": x}, ["y"])[0],
                                  x.reshape(2, 12))


def test_slices_to_the_end_stay_so_when_folded():
    model = exported(11, [
        helper.make_node("Unsqueeze", ["far"], ["end"], axes=[0]),
        helper.make_node("Slice", ["x", "one", "end", "one"], ["y"])],
        {"x": [2, 5]}, {"y": [2, 4]},
        {"far": np.int64(2 ** 63 - 1), "one": np.array([1], np.int64)})
    x = floats(2, 5)
    np.testing.assert_array_equal(infer(model, {"x": x}, ["y"])[0], x[:, 1:])


def test_branches_of_a_constant_condition_may_differ():
    """As torch.squeeze is exported."""
    def branch(name, node):
        return helper.make_graph([node], name, [], [
            helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT,
                                          None)])
    model = exported(11, [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["size"]),
        helper.make_node("Equal", ["size", "one"], ["is_one"]),
        helper.make_node(
            "If", ["is_one"], ["y"],
            then_branch=branch("then", helper.make_node(
                "Squeeze", ["x"], ["narrow"], axes=[1])),
            else_branch=branch("else", helper.make_node(
                "Identity", ["x"], ["same"])))],
        {"x": [2, 3]}, {"y": [2, 3]}, {"one": np.int64(1)})
    x = floats(2, 3)
    np.testing.assert_array_equal(infer(model, {"x": x}, ["y"])[0], x)
