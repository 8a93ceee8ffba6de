# What options forbid a model to do, and what they make of its inputs.
import fcntl
import json

import pytest
import torch
from torch import nn

import poptorch
from models import Small, smallData
from poptorch._cache_lock import distributedCacheLock


def quiet():
    return poptorch.Options().showCompilationProgressBar(False)


@pytest.fixture
def logs(caplog):
    """What the package says, by level."""
    poptorch.logger.addHandler(caplog.handler)
    yield caplog
    poptorch.logger.removeHandler(caplog.handler)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        self.count += 1
        return self.norm(x).sum() + self.count


def test_replicasMayNotChangeBroadcastBuffers():
    x = torch.randn(4, 3)
    options = quiet().replicationFactor(2)
    with pytest.raises(poptorch.Error, match="PopTorch does not support "
                       "broadcasting buffers.*broadcastBuffers.False.*count"):
        poptorch.inferenceModel(Counting(), options)(x)
    relaxed = options.clone().broadcastBuffers(False)
    assert poptorch.inferenceModel(Counting(), relaxed)(x).shape == (2,)
    poptorch.inferenceModel(nn.BatchNorm1d(3), options)(x)


class Overlapping(nn.Module):
    def forward(self, x):
        mode = poptorch.OverlapMode.OverlapDeviceIterationLoop
        x = poptorch.set_overlap_for_input(x, mode)
        return poptorch.set_overlap_for_output(x * 2, mode)


def overlap():
    options = quiet().setExecutionStrategy(poptorch.ShardedExecution())
    options.TensorLocations.numIOTiles(32)
    return options


def test_overlappedInputAndOutputComputeTheSame():
    x = torch.randn(4, 3)
    options = overlap().deviceIterations(2)
    assert torch.equal(poptorch.inferenceModel(Overlapping(), options)(x), x * 2)


class Layers(nn.Module):
    """Transfers of its data overlap with compute as `mode` says."""

    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        self.layers = nn.Sequential(*(nn.Linear(64, 64) for _ in range(4)))

    def forward(self, x):
        y = self.layers(poptorch.set_overlap_for_input(x, self.mode))
        loss = poptorch.identity_loss(y * y, reduction="mean")
        return poptorch.set_overlap_for_output(y, self.mode), loss


def test_overlappedTransfersTakeLessTime():
    x = torch.randn(2 * 8 * 256, 64)
    results = []
    for mode in poptorch.OverlapMode:  # none, in a batch, across batches
        torch.manual_seed(7)
        model = Layers(mode)
        options = overlap().deviceIterations(2).logCycleCount(True)
        options.outputMode(poptorch.OutputMode.All)
        options.Training.gradientAccumulation(8)
        executor = poptorch.trainingModel(
            model, options, poptorch.optim.SGD(model.parameters(), lr=0.5)
        )
        y, _ = executor(x)
        results.append((y, executor.cycleCount()))
    (y, apart), (inner, fewer), (outer, fewest) = results
    assert torch.equal(inner, y) and torch.equal(outer, y)
    assert fewest < fewer < apart


def test_overlapNeedsItsOptions():
    x = torch.randn(4, 3)
    pipelined = overlap().setExecutionStrategy(poptorch.PipelinedExecution())
    last = overlap().outputMode(poptorch.OutputMode.Final)
    for options, message in (
        (quiet(), "No IO tiles allocated"),
        (pipelined, "Overlapped IO is not supported with poptorch.Pipelined"),
        (last, "Unsupported output mode for overlapped IO"),
    ):
        with pytest.raises(poptorch.Error, match=message):
            poptorch.inferenceModel(Overlapping(), options)(x)


def test_overlapBelongsToInputsAndOutputs():
    mode = poptorch.OverlapMode.OverlapDeviceIterationLoop

    def input_(x):
        return poptorch.set_overlap_for_input(x, mode)

    def output(x):
        return poptorch.set_overlap_for_output(x, mode)

    def twice(x):
        y = output(x * 2)
        return y, y

    for model, message in (
        (lambda x: input_(x) + x, "set_overlap_for_input must be the only op"),
        (lambda x: input_(x * 2), "which is not a tensor input to the model"),
        (lambda x: output(x * 2) + 1, "not a tensor output of the model"),
        (twice, "cannot be used with a tensor that is returned twice"),
    ):
        with pytest.raises(poptorch.Error, match=message):
            poptorch.inferenceModel(model, overlap())(torch.ones(2))
    none = poptorch.OverlapMode.NoOverlap
    poptorch.inferenceModel(
        lambda x: poptorch.set_overlap_for_input(x * 2, none), quiet()
    )(torch.ones(2))


