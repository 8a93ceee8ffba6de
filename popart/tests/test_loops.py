"""Loop and Scan: values and gradients, compared with PyTorch."""
import io

import numpy as np
import popart
import pytest
import torch
from programs import (add_input, expect, floats, infer, run, run_model,
                      train)


def power_loop(turns, condition):
    """value -> value * w + step, `turns` times, and all values."""
    builder = popart.Builder()
    builder.aiOnnxOpset11
    x, w = floats(2, 3), floats(2, 3)
    ids = [add_input(builder, name, array)
           for name, array in (("x", x), ("w", w))]
    body = builder.createSubgraphBuilder()
    body.addInputTensor("INT64", [])
    goes_on = body.addInputTensor("BOOL", [])
    value = body.addInputTensor("FLOAT", [2, 3])
    body.addInputTensorFromParentGraph(ids[1])
    step = body.addInitializedInputTensor(np.float32(0.25))
    after = body.aiOnnx.add([body.aiOnnx.mul([value, ids[1]]), step])
    body.addOutputTensor(body.aiOnnx.identity([goes_on]))
    body.addOutputTensor(after)
    body.addOutputTensor(body.aiOnnx.sin([after]))
    trips = builder.aiOnnx.constant(np.array(turns, np.int64))
    start = (builder.aiOnnx.constant(np.array(True)) if condition else "")
    outputs = builder.aiOnnx.loop([trips, start, ids[0]], 2, body)
    return builder, ids, outputs, (x, w)


def power_values(turns, x, w):
    values = []
    for _ in range(turns):
        x = x * w + 0.25
        values.append(torch.sin(x))
    return x, torch.stack(values)


@pytest.mark.parametrize("condition", [True, False])
def test_loop_of_a_constant_length(condition):
    builder, ids, outputs, arrays = power_loop(4, condition)
    assert builder.getTensorShape(outputs[0]) == [2, 3]
    assert builder.getTensorShape(outputs[1]) == [4, 2, 3]
    results = run(builder, dict(zip(ids, arrays)), outputs)
    for result, value in zip(results, power_values(
            4, *map(torch.from_numpy, arrays))):
        np.testing.assert_allclose(result, value, rtol=1e-5)


@pytest.mark.parametrize("output", [0, 1])
def test_loop_is_differentiated(output):
    builder, ids, outputs, arrays = power_loop(5, True)
    results = train(builder, dict(zip(ids, arrays)), outputs[output], ids)
    expect(results, lambda x, w: power_values(5, x, w)[output], arrays)


def test_loop_of_no_turns_hands_its_start_on():
    builder, ids, outputs, arrays = power_loop(0, True)
    (result,) = run(builder, dict(zip(ids, arrays)), outputs[:1])
    np.testing.assert_array_equal(result, arrays[0])


@pytest.mark.parametrize("most, limit, turns", [(100, 20.0, 5), (3, 1e9, 3),
                                                (None, 20.0, 5), (9, 0.5, 1)])
def test_loop_until_a_condition(most, limit, turns):
    builder = popart.Builder()
    builder.aiOnnxOpset11
    x = np.array([1.0], np.float32)
    x_id, limit_id = (builder.addInputTensor("FLOAT", [1], name)
                      for name in ("x", "limit"))
    body = builder.createSubgraphBuilder()
    body.addInputTensor("INT64", [])
    body.addInputTensor("BOOL", [])
    value = body.addInputTensor("FLOAT", [1])
    body.addInputTensorFromParentGraph(limit_id)
    twice = body.aiOnnx.add([value, value])
    body.addOutputTensor(body.aiOnnx.squeeze(
        [body.aiOnnx.less([twice, limit_id])]))
    body.addOutputTensor(twice)
    trips = "" if most is None else builder.aiOnnx.constant(
        np.array(most, np.int64))
    (output,) = builder.aiOnnx.loop(
        [trips, builder.aiOnnx.constant(np.array(True)), x_id], 1, body)
    (result,) = run(builder, {x_id: x,
                              limit_id: np.array([limit], np.float32)},
                    [output])
    assert result.item() == 2.0 ** turns


