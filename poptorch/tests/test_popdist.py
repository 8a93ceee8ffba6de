# popdist: a process's place among others, from the environment.
import popdist
import popdist.poptorch
import pytest
import torch
from torch import nn

import poptorch

SECOND_OF_TWO = {
    "NUM_TOTAL_REPLICAS": "4",
    "NUM_LOCAL_REPLICAS": "2",
    "NUM_IPUS_PER_REPLICA": "2",
    "UNIFORM_REPLICAS_PER_INSTANCE": "1",
    "REPLICA_INDEX_OFFSET": "2",
    "LOCAL_INSTANCE_INDEX": "1",
}


@pytest.fixture
def second(monkeypatch):
    for name, value in SECOND_OF_TWO.items():
        monkeypatch.setenv("POPDIST_" + name, value)


def test_aloneWithoutTheEnvironment():
    assert not popdist.isPopdistEnvSet()
    assert popdist.getNumInstances() == popdist.getNumTotalReplicas() == 1
    assert popdist.getInstanceIndex() == popdist.getReplicaIndexOffset() == 0
    with pytest.raises(RuntimeError, match="environment of PopDist is not set"):
        popdist.init()


def test_environmentSaysWhoWeAre(second):
    popdist.init()
    assert popdist.isPopdistEnvSet()
    assert popdist.getNumTotalReplicas() == 4
    assert popdist.getNumLocalReplicas() == 2
    assert popdist.getNumIpusPerReplica() == 2
    assert popdist.getNumInstances() == 2
    assert popdist.getInstanceIndex() == popdist.getLocalInstanceIndex() == 1
    assert popdist.getReplicaIndexOffset() == 2
    popdist.checkNumIpusPerReplica(2)
    with pytest.raises(RuntimeError, match="uses 4 IPUs per replica"):
        popdist.checkNumIpusPerReplica(4)
    run = popdist.execute_on_instances
    assert run({1}, lambda a, b: a + b, 1, b=2) == 3
    assert run({0}, lambda: 1) is None


def test_optionsAreTheEnvironments(second):
    options = popdist.poptorch.Options(ipus_per_replica=2)
    assert isinstance(options, poptorch.Options)
    assert options.replication_factor == 2
    assert options.Distributed.processId == 1
    assert options.Distributed.numProcesses == 2
    assert options.ipu_id == popdist.getDeviceId()
    assert options.clone().deviceIterations(3).device_iterations == 3


def test_oneProcessTrains(monkeypatch):
    monkeypatch.setenv("POPDIST_NUM_TOTAL_REPLICAS", "2")
    monkeypatch.setenv("POPDIST_NUM_LOCAL_REPLICAS", "2")

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            y = self.layer(x)
            return y, poptorch.identity_loss(y, "mean")

    popdist.init()
    options = popdist.poptorch.Options().showCompilationProgressBar(False)
    model = Model()
    before = model.layer.bias.detach().clone()
    _, loss = poptorch.trainingModel(model, options)(torch.ones(4, 3))
    assert loss.shape == (2,)
    # The mean over replicas of gradients 1/2 each, times the default rate.
    torch.testing.assert_close(model.layer.bias.detach(), before - 0.005)
