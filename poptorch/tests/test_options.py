# Options: storage, checks, freezing, files, printing.
import copy

import pytest
import torch

import poptorch


def test_settersChainAndValuesReadBack():
    options = poptorch.Options()
    assert options.deviceIterations(4).replicationFactor(2) is options
    assert options.device_iterations == 4
    assert options("replication_factor") == 2
    options.device_iterations = 8
    assert options.device_iterations == 8
    options.Training.gradientAccumulation(3)
    assert options.Training.gradient_accumulation == 3


def test_unknownNamesAndWrongTypesAreErrors():
    options = poptorch.Options()
    with pytest.raises(AssertionError, match="Invalid option nonsense"):
        options.nonsense = 1
    with pytest.raises(AttributeError, match="Invalid attribute nonsense"):
        options.nonsense
    with pytest.raises(AttributeError, match="Invalid private attribute"):
        options._nonsense = 1
    with pytest.raises(AssertionError, match="Unexpected type"):
        options.deviceIterations(2.0)


def test_optionalValuesAppearWhenSet():
    options = poptorch.Options()
    assert not options.exists("random_seed")
    options.randomSeed(42)
    assert options.exists("random_seed")
    assert torch.initial_seed() == 42
    options.deleteIfExists("random_seed")
    assert not options.exists("random_seed")


