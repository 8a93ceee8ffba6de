"""Call and If: values and gradients, compared with PyTorch; and subgraphs in
subgraphs."""
import numpy as np
import popart
import pytest
import torch
from programs import add_input, expect, floats, run_model, train


def test_calls_of_one_graph_share_it():
    builder = popart.Builder()
    x, w = floats(3, 4), floats(4, 4)
    ids = [add_input(builder, name, array)
           for name, array in (("x", x), ("w", w))]
    callee = builder.createSubgraphBuilder()
    a = callee.addInputTensor("FLOAT", [3, 4])
    b = callee.addUntypedInputTensor()  # the call says what it is
    callee.addOutputTensor(callee.aiOnnx.tanh([callee.aiOnnx.matmul([a, b])]))
    once = builder.aiGraphcore.call([ids[0], ids[1]], 1, callee)[0]
    twice = builder.aiGraphcore.call([once, ids[1]], 1, callee)[0]
    results = train(builder, dict(zip(ids, (x, w))), twice, ids)
    expect(results, lambda x, w: torch.tanh(torch.tanh(x @ w) @ w), (x, w))


@pytest.mark.parametrize("flag", [True, False])
def test_if_runs_and_differentiates_one_branch(flag):
    builder = popart.Builder()
    x, w = floats(2, 3), floats(2, 3)
    ids = [add_input(builder, name, array)
           for name, array in (("x", x), ("w", w))]
    condition = add_input(builder, "condition", np.array(flag))
    then_branch = builder.createSubgraphBuilder()
    else_branch = builder.createSubgraphBuilder()
    for branch in (then_branch, else_branch):
        branch.addInputTensorFromParentGraph(ids[0])
    then_branch.addInputTensorFromParentGraph(ids[1])
    then_branch.addOutputTensor(then_branch.aiOnnx.sin(
        [then_branch.aiOnnx.mul(ids)]))
    else_branch.addOutputTensor(else_branch.aiOnnx.exp([ids[0]]))
    result = builder.aiOnnx.logical_if([condition], 1, else_branch,
                                       then_branch)[0]
    results = train(builder, {ids[0]: x, ids[1]: w,
                              condition: np.array(flag)}, result, ids)
    if flag:
        expect(results, lambda x, w: torch.sin(x * w), (x, w))
    else:
        expect(results, lambda x, w: torch.exp(x) + 0 * w, (x, w))


def test_if_with_a_weight_in_one_branch_trains_it():
    builder = popart.Builder()
    x, start = floats(4), floats(4)
    condition = add_input(builder, "condition", np.array(True))
    x_id = add_input(builder, "x", x)
    w = builder.addInitializedInputTensor(start, "w")
    yes, no = builder.createSubgraphBuilder(), builder.createSubgraphBuilder()
    for branch in (yes, no):
        branch.addInputTensorFromParentGraph(x_id)
    yes.addInputTensorFromParentGraph(w)
    yes.addOutputTensor(yes.aiOnnx.mul([x_id, w]))
    no.addOutputTensor(no.aiOnnx.neg([x_id]))
    y = builder.aiOnnx.logical_if([condition], 1, no, yes)[0]
    loss = builder.aiGraphcore.identityloss([y], popart.ReductionType.Sum)
    builder.addOutputTensor(loss)
    session = popart.TrainingSession(
        builder.getModelProto(), popart.DataFlow(1, [loss]), loss,
        popart.ConstSGD(0.5), popart.DeviceManager().createIpuModelDevice({}))
    session.prepareDevice()
    session.weightsFromHost()
    anchors = session.initAnchorArrays()
    weights = np.empty_like(start)
    expected = start
    for flag in (True, False, True):
        session.run(popart.PyStepIO({x_id: x, condition: np.array(flag)},
                                    anchors))
        expected = expected - 0.5 * x if flag else expected
        session.weightsToHost()
        session.readWeights(popart.PyWeightsIO({w: weights}))
        np.testing.assert_allclose(weights, expected, rtol=1e-6)