def test_loop_whose_length_comes_with_the_data():
    builder = popart.Builder()
    builder.aiOnnxOpset11
    trips = builder.addInputTensor("INT64", [], "trips")
    x = builder.addInputTensor("FLOAT", [2], "x")
    body = builder.createSubgraphBuilder()
    body.addInputTensor("INT64", [])
    goes_on = body.addInputTensor("BOOL", [])
    value = body.addInputTensor("FLOAT", [2])
    body.addOutputTensor(body.aiOnnx.identity([goes_on]))
    body.addOutputTensor(body.aiOnnx.add([value, value]))
    (output,) = builder.aiOnnx.loop([trips, "", x], 1, body)
    array = floats(2)
    for turns in (0, 1, 6):
        (result,) = run_model(builder, {trips: np.array(turns, np.int64),
                                        x: array}, [output])
        np.testing.assert_array_equal(result, array * 2 ** turns)


def scan_model(opset, directions):
    """Running sums along axis 1, and the squares of each slice."""
    builder = popart.Builder(opsets={"ai.onnx": opset, "ai.graphcore": 1})
    start, x = floats(3), floats(3, 4)
    ids = [add_input(builder, name, array)
           for name, array in (("start", start), ("x", x))]
    body = builder.createSubgraphBuilder()
    state = body.addInputTensor("FLOAT", [3])
    part = body.addInputTensor("FLOAT", [3])
    after = body.aiOnnx.tanh([body.aiOnnx.add([state, part])])
    body.addOutputTensor(after)
    body.addOutputTensor(body.aiOnnx.unsqueeze([after], [1]))
    body.addOutputTensor(body.aiOnnx.mul([part, part]))
    outputs = builder.aiOnnx.scan(
        ids, 3, body, num_scan_inputs=1, scan_input_axes=[-1],
        scan_input_directions=[directions[0]], scan_output_axes=[1, 0],
        scan_output_directions=[directions[1], 0])
    return builder, ids, outputs, (start, x)


def scan_values(directions, state, x):
    states, squares = [], []
    columns = list(x.unbind(1))
    for part in reversed(columns) if directions[0] else columns:
        state = torch.tanh(state + part)
        states.append(state)
        squares.append(part * part)
    if directions[1]:
        states.reverse()
    return state, torch.stack(states, 1), torch.cat(squares)


@pytest.mark.parametrize("opset", [9, 11])
@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_scan(opset, directions):
    builder, ids, outputs, arrays = scan_model(opset, directions)
    assert [builder.getTensorShape(name) for name in outputs] == [
        [3], [3, 4], [12]]
    results = run(builder, dict(zip(ids, arrays)), outputs)
    for result, value in zip(results, scan_values(
            directions, *map(torch.from_numpy, arrays))):
        np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("output", [0, 1, 2])
@pytest.mark.parametrize("directions", [(0, 0), (1, 1)])
def test_scan_is_differentiated(directions, output):
    builder, ids, outputs, arrays = scan_model(11, directions)
    results = train(builder, dict(zip(ids, arrays)), outputs[output],
                    ids if output < 2 else ids[1:])
    expect(results if output < 2 else results[:1],
           lambda s, x: scan_values(directions, s, x)[output] + 0 * s.sum(),
           arrays)


def test_scan_hands_out_and_joins_lists():
    """Of one dimension, the scanned axis stays."""
    builder = popart.Builder(opsets={"ai.onnx": 11, "ai.graphcore": 1})
    ids = [builder.addInputTensor("FLOAT", [4], name) for name in "ab"]
    body = builder.createSubgraphBuilder()
    parts = [body.addInputTensor("FLOAT", [1]) for _ in ids]
    body.addOutputTensor(body.aiOnnx.concat(parts, 0))
    for direction, expected in ((0, range(8)), (1, [6, 7, 4, 5, 2, 3, 0, 1])):
        (output,) = builder.aiOnnx.scan(ids, 1, body, num_scan_inputs=2,
                                        scan_output_directions=[direction])
        assert builder.getTensorShape(output) == [8]
        (result,) = run_model(builder, {
            "a": np.array([0, 2, 4, 6], np.float32),
            "b": np.array([1, 3, 5, 7], np.float32)}, [output])
        np.testing.assert_array_equal(result, expected)