@pytest.mark.parametrize(
    "kind, order",
    [
        (poptorch.CommGroupType.Consecutive, [0, 0, 1, 1]),
        (poptorch.CommGroupType.Orthogonal, [0, 1, 0, 1]),
        (poptorch.CommGroupType.NoGrouping, [0, 1, 2, 3]),
    ],
)
def test_replicasOfAGroupTakeTheSameInput(kind, order):
    options = quiet().replicationFactor(4).deviceIterations(3)
    options.inputReplicaGrouping(2, kind)
    groups = max(order) + 1
    x = torch.randn(3 * groups * 2, 5)  # [iterations, groups, rows]
    result = poptorch.inferenceModel(lambda t: t + 1, options)(x)
    expected = x.reshape(3, groups, 2, 5)[:, order].reshape(-1, 5) + 1
    assert torch.equal(result, expected)


def test_groupingsThatDoNotFitAreErrors():
    options = quiet().replicationFactor(4)
    kinds = poptorch.CommGroupType
    for size, kind, message in (
        (2, kinds.All, "input_group_type cannot be All"),
        (8, kinds.Consecutive, "cannot be larger than replication_factor"),
        (3, kinds.Consecutive, "must be a factor of replication_factor"),
    ):
        with pytest.raises(ValueError, match=message):
            options.inputReplicaGrouping(size, kind)


def test_namedBuffersGoToTheDevice():
    model = Counting().eval()
    model.register_buffer("other", torch.zeros(1))
    options = quiet().updatableNamedBuffers(["count"])
    wrapped = poptorch.inferenceModel(model, options)
    x = torch.zeros(2, 3)
    assert wrapped(x) == 1 and wrapped(x) == 2
    model.count.fill_(10)
    wrapped.copyNamedBuffersToDevice()
    assert wrapped(x) == 11
    with pytest.raises(poptorch.Error, match="No named buffers marked as"):
        poptorch.inferenceModel(model, quiet()).copyNamedBuffersToDevice()


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda o: o.updatableNamedBuffers(["counts"]),
         "names 'counts', which is no buffer of the model; its .* count"),
        (lambda o: o._Popart.set("enableGradientAcumulation", True),
         "Unknown bool option enableGradientAcumulation. Did you mean "
         r"enableGradientAccumulation\?"),
        (lambda o: o._Popart.set("outlineTreshold", 0.5),
         r"Unknown floating point option outlineTreshold.*outlineThreshold\?"),
        (lambda o: o._Popart.set("enableOutlining", 3),
         "Unknown uint64 option enableOutlining: its value is a bool"),
        (lambda o: o._Popart.setPatterns({"OpToIdenity": True}),
         "Unknown pattern OpToIdenity"),
        (lambda o: o._Popart.setPatterns({"ExpGradOp": False}),
         "Pattern 'ExpGradOp' is mandatory and cannot be disabled"),
        (lambda o: o._Popart.setPatterns({}, level=9), "level is 9; it is 0"),
        (lambda o: o._Popart.set("autoRecomputation", 17),
         "Value for RecomputationType out of range: 17"),
        (lambda o: o.setAvailableMemoryProportion({"IPU0": 0.3, "IPU7": 0.3}),
         r"names IPU7, which the model does not use: it runs on 1 IPU\(s\)"),
    ],
)  # fmt: skip
def test_optionsThatTheModelDoesNotFitAreSentences(change, message):
    options = quiet()
    change(options)
    with pytest.raises(poptorch.Error, match=message):
        poptorch.inferenceModel(Counting().eval(), options)(torch.zeros(2, 3))


class _InThree(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for ipu, layer in enumerate(self.layers):
            with poptorch.Block(ipu_id=ipu):
                x = layer(x)
        return x


def test_threeIpusAreCompiledForOffline():
    options = quiet().useOfflineIpuTarget().deviceIterations(3)
    options.setExecutionStrategy(
        poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement))
    wrapped = poptorch.inferenceModel(_InThree(), options)
    wrapped.compile(torch.zeros(3, 4))
    assert wrapped.isCompiled() and not wrapped.isAttachedToDevice()
    # What is there to run on comes in powers of two.
    online = quiet().deviceIterations(3)
    with pytest.raises(poptorch.Error, match="reserve a minimum of 4"):
        poptorch.inferenceModel(_InThree(), online)(torch.zeros(3, 4))


