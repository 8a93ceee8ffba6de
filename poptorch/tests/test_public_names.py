# Every name that programs may ask the package for, by group.
import enum
import inspect
import logging

import pytest
import torch

import poptorch

NAMES = {
    "wrappers": "trainingModel inferenceModel PoplarExecutor load",
    "data": "DataLoader AsynchronousDataAccessor DataLoaderMode "
            "SharingStrategy",
    "options": "Options TensorLocationSettings ConfigFileError Attribute",
    "annotation": "Block BeginBlock BlockFunction Stage AutoStage "
                  "PipelinedExecution ShardedExecution removeBlocks Phase "
                  "SerialPhasedExecution ParallelPhasedExecution Liveness "
                  "LegacyBeginBlockFn",
    "ops": "identity_loss ipu_print_tensor custom_op recomputationCheckpoint "
           "MultiConv MultiConvPlanType serializedMatMul set_available_memory "
           "set_overlap_for_input set_overlap_for_output nop NameScope "
           "ctc_beam_search_decoder dynamic_slice dynamic_update for_loop cond CPU fps "
           "nearest",
    "enums": "OutputMode ReductionType ConnectionType OverlapMode "
             "MatMulSerializationMode SyncPattern MeanReductionStrategy "
             "CommGroupType VariableRetrievalMode HalfFloatCastingBehavior",
    "helpers": "ipuHardwareIsAvailable ipuHardwareVersion setLogLevel "
               "isRunningOnIpu logger print module_repr createPoptorchError "
               "registerPreCompileHook registerPostCompileHook "
               "ICustomArgParser registerCustomArgParser accessAttributes "
               "getIpuTensorId",
    "errors": "Error RecoverableError UnrecoverableError",
    "modules": "enums ops options optim profiling poptorch_core",
    "version": "__version__",
    "optim": "optim.SGD optim.Adam optim.AdamW optim.RMSprop optim.LAMB "
             "optim.VariableAttributes optim.Optimizer",
    "inner": "profiling.Channel poptorch_core.Error "
             "poptorch_core.RecoverableError poptorch_core.UnrecoverableError "
             "enums.DataLoaderMode enums.CommGroupType",
}  # fmt: skip

OPTIONS = {
    "Options": "deviceIterations replicationFactor inputReplicaGrouping "
               "setExecutionStrategy setAvailableMemoryProportion outputMode "
               "defaultOutputMode anchorTensor randomSeed "
               "enableExecutableCaching useIpuModel enableSyntheticData "
               "autoRoundNumIPUs connectionType useOfflineIpuTarget useIpuId "
               "loadFromFile clone showCompilationProgressBar enableProfiling "
               "logCycleCount modelName logDir broadcastBuffers syncPattern "
               "enableStableNorm relaxOptimizerAttributesChecks "
               "disableModuleNamescope maxRepeatLogs updatableNamedBuffers "
               "sourceLocationExcludes appendToLocationExcludes from_json "
               "toDict exists deleteIfExists",
    "Training": "gradientAccumulation accumulationAndReplicationReductionType "
                "setMeanAccumulationAndReplicationReductionStrategy "
                "setAutomaticLossScaling setConvolutionDithering",
    "Precision": "enableStochasticRounding setPartialsType "
                 "enableFloatingPointExceptions halfFloatCasting "
                 "runningStatisticsAlwaysFloat",
    "Jit": "traceModel",
    "TensorLocations": "setActivationLocation setWeightLocation "
                       "setOptimizerLocation setAccumulatorLocation "
                       "numIOTiles",
    "Distributed": "configureProcessId setEnvVarNames disable processId "
                   "numProcesses",
    "_Popart": "set setEngineOptions setPatterns",
}  # fmt: skip

EXECUTOR = """
__call__ compile compileAndExport save loadExecutable destroy detachFromDevice
attachToDevice isAttachedToDevice isCompiled copyWeightsToHost
copyWeightsToDevice copyWeightsToHostIfNeeded copyNamedBuffersToDevice
setOptimizer load_state_dict
model options getTensorNames getAnchoredTensor rng_state
cycleCount compilationTime getPerfCounters getHostIpuLatency getComputeLatency
getIpuHostLatency getLatency __repr__ _debugGetPopartIR
""".split()


def find(path):
    value = poptorch
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("group", NAMES)
def test_packageHasTheName(group):
    missing = []
    for name in NAMES[group].split():
        try:
            find(name)
        except AttributeError:
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("group", OPTIONS)
def test_optionsHaveTheMethod(group):
    options = poptorch.Options()
    target = options if group == "Options" else getattr(options, group)
    missing = [n for n in OPTIONS[group].split() if not hasattr(target, n)]
    assert missing == []


def test_executorHasTheMethod():
    members = dict(inspect.getmembers(poptorch.PoplarExecutor))
    assert [n for n in EXECUTOR if n not in members] == []


def test_namesAreOfTheirKind():
    for name in NAMES["enums"].split():
        assert issubclass(find(name), enum.Enum), name
    assert isinstance(poptorch.logger, logging.Logger)
    assert poptorch.logger.name == "poptorch::python"
    assert issubclass(poptorch.RecoverableError, poptorch.Error)
    assert isinstance(poptorch.__version__, str)
    from poptorch import testing

    ones = torch.ones(2)
    assert testing.allclose((ones, [ones]), (ones, [ones]))
    assert not testing.allclose((ones, [ones]), (ones, [2 * ones]))


def test_compileHooksRunAroundEveryTrace():
    seen = []
    before = poptorch.registerPreCompileHook(lambda: seen.append("before"))
    after = poptorch.registerPostCompileHook(lambda: seen.append("after"))

    def model(x):
        seen.append("traced")
        return x + 1

    options = poptorch.Options().showCompilationProgressBar(False)
    wrapped = poptorch.inferenceModel(model, options)
    wrapped(torch.zeros(2))
    wrapped(torch.zeros(2))
    assert seen == ["before", "traced", "after"]
    before.remove()
    after.remove()
    poptorch.inferenceModel(model, options)(torch.zeros(3))
    assert seen[3:] == ["traced"]
    with pytest.raises(RuntimeError, match="Pre-compile hook must be callable"):
        poptorch.registerPreCompileHook(3)