def scan_of_rows(shape):
    """ONNX's own file of a Scan of x, which gives back what it gets."""
    onnx = pytest.importorskip("onnx")

    def info(name, dims):
        return onnx.helper.make_tensor_value_info(
            name, onnx.TensorProto.FLOAT, dims)

    inner = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["row"], ["copy"])], "body",
        [info("row", shape[1:])], [info("copy", shape[1:])])
    node = onnx.helper.make_node("Scan", ["x"], ["y"], num_scan_inputs=1,
                                 body=inner)
    graph = onnx.helper.make_graph([node], "scan", [info("x", shape)],
                                   [info("y", shape)])
    return onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 11)])


@pytest.mark.parametrize("shape", [[4, 3], [4], [4, 3, 2]])
def test_scan_stacks_where_the_model_says_so(shape):
    x = floats(*shape)
    (result,) = infer(scan_of_rows(shape).SerializeToString(), {"x": x}, ["y"])
    np.testing.assert_array_equal(result, x)


def test_scan_joins_rows_where_the_model_says_nothing():
    model, x = scan_of_rows([4, 3]), floats(4, 3)
    node, = model.graph.node
    node.output[0] = "rows"
    model.graph.node.append(type(node)(op_type="Identity", input=["rows"],
                                       output=["y"]))
    model.graph.output[0].type.tensor_type.shape.CopyFrom(
        scan_of_rows([12]).graph.output[0].type.tensor_type.shape)
    (result,) = infer(model.SerializeToString(), {"x": x}, ["y"])
    np.testing.assert_array_equal(result, x.flatten())


def test_scanned_inputs_have_equally_many_turns():
    builder = popart.Builder(opsets={"ai.onnx": 11, "ai.graphcore": 1})
    ids = [builder.addInputTensor("FLOAT", [size], name)
           for name, size in (("a", 4), ("b", 3))]
    body = builder.createSubgraphBuilder()
    body.addOutputTensor(body.aiOnnx.add(
        [body.addInputTensor("FLOAT", [1]) for _ in ids]))
    with pytest.raises(popart.popart_exception, match="Number of iterations "
                       "required by the inputs do not match: 4 and 3"):
        (output,) = builder.aiOnnx.scan(ids, 1, body, num_scan_inputs=2)
        run(builder, {}, [output])


@pytest.mark.parametrize("is_training", [False, True])
def test_scan_of_opset_8_scans_each_sample(is_training):
    builder = popart.Builder(opsets={"ai.onnx": 8, "ai.graphcore": 1})
    start, x = floats(2, 3), floats(2, 4, 3)
    ids = [add_input(builder, name, array)
           for name, array in (("start", start), ("x", x))]
    body = builder.createSubgraphBuilder()
    state = body.addInputTensor("FLOAT", [3])
    part = body.addInputTensor("FLOAT", [3])
    after = body.aiOnnx.mul([body.aiOnnx.tanh([state]), part])
    body.addOutputTensor(after)
    body.addOutputTensor(body.aiOnnx.identity([after]))
    outputs = builder.aiOnnx.scan(["", *ids], 2, body, num_scan_inputs=1,
                                  directions=[1])

    def values(state, x):
        states = []
        for part in reversed(x.unbind(1)):
            state = torch.tanh(state) * part
            states.append(state)
        return state, torch.stack(states, 1)

    feeds = dict(zip(ids, (start, x)))
    if is_training:
        results = train(builder, feeds, outputs[1], ids)
        expect(results, lambda s, x: values(s, x)[1], (start, x))
        return
    for result, value in zip(run(builder, feeds, outputs),
                             values(*map(torch.from_numpy, (start, x)))):
        np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("change, message", [
    ({"value": [3]}, r"value 0 changes from FLOAT\{3\} to FLOAT\{3,3\}"),
    ({"condition": "FLOAT"}, "condition, one BOOL"),
    ({"inputs": 1}, "takes more than the 3 inputs")])