def test_frozenOptionsCannotChangeButClonesCan():
    options = poptorch.Options()
    poptorch.inferenceModel(torch.nn.ReLU(), options)
    for change in (
        lambda o: o.deviceIterations(2),
        lambda o: o.Training.gradientAccumulation(2),
        lambda o: o.Precision.enableStochasticRounding(True),
        lambda o: o.enableExecutableCaching("x"),
        lambda o: o.setExecutionStrategy(poptorch.ShardedExecution()),
    ):
        with pytest.raises(AttributeError, match="Can't modify frozen"):
            change(options)
        change(options.clone())
        change(copy.deepcopy(options))
    groups = ("Training", "Precision", "TensorLocations", "Distributed", "Jit",
              "_Popart")  # fmt: skip
    for name in groups:
        assert getattr(options, name)._is_frozen
        assert not getattr(copy.deepcopy(options), name)._is_frozen
        assert not copy.deepcopy(getattr(options, name))._is_frozen
    # A copy's groups are its own, and still share what they share.
    copied = copy.deepcopy(options)
    copied.Precision.enableStochasticRounding(True)
    assert copied._Popart.options["enableStochasticRounding"]
    assert "enableStochasticRounding" not in options._Popart.options
    assert options.defaultOutputMode()


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda o: o.outputMode("all"), r"outputMode takes a poptorch.OutputMode"
         r" \(Final, EveryN, All, Sum, Default\), not 'all'.*OutputMode.All"),
        (lambda o: o.outputMode(2), "outputMode takes a poptorch.OutputMode"),
        (lambda o: o.anchorTensor("a", "b", "Sum"),
         "anchorTensor takes .*poptorch.OutputMode.Sum"),
        (lambda o: o.connectionType("never"), "poptorch.ConnectionType.Never"),
        (lambda o: o.syncPattern(7), "syncPattern takes a poptorch.SyncPat"),
        (lambda o: o.randomSeed("42"), "randomSeed takes a value of type int"),
        (lambda o: o.useIpuId(1.5), "useIpuId takes a value of type int"),
        (lambda o: o.modelName(3), "modelName takes a value of type str"),
        (lambda o: o.inputReplicaGrouping(1, "all"), "CommGroupType.All"),
        (lambda o: o.TensorLocations.numIOTiles("64"), "numIOTiles takes a"),
        (lambda o: o._Popart.setPatterns({}, "all"), "level takes a value of"),
        (lambda o: o.Training.gradientAccumulation(0),
         "gradientAccumulation must be at least 1, not 0"),
        (lambda o: o.Training.gradientAccumulation(-4), "must be at least 1"),
        (lambda o: o.deviceIterations(0), "deviceIterations must be at least"),
        (lambda o: o.replicationFactor(0), "replicationFactor must be at least"),
        (lambda o: o.setAvailableMemoryProportion({"IPU0": 3}),
         "proportion of IPU0 is 3; it must be a number between 0 and 1"),
        (lambda o: o.setAvailableMemoryProportion({"IPU0": -0.1}), "between 0"),
        (lambda o: o.setAvailableMemoryProportion({"IPU0": "0.2"}), "a number"),
        (lambda o: o.setAvailableMemoryProportion({"IPUx": 0.2}), "'IPUx' is n"),
        (lambda o: o.setAvailableMemoryProportion(0.2), "takes a value of type"),
        (lambda o: o.setAvailableMemoryProportion({0: 0.2}), "0 is not an IPU"),
        (lambda o: o._Popart.set("enableOutlining", None),
         "the value is a NoneType; it must be one of bool, int"),
        (lambda o: o._Popart.setPatterns(["a"]), "setPatterns takes a value of"),
        (lambda o: o.outputMode(poptorch.OutputMode.EveryN, "2"),
         "positive output_return_period, not '2'"),
        (lambda o: o.anchorTensor("a", 3), "long_name takes a value of type str"),
        (lambda o: o.useOfflineIpuTarget(7), r"1 \(Mk1\), 2 .* not 7"),
        (lambda o: o.useIpuModel("yes"), "useIpuModel takes a value of type b"),
        (lambda o: o.enableSyntheticData("yes"), "takes a value of type bool"),
        (lambda o: o.updatableNamedBuffers("mean"), "takes a list or a set or"),
        (lambda o: o.Distributed.configureProcessId(2, 2), "no process 2 of 2"),
        (lambda o: o.Distributed.configureProcessId(0, 0), "at least 1, not 0"),
        (lambda o: poptorch.DataLoader(o, [1], mode="async"),
         "DataLoader's mode takes .*poptorch.DataLoaderMode.Async"),
        (lambda o: poptorch.AsynchronousDataAccessor([1], buffer_size=0),
         "buffer_size must be at least 1"),
        (lambda o: poptorch.AsynchronousDataAccessor(
            [1], sharing_strategy="fork"), "poptorch.SharingStrategy.Fork$"),
        (lambda o: poptorch.MultiConv().availableMemoryProportions([0.1, 7]),
         "proportion of MultiConv is 7"),
        (lambda o: poptorch.MultiConv().planType("serial"), "Invalid plan type"),
        (lambda o: poptorch.set_available_memory(torch.zeros(1), 2.0),
         "proportion of set_available_memory is 2.0"),
    ],
)  # fmt: skip
def test_wrongValuesAreRefusedByASentence(wrong, message):
    with pytest.raises(AssertionError, match=message):
        wrong(poptorch.Options())


def test_wrongPartialsTypesAreRefused():
    with pytest.raises(ValueError, match="Invalid partials types"):
        poptorch.MultiConv().partialsTypes(torch.int32)


def test_outputModes():
    options = poptorch.Options()
    assert options.output_mode == poptorch.OutputMode.Default
    with pytest.raises(AssertionError):
        options.outputMode(poptorch.OutputMode.EveryN)
    options.outputMode(poptorch.OutputMode.EveryN, 5)
    assert options.output_return_period == 5


def test_availableMemoryProportion():
    options = poptorch.Options()
    options.setAvailableMemoryProportion({"IPU0": 0.2, "IPU12": 0.4})
    assert options.available_memory_proportion == {0: 0.2, 12: 0.4}
    with pytest.raises(AssertionError, match="ipu0"):
        options.setAvailableMemoryProportion({"ipu0": 0.2})


def test_inputReplicaGroupingChecks():
    options = poptorch.Options().replicationFactor(4)
    group = poptorch.CommGroupType
    with pytest.raises(ValueError, match="cannot be All"):
        options.inputReplicaGrouping(2, group.All)
    with pytest.raises(ValueError, match="larger than replication_factor"):
        options.inputReplicaGrouping(8, group.Consecutive)
    with pytest.raises(ValueError, match="must be a factor of"):
        options.inputReplicaGrouping(3, group.Consecutive)
    options.inputReplicaGrouping(2, group.Orthogonal)
    assert options.input_group_size == 2