def test_subgraphs_in_subgraphs_read_the_graphs_around_them():
    builder = popart.Builder()
    builder.aiOnnxOpset11
    x, w = floats(2), floats(2)
    ids = [add_input(builder, name, array)
           for name, array in (("x", x), ("w", w))]
    condition = add_input(builder, "condition", np.array(True))
    body = builder.createSubgraphBuilder()
    body.addInputTensor("INT64", [])
    goes_on = body.addInputTensor("BOOL", [])
    value = body.addInputTensor("FLOAT", [2])
    body.addInputTensorFromParentGraph(condition)
    body.addInputTensorFromParentGraph(ids[1])
    yes, no = body.createSubgraphBuilder(), body.createSubgraphBuilder()
    for branch in (yes, no):
        branch.addInputTensorFromParentGraph(value)
        branch.addInputTensorFromParentGraph(ids[1])
    yes.addOutputTensor(yes.aiOnnx.mul([value, ids[1]]))
    no.addOutputTensor(no.aiOnnx.add([value, ids[1]]))
    body.addOutputTensor(body.aiOnnx.identity([goes_on]))
    body.addOutputTensor(body.aiOnnx.logical_if([condition], 1, no, yes)[0])
    (output,) = builder.aiOnnx.loop(
        [builder.aiOnnx.constant(np.array(3, np.int64)), "", ids[0]], 1, body)
    feeds = {ids[0]: x, ids[1]: w}
    (result,) = run_model(builder, {**feeds, condition: np.array(False)},
                          [output])
    np.testing.assert_allclose(result, x + 3 * w, rtol=1e-5)
    results = train(builder, {**feeds, condition: np.array(True)}, output, ids)
    expect(results, lambda x, w: x * w * w * w, (x, w))


OFFSETS, LENGTHS, TARGETS, LONGEST = [0, 2, 3, 7], [2, 1, 3, 2], [6, 5, 2, 0], 3


def packed(builder, x, w, at_a_time=2):
    """Sequences of rows of x, packed: each row times w, less the sum of its
    sequence. The callback sees sequences that are padded with zeros."""
    callback = builder.createSubgraphBuilder()
    a = callback.addInputTensor("FLOAT", [at_a_time, LONGEST, x.shape[1]])
    callback.addInputTensorFromParentGraph("w")
    y = callback.aiOnnx.matmul([a, "w"])
    total = callback.aiOnnx.reducesum([y], axes=[1], keepdims=1)
    callback.addOutputTensor(callback.aiOnnx.sub([y, total]))
    ids = [builder.aiOnnx.constant(np.array(numbers, np.uint32))
           for numbers in (OFFSETS, LENGTHS, TARGETS, LENGTHS)]
    return builder.aiGraphcore.packedDataBlock(
        ["x", *ids], [LONGEST], 9, at_a_time, callback)


@pytest.mark.parametrize("at_a_time", [1, 2, 4])
def test_packed_sequences_go_through_a_subgraph(at_a_time):
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    x, w = floats(9, 4), floats(4, 5)
    ids = [add_input(builder, name, array)
           for name, array in (("x", x), ("w", w))]
    result = packed(builder, x, w, at_a_time)
    assert builder.getTensorShape(result) == [9, 5]

    def expected(x, w):
        rows = [torch.zeros(5)] * 9
        for begin, length, target in zip(OFFSETS, LENGTHS, TARGETS):
            y = x[begin:begin + length] @ w
            for i, row in enumerate(y - y.sum(0)):
                rows[target + i] = row
        return torch.stack(rows)

    results = train(builder, {"x": x, "w": w}, result, ids)
    expect(results, expected, (x, w))


def test_packed_sequences_must_fit():
    builder = popart.Builder(opsets={"ai.onnx": 10, "ai.graphcore": 1})
    x, w = floats(9, 4), floats(4, 5)
    for name, array in (("x", x), ("w", w)):
        add_input(builder, name, array)
    result = packed(builder, x, w, 3)
    with pytest.raises(popart.popart_exception,
                       match="4 sequences cannot be called 3 at a time"):
        run_model(builder, {"x": x, "w": w}, [result])
