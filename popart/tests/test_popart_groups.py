"""Weights that groups of replicas have for themselves."""
import numpy as np
import onnx
import popart
import pytest
from onnx import numpy_helper
from small_sessions import error, inference, ipus, model, replicated, run

GROUPS = [
    ("Consecutive", 2, [[1, 1], [2, 2]], [0, 0, 1, 1]),
    ("Orthogonal", 2, [[1, 1], [2, 2]], [0, 1, 0, 1]),
    ("Ungrouped", 0, [[1, 1], [2, 2], [3, 3], [4, 4]], [0, 1, 2, 3]),
    ("All", 0, [1, 1], [0, 0, 0, 0]),
]


@pytest.mark.parametrize("kind, size, start, groups", GROUPS)
@pytest.mark.parametrize("constant", [True, False])
def test_groups_of_replicas_have_weights_of_their_own(kind, size, start,
                                                      groups, constant):
    settings = popart.VariableSettings(
        popart.CommGroup(getattr(popart.CommGroupType, kind), size))
    options = replicated(4)
    options.constantWeights = constant
    session, x, w, y = inference(options, ipus(4), start=start,
                                 settings=settings, replicas=4)
    if not constant:
        session.weightsFromHost()
    found = run(session, np.ones((4, 2)))[y]
    wanted = np.array(start).reshape(-1, 2)[groups]
    np.testing.assert_array_equal(found, wanted)
    if constant and kind == "All":
        with pytest.raises(error, match="constantWeights is set"):
            session.writeWeights(popart.PyWeightsIO({}))


def train(kind, size, start, mode, accumulate=False, optimizer=None):
    settings = popart.VariableSettings(
        popart.CommGroup(getattr(popart.CommGroupType, kind), size),
        getattr(popart.VariableRetrievalMode, mode))
    options = replicated(4)
    if accumulate:
        options.enableGradientAccumulation = True
        options.accumulationFactor = 2
    proto, x, w, _, loss = model(start, settings, 4)
    session = popart.TrainingSession(
        proto, popart.DataFlow(1, [loss]), loss,
        optimizer or popart.ConstSGD(1.0), ipus(4), userOptions=options)
    session.prepareDevice()
    session.weightsFromHost()
    micro = 2 if accumulate else 1
    # Replica r has (10 to the r) as its gradient in each micro-batch.
    gradients = np.array([[1, 1], [10, 10], [100, 100], [1000, 1000]])
    run(session, np.array([gradients] * micro))
    session.weightsToHost()
    return session, w, gradients * micro


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("kind, size, start, groups", GROUPS)
def test_groups_are_trained_by_their_own_replicas(kind, size, start, groups,
                                                  accumulate):
    session, w, gradients = train(kind, size, start, "OnePerGroup",
                                  accumulate)
    weights = {w: np.zeros(np.shape(start), np.float32)}
    session.readWeights(popart.PyWeightsIO(weights))
    wanted = np.array(start, np.float32).reshape(-1, 2)
    for replica, group in enumerate(groups):
        wanted[group] -= gradients[replica]
    np.testing.assert_array_equal(weights[w].reshape(-1, 2), wanted)


def test_every_replica_may_return_its_weights():
    session, w, _ = train("Consecutive", 2, [[0, 0], [0, 0]], "AllReplicas")
    weights = {w: np.zeros((4, 2), np.float32)}
    session.readWeights(popart.PyWeightsIO(weights))
    np.testing.assert_array_equal(
        weights[w], [[-11, -11], [-11, -11], [-1100, -1100], [-1100, -1100]])
    # It may be written as it was read, or a value for each group.
    weights[w][:] = [[1, 1], [9, 9], [2, 2], [9, 9]]
    session.writeWeights(popart.PyWeightsIO(weights))
    back = {w: np.zeros((4, 2), np.float32)}
    session.readWeights(popart.PyWeightsIO(back))
    np.testing.assert_array_equal(back[w], [[1, 1], [1, 1], [2, 2], [2, 2]])
    session.writeWeights(popart.PyWeightsIO(
        {w: np.array([[3, 3], [4, 4]], np.float32)}))
    session.readWeights(popart.PyWeightsIO(back))
    np.testing.assert_array_equal(back[w], [[3, 3], [3, 3], [4, 4], [4, 4]])
    with pytest.raises(error, match="has 6 elements"):
        session.writeWeights(popart.PyWeightsIO(
            {w: np.zeros((3, 2), np.float32)}))