def test_bodies_that_do_not_fit_are_refused(change, message):
    builder = popart.Builder()
    builder.aiOnnxOpset11
    x = builder.addInputTensor("FLOAT", [3], "x")
    trips = builder.addInputTensor("INT64", [], "trips")
    body = builder.createSubgraphBuilder()
    body.addInputTensor("INT64", [])
    goes_on = body.addInputTensor("BOOL", [])
    value = body.addInputTensor("FLOAT", [3])
    for _ in range(change.get("inputs", 0)):
        body.addInputTensor("FLOAT", [3])
    body.addOutputTensor(
        body.aiOnnx.cast([goes_on], change.get("condition", "BOOL")))
    other = body.aiOnnx.constant(
        np.zeros([3] + [3] * len(change.get("value", [])), np.float32))
    body.addOutputTensor(body.aiOnnx.add([value, other]))
    (output,) = builder.aiOnnx.loop([trips, "", x], 1, body)
    builder.addOutputTensor(output)
    with pytest.raises(popart.popart_exception, match=message):
        infer(builder.getModelProto(), {}, [output])


def test_graphs_are_drawn_where_asked(tmp_path, monkeypatch):
    builder, ids, outputs, _ = power_loop(3, True)
    loss = builder.aiGraphcore.identityloss([outputs[0]],
                                            popart.ReductionType.Sum)
    builder.addOutputTensor(loss)
    options = popart.SessionOptions()
    options.logDir = str(tmp_path)
    options.dotChecks = {"FWD1", "bwd0"}
    options.dotOpNames = True
    monkeypatch.setenv("POPART_DOT_CHECKS", "FINAL:FWD0")
    popart.TrainingSession(
        builder.getModelProto(),
        popart.DataFlow(1, [loss, "Gradient___" + ids[0]]), loss,
        popart.ConstSGD(0.1), popart.DeviceManager().createIpuModelDevice({}),
        userOptions=options)
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert set(files) == {"FWD0.dot", "FWD1.dot", "BWD0.dot", "FINAL.dot"}
    assert "Gradient___" + ids[0] in files["BWD0.dot"]
    assert "Gradient___" + ids[0] not in files["FWD1.dot"]
    assert all(text.startswith("digraph G {\n") for text in files.values())


class Repeated(torch.nn.Module):
    """A loop of three turns that reads its counter, then a branch."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.from_numpy(floats(4, 4)))

    def forward(self, x):
        for i in range(3):
            x = torch.tanh(x @ self.w) * (i + 1)
        if x.sum() > 0:
            x = x + 1
        else:
            x = x - 1
        return x.view(x.size(0), -1)


class Doubled(torch.nn.Module):
    """A loop that the data ends."""

    def forward(self, x):
        while float(x.abs().max()) < 50.0:
            x = x * 2
        return x


@pytest.mark.parametrize("opset", [9, 11, 13])
@pytest.mark.parametrize("network", [Repeated, Doubled])
def test_control_flow_that_pytorch_exports(network, opset):
    scripted = torch.jit.script(network())
    x = floats(2, 4)
    file = io.BytesIO()
    torch.onnx.export(scripted, (torch.from_numpy(x),), file,
                      opset_version=opset, input_names=["x"],
                      output_names=["y"])
    (result,) = infer(file.getvalue(), {"x": x}, ["y"])
    np.testing.assert_allclose(
        result, scripted(torch.from_numpy(x)).detach(), rtol=1e-5, atol=1e-5)
