# Parameters with a value for each group of replicas.
import pytest
import torch

import poptorch

KINDS = poptorch.CommGroupType
MODES = poptorch.VariableRetrievalMode


class Scaled(torch.nn.Module):
    def __init__(self, values):
        super().__init__()
        self.W = torch.nn.Parameter(torch.tensor(values))

    def forward(self, x):
        y = self.W * x
        return y, poptorch.identity_loss(y, reduction="sum")


def options():
    result = poptorch.Options().showCompilationProgressBar(False)
    result.Training.accumulationAndReplicationReductionType(
        poptorch.ReductionType.Sum
    )
    return result.replicationFactor(4).outputMode(poptorch.OutputMode.All)


X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
ROWS = [[10.0, 20.0], [30.0, 40.0]]


@pytest.mark.parametrize(
    "kind, groups", [(KINDS.Consecutive, [0, 0, 1, 1]),
                     (KINDS.Orthogonal, [0, 1, 0, 1])]
)  # fmt: skip
def test_replicasHaveTheValuesOfTheirGroups(kind, groups):
    executor = poptorch.inferenceModel(Scaled(ROWS), options())
    executor.W.replicaGrouping(kind, 2, MODES.OnePerGroup)
    y, _ = executor(X)
    assert torch.equal(y, X * torch.tensor(ROWS)[groups])


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_groupsTrainApart(momentum):
    model = Scaled(ROWS)
    executor = poptorch.trainingModel(
        model, options(),
        poptorch.optim.SGD(model.parameters(), lr=0.5, momentum=momentum),
    )  # fmt: skip
    executor.W.replicaGrouping(KINDS.Consecutive, 2, MODES.OnePerGroup)
    expected = torch.tensor(ROWS)
    # The gradient of a group's weight is the sum of its replicas' inputs.
    gradient = torch.stack((X[0] + X[1], X[2] + X[3]))
    velocity = torch.zeros_like(gradient)
    for _ in range(3):
        executor(X)
        velocity = momentum * velocity + gradient
        expected -= 0.5 * velocity
    assert torch.equal(model.W.detach(), expected)
    executor.detachFromDevice()
    executor(X)
    expected -= 0.5 * (momentum * velocity + gradient)
    assert torch.equal(model.W.detach(), expected)


def test_allReplicasReturnTheirValues():
    model = Scaled(ROWS)
    executor = poptorch.trainingModel(
        model, options(), poptorch.optim.SGD(model.parameters(), lr=0.5)
    )
    executor.W.replicaGrouping(KINDS.Consecutive, 2, MODES.AllReplicas)
    for _ in range(2):
        executor(X)
    gradient = torch.stack((X[0] + X[1], X[2] + X[3]))
    expected = torch.tensor(ROWS) - gradient
    assert torch.equal(model.W.detach(), expected[[0, 0, 1, 1]])
    executor.copyWeightsToDevice()
    executor(X)
    expected -= 0.5 * gradient
    assert torch.equal(model.W.detach(), expected[[0, 0, 1, 1]])


def test_rowsMustFitTheGroups():
    executor = poptorch.inferenceModel(Scaled([*ROWS, [1.0, 1.0]]), options())
    executor.W.replicaGrouping(KINDS.Consecutive, 2, MODES.OnePerGroup)
    with pytest.raises(poptorch.Error, match="W has 2 groups.*not 3"):
        executor(X)
    executor = poptorch.inferenceModel(Scaled(1.0), options())
    with pytest.raises(poptorch.Error, match="Scalars cannot be passed as"):
        executor.W.replicaGrouping(KINDS.Consecutive, 2, MODES.OnePerGroup)