def test_emptyMultiConvIsRefused():
    class Empty(nn.Module):
        def forward(self, x):
            with poptorch.MultiConv():
                x = x + 1
            return x

    with pytest.raises(poptorch.Error, match="Unexpected end_multi_conv"):
        poptorch.inferenceModel(Empty(), quiet())(torch.zeros(2))
    assert Empty()(torch.zeros(2)).sum() == 2  # on the CPU nothing is merged


def test_whatIsNarrowedOrPartialIsSaid(logs):
    poptorch._dtypes._warned.clear()
    wrapped = poptorch.inferenceModel(
        lambda d: d["x"] + torch.tensor([2**40]), quiet()
    )
    wrapped({"x": torch.tensor([1])})
    assert "Dicts as inputs only have partial support" in logs.text
    assert "torch.int64 is not supported natively on IPU, loss of " in logs.text
    assert "torch.int64 constant cannot be represented as a " in logs.text
    logs.clear()
    poptorch.inferenceModel(lambda x: x + 1, quiet())(torch.tensor([1]))
    assert "natively" not in logs.text


def test_cyclesAreLogged(logs, request):
    request.addfinalizer(lambda: poptorch.setLogLevel("WARN"))
    poptorch.setLogLevel("DEBUG")
    options = quiet().logCycleCount(True)
    wrapped = poptorch.inferenceModel(lambda x: x + 1, options)
    wrapped(torch.ones(2))
    cycles = f"Total number of IPU cycles: {wrapped.cycleCount()}"
    assert cycles in logs.text
    offline = options.clone().useOfflineIpuTarget()
    with pytest.raises(poptorch.Error, match="Cycle count logging is only "):
        poptorch.inferenceModel(lambda x: x + 1, offline).compile(torch.ones(2))


def test_forcedValuesAreWarnedOf(logs):
    options = quiet()
    options._Popart.set("globalReplicationFactor", 3)
    poptorch.inferenceModel(nn.Linear(2, 2), options)(torch.ones(1, 2))
    assert (
        "globalReplicationFactor forced by the user from default to 3, "
        "ignoring value 1" in logs.text
    )


def test_cacheOfTheModelIsWarnedOf(logs, tmp_path):
    options = quiet().useIpuModel(True).enableExecutableCaching(str(tmp_path))
    poptorch.inferenceModel(lambda x: x + 1, options)(torch.ones(2))
    assert "enableExecutableCaching doesn't work with the IPU model" in logs.text


def test_availableMemoryIsOnOperations():
    layer = nn.Linear(4, 4)
    options = quiet().setAvailableMemoryProportion({"IPU0": 0.25})
    wrapped = poptorch.inferenceModel(layer, options)
    wrapped(torch.ones(2, 4))
    assert '"__available_memory":"0.25"' in wrapped._debugGetPopartIR()

    module = nn.Sequential(layer)
    module.forward = lambda x: poptorch.set_available_memory(layer(x), 0.5)
    wrapped = poptorch.inferenceModel(module, quiet())
    wrapped(torch.ones(2, 4))
    (type_,) = [
        op["type"]
        for op in json.loads(wrapped._debugGetPopartIR())["maingraph"]
        if op["attributes"].get("__available_memory") == "0.5"
    ]
    assert type_ in ("MatMul", "Gemm")


def test_processesCompileOneAfterAnother(tmp_path, logs):
    options = quiet().enableExecutableCaching(str(tmp_path))
    options.Distributed.configureProcessId(0, 2)
    model = nn.Linear(2, 2)
    with distributedCacheLock(model, options):
        (file,) = tmp_path.glob("*.lock")
        with open(file) as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with open(file) as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    options.enableExecutableCaching(None)
    with distributedCacheLock(model, options):
        assert "Options.enableExecutableCaching()" in logs.text


def test_attributesOfSchedulersAreMentionedOnce(logs):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = poptorch.trainingModel(model, quiet(), optimizer)
    trainer.setOptimizer(optimizer)
    assert "Ignoring unexpected" not in logs.text
    torch.optim.lr_scheduler.StepLR(optimizer, 1)
    trainer.setOptimizer(optimizer)
    trainer.setOptimizer(optimizer)
    message = (
        "Ignoring unexpected group 0 attribute in SGD optimizer: ['initial_lr']"
    )
    assert logs.text.count(message) == 1


def test_whatTheDeviceKeepsIsNoUnexpectedAttribute(logs):
    model = Small()
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    trainer = poptorch.trainingModel(model, quiet(), optimizer)
    trainer(*smallData(4))
    optimizer.state_dict()
    trainer.setOptimizer(optimizer)
    assert "Ignoring unexpected" not in logs.text
