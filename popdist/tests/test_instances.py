"""Instances that poprun starts: collectives, training, and how they end."""
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/poptorch/popdist_training.py"
TWO = "--num-instances=2"
PATIENCE = 120  # seconds; a job that hangs takes more


def start(*arguments, code=0):
    """What poprun printed."""
    done = subprocess.run(
        ["poprun", *map(str, arguments)], text=True, capture_output=True,
        timeout=PATIENCE)  # fmt: skip
    if code is not None:
        assert done.returncode == code, done.stdout + done.stderr
    return done


def python(text, *, code=0):
    """A program of two instances with a replica each."""
    program = "import popdist\npopdist.init()\nme = popdist.getInstanceIndex()\n"
    return start(TWO, "--num-replicas=2", sys.executable, "-c",
                 program + text, code=code)  # fmt: skip


def test_hostArraysGoBetweenInstances():
    done = python("""
import horovod.torch as hvd, torch
hvd.init()
x = torch.tensor([1.0, 2.0]) * (me + 1)
assert hvd.rank() == me and hvd.size() == hvd.local_size() == 2
assert hvd.allreduce(x, op=hvd.Sum).tolist() == [3, 6]
assert hvd.allreduce(x).tolist() == [1.5, 3]
assert hvd.grouped_allreduce([x, x.int()], average=False)[1].tolist() == [3, 6]
assert hvd.allgather(x.half()).tolist() == [1, 2, 2, 4]
weights = {"w": x.clone()}
hvd.broadcast_parameters(weights, root_rank=1)
assert weights["w"].tolist() == [2, 4]
print("agreed")
""")
    for instance in range(2):
        assert f"[1,{instance}]<stdout>:agreed" in done.stdout


def test_someInstancesMayWorkAlone():
    done = python("""
import numpy as np
from popdist import popdist_core
def gather():
    return popdist_core.allGather(np.array([7])).tolist()
assert popdist.execute_on_instances({1}, gather) == ([[7]] if me == 1 else None)
print(gather())
""")
    assert done.stdout.count("[[7], [7]]") == 2


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The example's weights: of two processes, and of one."""
    folder = tmp_path_factory.mktemp("weights")
    start(TWO, "--num-replicas=4", sys.executable, EXAMPLE, "--steps=6", "--save",
          folder / "shared")  # fmt: skip
    subprocess.run(
        [sys.executable, EXAMPLE, "--replicas=4", "--steps=6", "--save",
         folder / "alone"], check=True, timeout=PATIENCE)  # fmt: skip
    return torch.load(folder / "shared"), torch.load(folder / "alone")


def test_weightsDoNotDependOnTheNumberOfProcesses(trained):
    shared, alone = trained
    assert shared.keys() == alone.keys()
    for name, weight in shared.items():
        assert torch.equal(weight, alone[name]), name


def test_replicasOfProcessesTrainAsPyTorchDoes(trained):
    """Each replica normalises its own samples; their gradients are averaged."""
    sys.path.insert(0, str(EXAMPLE.parent))
    import popdist_training as example

    torch.manual_seed(0)
    network = example.Network()
    optimiser = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for step in range(6):
        optimiser.zero_grad()
        pictures, labels = example.batch(step, 4)
        for replica in zip(pictures.chunk(4), labels.chunk(4)):
            (network(*replica)[1] / 4).backward()
        optimiser.step()
    for name, weight in network.named_parameters():
        torch.testing.assert_close(trained[0][name], weight.detach(),
                                   rtol=1e-3, atol=1e-4)  # fmt: skip


FOLDED = """
import popdist, popdist.poptorch, poptorch, sys, torch
if popdist.isPopdistEnvSet():
    popdist.init()
    options = popdist.poptorch.Options()
else:
    options = poptorch.Options().replicationFactor(4)
options.randomSeed(3).showCompilationProgressBar(False)
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.3),
                            torch.nn.Linear(16, 2))
class Training(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model
    def forward(self, x):
        return poptorch.identity_loss(self.model(x) ** 2, "mean")
trained = poptorch.trainingModel(
    Training(), options, poptorch.optim.AdamW(model.parameters(), lr=0.01))
first = popdist.getReplicaIndexOffset()
for _ in range(4):
    trained(torch.randn(4, 8)[first:first + options.replication_factor])
trained.copyWeightsToHost()
if first == 0:
    torch.save(model.state_dict(), sys.argv[1])
"""


def test_foldedReplicasAreThoseOfProcesses(tmp_path):
    """One process runs such replicas in turn; their random numbers and sums
    are the same as of two processes."""
    start(TWO, "--num-replicas=4", sys.executable, "-c", FOLDED,
          tmp_path / "shared")  # fmt: skip
    subprocess.run([sys.executable, "-c", FOLDED, tmp_path / "alone"],
                   check=True, timeout=PATIENCE)  # fmt: skip
    shared, alone = (torch.load(tmp_path / name) for name in ("shared", "alone"))
    assert len(shared) == 4
    for name, weight in shared.items():
        assert torch.equal(weight, alone[name]), name