def test_grouped_weights_and_their_state_are_saved(tmp_path):
    optimizer = popart.SGD({"defaultLearningRate": (1.0, True),
                            "defaultMomentum": (0.5, True)})
    session, w, _ = train("Consecutive", 2, [[0, 0], [0, 0]], "OnePerGroup",
                          optimizer=optimizer)
    session.modelToHost(str(tmp_path / "m.onnx"))
    saved = {t.name: numpy_helper.to_array(t)
             for t in onnx.load(str(tmp_path / "m.onnx")).graph.initializer}
    np.testing.assert_array_equal(saved[w], [[-11, -11], [-1100, -1100]])
    state = saved[popart.reservedAcclPrefix() + w]
    assert state.shape == (2, 2)
    assert state[1, 0] == 100 * state[0, 0]
    session.resetHostWeights(str(tmp_path / "m.onnx"))


def test_retrieval_by_reduction_is_refused():
    settings = popart.VariableSettings(
        popart.VariableRetrievalMode.AllReduceReplicas)
    with pytest.raises(error, match="AllReduceReplicas is not supported"):
        inference(replicated(2), ipus(2), settings=settings, replicas=2)


# Groups without a session.


@pytest.mark.parametrize("kind, size, groups", [
    ("All", 0, [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ("Consecutive", 4, [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ("Orthogonal", 4, [[0, 2, 4, 6], [1, 3, 5, 7]]),
    ("Ungrouped", 0, [[0], [1], [2], [3], [4], [5], [6], [7]]),
])  # fmt: skip
def test_groups_of_replicas(kind, size, groups):
    group = popart.CommGroup(getattr(popart.CommGroupType, kind), size)
    mode = popart.VariableRetrievalMode.AllReplicas
    settings = popart.VariableSettings(group, mode)
    assert settings.groups(8) == groups
    assert settings.getGroupCount(8) == len(groups)
    assert settings.getRealGroupSize(8) == len(groups[0])
    assert settings.isUsingCommGroup()
    assert settings.getCommGroupType() == group.type
    assert settings.getSharedVariableDomain() == group
    assert settings.getRetrievalMode() == mode
    assert settings.numReplicasReturningVariable(8) == 8
    assert popart.VariableSettings(group).numReplicasReturningVariable(
        8) == len(groups)
    assert [settings.getGroupRepresentative(i)
            for i in range(len(groups))] == [g[0] for g in groups]
    full = [len(groups), 3] if len(groups) > 1 else [3]
    assert settings.shapeOnReplica(full, 8, "w") == [3]
    assert settings.shapeOnHost([3], 8) == full
    grouping = settings.getReplicaGrouping(8)
    assert [grouping.getReplicasAt(i) for i in range(len(groups))] == groups
    for replica in range(8):
        i = grouping.getGroupIndexOfReplica(replica)
        j = grouping.getIndexInGroupOfReplica(replica)
        assert groups[i][j] == replica == grouping.getReplicaAt(i, j)


def test_groups_by_stride():
    settings = popart.VariableSettings(
        2, 2, popart.VariableRetrievalMode.OnePerGroup)
    assert not settings.isUsingCommGroup()
    assert (settings.getStride(), settings.getGroupSize()) == (2, 2)
    assert settings.groups(8) == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert [settings.getGroupRepresentative(i) for i in range(4)] == [
        0, 1, 4, 5]
    with pytest.raises(error, match="6 replicas cannot be in groups of 2 "
                       "with stride 2"):
        settings.groups(6)
    with pytest.raises(error, match="has no CommGroup"):
        settings.getSharedVariableDomain()
    with pytest.raises(error, match="must be at least 1"):
        popart.VariableSettings(0, 2,
                                popart.VariableRetrievalMode.OnePerGroup)
    with pytest.raises(error, match="at least 1 replica, not 0"):
        popart.VariableSettings(
            popart.CommGroup(popart.CommGroupType.Consecutive, 0))
    assert popart.ReplicaGrouping(8, 1, 2).getTranspose() == (
        popart.ReplicaGrouping(8, 2, 4))


def test_grouped_weights_in_the_builder():
    settings = popart.VariableSettings(
        popart.CommGroup(popart.CommGroupType.Consecutive, 2))
    builder = popart.Builder()
    with pytest.raises(error, match="embedReplicationFactor first"):
        builder.addInitializedInputTensor(np.zeros((2, 3), np.float32),
                                          settings)
    builder.embedReplicationFactor(4)
    w = builder.addInitializedInputTensor(np.zeros((2, 3), np.float32),
                                          settings, "w")
    assert builder.getTensorShape(w) == [3]
    with pytest.raises(error, match=r"first dimension must be the number of "
                       r"groups of replicas, 2"):
        builder.addInitializedInputTensor(np.zeros((3, 3), np.float32),
                                          settings)
    builder.aiOnnx.relu([w])
    again = popart.Builder(builder.getModelProto())
    assert again.getTensorShape("w") == [3]