def test_locations():
    options = poptorch.Options()
    options.TensorLocations.setOptimizerLocation(
        poptorch.TensorLocationSettings().useOnChipStorage(False)
    )
    assert options.TensorLocations.location_optimizer == {"onChip": 0}
    with pytest.raises(AssertionError, match="even number between 32 and 192"):
        options.TensorLocations.numIOTiles(33)


def test_precision():
    options = poptorch.Options()
    options.Precision.setPartialsType(torch.half)
    popart = options._Popart.options
    assert popart["partialsTypeMatMuls"] == "half"
    assert popart["convolutionOptions"] == {"partialsType": "half"}
    with pytest.raises(ValueError):
        options.Precision.setPartialsType(torch.int32)


def test_reprAsTheTutorialsShowIt():
    text = repr(poptorch.Options())
    assert text.startswith("Options(replication_factor=1, input_group_size=1")
    assert (
        "Training=_TrainingOptions(gradient_accumulation=1, "
        "accumulation_and_replication_reduction_type=<ReductionType.Mean: 1>, "
        "meanAccumulationAndReplicationReductionStrategy="
        "<MeanReductionStrategy.Post: 1>, _popart_options=_PopartOptions("
        "instrumentWithHardwareCycleCounter=False, "
        "rearrangeAnchorsOnHost=False), _warnings={}, "
        "_warnings_disabled=set(), _is_frozen=False)" in text
    )
    assert "Jit=_JitOptions(, _warnings={}," in text


def test_loadFromFile(tmp_path):
    path = tmp_path / "options.cfg"
    path.write_text(
        "# a comment\n\ndeviceIterations(7)\n"
        "setExecutionStrategy(poptorch.ShardedExecution())\n"
        "Training.gradientAccumulation(4)\n"
    )
    options = poptorch.Options()
    options.loadFromFile(path)
    assert options.device_iterations == 7
    assert options.Training.gradient_accumulation == 4
    path.write_text("deviceIterations(7\n")
    with pytest.raises(
        poptorch.ConfigFileError, match="SyntaxError at line 1 of options.cfg"
    ):
        options.loadFromFile(path)


def test_environmentGivesDefaults(monkeypatch, tmp_path):
    monkeypatch.setenv("POPTORCH_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(
        "POPTORCH_DEFAULT_OPTIONS",
        '{"deviceIterations": 3, "outputMode": ["OutputMode.EveryN", 3]}',
    )
    options = poptorch.Options()
    assert options._Popart.options["cachePath"] == str(tmp_path)
    assert options.device_iterations == 3
    assert options.output_return_period == 3


def test_distributedFromTheEnvironment(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "3")
    distributed = poptorch.Options().Distributed
    assert (distributed.processId, distributed.numProcesses) == (3, 4)
    assert distributed.disable().numProcesses == 1


def test_enumValues():
    assert poptorch.OutputMode.Sum == 3
    assert poptorch.SharingStrategy.ForkServer == 3
    assert poptorch.VariableRetrievalMode.AllReplicas == 2
    assert poptorch.MatMulSerializationMode.Disabled.value == "none"


def test_stageErrors():
    with pytest.raises(AssertionError, match="associated with more than one"):
        poptorch.PipelinedExecution(poptorch.Stage("a"), ["b", "a"])
    with pytest.raises(AssertionError, match="Unknown block c"):
        poptorch.PipelinedExecution("a", "b").stage("c")
    with pytest.raises(AssertionError, match="no AutoStage for Phased"):
        poptorch.SerialPhasedExecution()
    with pytest.raises(AssertionError, match="2 stages but you provided 1"):
        phase = poptorch.Phase(poptorch.Stage("a"), poptorch.Stage("b"))
        phase.ipus(0)