def test_popartTrainsWithReplicasOfProcesses():
    done = python("""
import numpy as np, popart, popdist.popart
builder = popart.Builder()
x = builder.addInputTensor(popart.TensorInfo("FLOAT", [2]))
w = builder.addInitializedInputTensor(np.full([2], 10.0 * me, np.float32), "w")
loss = builder.aiGraphcore.identityloss(
    [builder.aiOnnx.mul([x, w])], popart.ReductionType.Sum)
options = popart.SessionOptions()
popdist.popart.configureSessionOptions(options)
session = popart.TrainingSession(
    builder.getModelProto(), popart.DataFlow(1, {}), loss,
    popart.ConstSGD(0.5), popdist.popart.getDevice(), userOptions=options)
session.prepareDevice()
session.broadcastWeights(1)
session.weightsFromHost()
session.run(popart.PyStepIO({x: np.array([1, 2], np.float32) * (me + 1)}, {}))
session.weightsToHost()
result = np.zeros(2, np.float32)
session.readWeights(popart.PyWeightsIO({"w": result}))
print(result.tolist())
""")
    # 10 - 0.5 * (1 + 2) * x
    assert done.stdout.count("[8.5, 7.0]") == 2


def test_instancesWithSessionsOfTheirOwnShareWeights():
    """They have no replicas in common, and get the root's weights even so."""
    done = python("""
import numpy as np, popart
builder = popart.Builder()
x = builder.addInputTensor("FLOAT", [1], "x")
w = builder.addInitializedInputTensor(
    np.array([42 * me], np.float32), "w")
y = builder.aiOnnx.mul([x, w])
options = popart.SessionOptions()
options.constantWeights = False
session = popart.InferenceSession(
    builder.getModelProto(), popart.DataFlow(1, [y]),
    popart.DeviceManager().createCpuDevice(), userOptions=options)
session.prepareDevice()
session.broadcastWeights(1)
session.weightsFromHost()
arrays = session.initAnchorArrays()
session.run(popart.PyStepIO({x: np.array([1], np.float32)}, arrays))
print(f"weight {arrays[y].item()}")
session.broadcastWeights()
""")
    assert done.stdout.count("weight 42.0") == 2


def test_replicasOfProcessesMayHaveWeightsOfTheirOwn():
    done = python("""
import popdist.poptorch, poptorch, torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    def forward(self, x):
        return poptorch.identity_loss(self.weight * x, "sum")
model = Model()
options = popdist.poptorch.Options().showCompilationProgressBar(False)
trained = poptorch.trainingModel(
    model, options, torch.optim.SGD(model.parameters(), lr=0.5))
trained.weight.replicaGrouping(poptorch.CommGroupType.Consecutive, 1,
                               poptorch.VariableRetrievalMode.OnePerGroup)
trained(torch.full((1, 2), 1.0 + me))
trained.copyWeightsToHost()
print(model.weight.tolist())
""")
    # w - 0.5 * x, half of it: the loss is the mean over replicas
    assert done.stdout.count("[[0.75, 1.75], [2.5, 3.5]]") == 2


@pytest.mark.parametrize("end, message", [
    ("raise ValueError('too bad')", "Instance 1 has ended"),
    ("import sys; sys.exit(3)", "Instance 1 has ended"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
])
def test_theEndOfOneIsTheEndOfAll(end, message):
    begin = time.monotonic()
    done = python(f"""
import numpy as np
from popdist import popdist_core
popdist_core.allGather(np.zeros(1))
if me == 1:
    {end}
popdist_core.allGather(np.zeros(1))
""", code=None)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert time.monotonic() - begin < PATIENCE / 2


def test_withoutMpirunInstancesStandAlone(tmp_path):
    (tmp_path / "sh").symlink_to("/bin/sh")
    poprun = Path(subprocess.check_output(["which", "poprun"], text=True).strip())
    done = subprocess.run(
        [poprun, "--num-instances", "2", "--num-replicas", "2", "sh", "-c",
         "echo $POPDIST_REPLICA_INDEX_OFFSET of $OMPI_COMM_WORLD_SIZE; "
         "[ $OMPI_COMM_WORLD_RANK = 1 ] || : > said; "
         "while [ ! -e said ]; do :; done; "  # its end would end the other
         "exit $OMPI_COMM_WORLD_RANK"], text=True, capture_output=True,
        timeout=PATIENCE, env={"PATH": str(tmp_path)},
        cwd=tmp_path)  # fmt: skip
    assert "[1,0]<stdout>:0 of 2\n" in done.stdout
    assert "[1,1]<stdout>:1 of 2\n" in done.stdout
    assert done.returncode == 1
    assert "no mpirun" in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--num-replicas=3", "true"], "(3) must be divisible by --num-instances (2)"),
    (["--num-replicas=2"], "no program was given"),
    (["--num-replica=2", "true"], "no option '--num-replica=2'"),
    (["--num-replicas=x", "true"], "--num-replicas"),
])
def test_mistakesAreNamed(arguments, message):
    assert message in start(TWO, *arguments, code=1).stderr
