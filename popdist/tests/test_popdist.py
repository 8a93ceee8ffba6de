"""popdist: an instance's place among others, from the environment."""
import popart
import popdist
import popdist.popart
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
    assert popdist.isPopdistEnvSet()
    assert popdist.getNumTotalReplicas() == 4
    assert popdist.getNumLocalReplicas() == 2
    assert popdist.getNumIpusPerReplica() == 2
    assert popdist.getNumInstances() == 2
    assert popdist.getInstanceIndex() == popdist.getLocalInstanceIndex() == 1
    assert popdist.getReplicaIndexOffset() == 2
    assert popdist.checkNumIpusPerReplica(2)
    assert not popdist.checkNumIpusPerReplica(4)
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


def test_optionsRefuseOtherIpusPerReplica(second):
    with pytest.raises(RuntimeError, match="uses 4 IPUs per replica; .* is 2"):
        popdist.poptorch.Options(4)


def test_optionsCacheWherePoprunSays(second, monkeypatch, tmp_path):
    monkeypatch.setenv("POPDIST_EXECUTABLE_CACHE_PATH", str(tmp_path))
    options = popdist.poptorch.Options()
    assert options._Popart.options["cachePath"] == str(tmp_path)


def test_popartOptionsAreTheEnvironments(second):
    options = popart.SessionOptions()
    popdist.popart.configureSessionOptions(options)
    assert options.enableReplicatedGraphs
    assert options.replicatedGraphCount == 2
    assert options.enableDistributedReplicatedGraphs
    assert options.globalReplicationFactor == 4
    assert options.globalReplicaOffset == 2
    device = popdist.popart.getDevice()
    assert device.numIpus == 4
    assert device.id == popdist.getDeviceId()


@pytest.mark.parametrize("name, value, message", [
    ("NUM_LOCAL_REPLICAS", "3", "4 replicas are not shared out evenly"),
    ("UNIFORM_REPLICAS_PER_INSTANCE", "0", "not shared out evenly"),
    ("NUM_TOTAL_REPLICAS", "x", "POPDIST_NUM_TOTAL_REPLICAS is 'x'"),
])
def test_environmentMustBeWhole(second, monkeypatch, name, value, message):
    monkeypatch.setenv("POPDIST_" + name, value)
    with pytest.raises(popdist.popdist_exception, match=message):
        popdist.getNumInstances()


def test_backendsMustBeBackends(tmp_path):
    with pytest.raises(popdist.popdist_exception, match="cannot be loaded"):
        popdist.registerBackend(str(tmp_path / "missing.so"))
    with pytest.raises(popdist.popdist_exception, match="registerDefaultBackend"):
        popdist.initializeBackend()
    with pytest.raises(popdist.popdist_exception, match="popdist.init"):
        popdist.registerCommunicator({0})


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

    options = popdist.poptorch.Options().showCompilationProgressBar(False)
    model = Model()
    before = model.layer.bias.detach().clone()
    _, loss = poptorch.trainingModel(model, options)(torch.ones(4, 3))
    assert loss.shape == (2,)
    # The mean over replicas of gradients 1/2 each, times the default rate.
    torch.testing.assert_close(model.layer.bias.detach(), before - 0.005)
