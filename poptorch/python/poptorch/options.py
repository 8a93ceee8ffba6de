# poptorch.Options: everything about a run that is not the model.
import copy
import json
import os

import torch

from . import enums
from ._errors import createPoptorchError
from ._logging import logger
from ._options_base import (
    OptionsDict,
    enumFromText,
    requireInstance,
    requirePeriod,
    requirePositive,
)
from ._options_groups import (
    TensorLocationSettings,
    _DistributedOptions,
    _JitOptions,
    _PopartOptions,
    _PrecisionOptions,
    _TensorLocationOptions,
    _TrainingOptions,
)
from ._proportions import proportionsByIpu
from ._strategies import IExecutionStrategy, PipelinedExecution

__all__ = ["ConfigFileError", "Options", "TensorLocationSettings"]

_PROFILING_KEYS = {
    "debug.allowOutOfMemory": "true",
    "autoReport.all": "true",
}


class ConfigFileError(Exception):
    """A line of a file given to Options.loadFromFile() is not valid."""


class Options(OptionsDict):
    """How a model is compiled and run. Setters return the object."""

    def __init__(self):
        super().__init__(
            replication_factor=1,
            input_group_size=1,
            input_cgt=enums.CommGroupType.Consecutive,
            broadcast_buffers=True,
            device_iterations=1,
            log_dir=".",
            max_repeat_logs=4,
            auto_round_num_ipus=False,
            anchored_tensors={},
            output_mode=enums.OutputMode.Default.value,
            output_return_period=1,
            connection_type=enums.ConnectionType.Always.value,
            sync_pattern=enums.SyncPattern.Full.value,
            available_memory_proportion={},
        )
        popart = _PopartOptions()
        self._declarePrivate(
            _popart=popart,
            _distributed=_DistributedOptions(),
            _jit=_JitOptions(),
            _precision=_PrecisionOptions(popart),
            _tensor_locations=_TensorLocationOptions(),
            _training=_TrainingOptions(popart),
            _execution_strategy=PipelinedExecution(),
            _show_progress_bar=True,
            _module_namescope_enabled=True,
            relax_optimizer_checks=False,
            source_location_excludes=[
                "install/poptorch",
                "site-packages/torch",
                "site-packages/poptorch",
            ],
        )
        self._applyEnvironment()

    def _applyEnvironment(self):
        cache = os.environ.get("POPTORCH_CACHE_DIR", "")
        if cache:
            logger.info(
                "POPTORCH_CACHE_DIR is set: setting cache path to %s", cache
            )
            self.enableExecutableCaching(cache)
        self.from_json(os.environ.get("POPTORCH_DEFAULT_OPTIONS", "{}"))

    # The groups.

    @property
    def TensorLocations(self):
        return self._tensor_locations

    @property
    def Distributed(self):
        return self._distributed

    @property
    def Jit(self):
        return self._jit

    @property
    def Precision(self):
        return self._precision

    @property
    def Training(self):
        return self._training

    @property
    def _Popart(self):
        return self._popart

    def _groups(self):
        return {
            "Distributed": self._distributed,
            "Jit": self._jit,
            "Precision": self._precision,
            "TensorLocations": self._tensor_locations,
            "Training": self._training,
            "_Popart": self._popart,
        }

    # Batching and devices.

    def deviceIterations(self, device_iterations):
        """Batches that the device works through per call."""
        requirePositive("deviceIterations", device_iterations)
        return self.set(device_iterations=device_iterations)

    def replicationFactor(self, replication_factor):
        """Data-parallel copies of the model."""
        requirePositive("replicationFactor", replication_factor)
        return self.set(replication_factor=replication_factor)

    def inputReplicaGrouping(self, input_group_size, input_group_type):
        """Replicas of one group get the same input."""
        kind = enums.CommGroupType
        requireInstance("inputReplicaGrouping", input_group_type, kind)
        requirePositive("inputReplicaGrouping's group size", input_group_size)
        if input_group_type == enums.CommGroupType.All:
            raise ValueError("input_group_type cannot be All")
        if input_group_type == enums.CommGroupType.NoGrouping:
            input_group_size = 1
            input_group_type = enums.CommGroupType.Consecutive
        if input_group_size > self.replication_factor:
            raise ValueError(
                "input_group_size cannot be larger than replication_factor"
            )
        if self.replication_factor % input_group_size:
            raise ValueError(
                "input_group_size must be a factor of replication_factor"
            )
        return self.set(
            input_group_size=input_group_size, input_cgt=input_group_type
        )

    def setExecutionStrategy(self, strategy):
        """Pipelined, sharded or phased: how the model is cut over IPUs."""
        self.checkIsFrozen()
        assert isinstance(strategy, IExecutionStrategy), (
            f"Expected an execution strategy, not {type(strategy)}"
        )
        self._execution_strategy = strategy
        return self

    def setAvailableMemoryProportion(self, available_memory_proportion):
        """Memory that matmuls and convolutions may use, per IPU."""
        proportions = proportionsByIpu(available_memory_proportion)
        return self.set(available_memory_proportion=proportions)

    def outputMode(self, output_mode, output_return_period=None):
        """Which outputs a call returns."""
        requireInstance("outputMode", output_mode, enums.OutputMode)
        if output_mode == enums.OutputMode.EveryN:
            requirePeriod(output_return_period)
        elif output_return_period is not None:
            logger.info(
                "output_return_period is ignored unless the mode is EveryN"
            )
        return self.set(
            output_mode=output_mode.value,
            output_return_period=output_return_period or 1,
        )

    def defaultOutputMode(self):
        return self.output_mode == enums.OutputMode.Default

    def anchorTensor(
        self, short_name, long_name, output_mode=None, output_return_period=1
    ):
        """Makes an inner tensor readable by getAnchoredTensor()."""
        mode = enums.OutputMode.Default if output_mode is None else output_mode
        requireInstance("anchorTensor", mode, enums.OutputMode)
        requireInstance("anchorTensor's long_name", long_name, str)
        if mode == enums.OutputMode.EveryN:
            requirePeriod(output_return_period)
        self._values["anchored_tensors"][short_name] = [
            long_name,
            output_mode is None,
            mode,
            output_return_period,
        ]

    def connectionType(self, connection_type):
        kind = enums.ConnectionType
        requireInstance("connectionType", connection_type, kind)
        return self.set(connection_type=connection_type.value)

    def useOfflineIpuTarget(self, ipu_version=2):
        """Compile only, for a chip that need not be there."""
        assert ipu_version in (1, 2, 21), (
            "useOfflineIpuTarget: the versions are 1 (Mk1), 2 (Mk2) and 21 "
            f"(Mk2 with FP8), not {ipu_version!r}"
        )
        self.connectionType(enums.ConnectionType.Never)
        return self.createOrSet(ipu_version=ipu_version)

    def useIpuId(self, ipu_id):
        requireInstance("useIpuId", ipu_id, int)
        return self.createOrSet(ipu_id=ipu_id)

    def useIpuModel(self, use_model):
        requireInstance("useIpuModel", use_model, bool)
        return self.createOrSet(use_model=use_model)

    def autoRoundNumIPUs(self, auto_round_num_ipus=True):
        return self.set(auto_round_num_ipus=auto_round_num_ipus)

    def syncPattern(self, sync_pattern):
        requireInstance("syncPattern", sync_pattern, enums.SyncPattern)
        return self.set(sync_pattern=sync_pattern.value)

    def randomSeed(self, random_seed):
        """Seeds torch now and the device when it is loaded."""
        requireInstance("randomSeed", random_seed, int)
        torch.manual_seed(random_seed)
        return self.createOrSet(random_seed=random_seed)

    def broadcastBuffers(self, broadcast_buffers=True):
        return self.set(broadcast_buffers=broadcast_buffers)

    # Compilation, logs and profiles.

    def enableExecutableCaching(self, path):
        """Keeps executables in `path`; None turns the cache off."""
        if path is None:
            self._popart.set("enableEngineCaching", False)
        else:
            self._popart.set("cachePath", path)
            self._popart.set("enableEngineCaching", True)
        return self

    def enableSyntheticData(self, enabled):
        """No host traffic: outputs are meaningless."""
        requireInstance("enableSyntheticData", enabled, bool)
        self._popart.set("syntheticDataMode", 2 if enabled else 0)
        return self

    def enableStableNorm(self, enabled):
        self._popart.set("enableStableNorm", enabled)
        return self

    def logCycleCount(self, log_cycle_count):
        self._popart.set("instrumentWithHardwareCycleCounter", log_cycle_count)
        return self

    def enableProfiling(self, profile_dir=None):
        """Writes a report to `profile_dir` (default: here)."""
        options = {"autoReport.directory": profile_dir or ".", **_PROFILING_KEYS}
        in_environment = os.environ.get("POPLAR_ENGINE_OPTIONS", "")
        for key in options:
            if key in in_environment:
                logger.warning(
                    "POPLAR_ENGINE_OPTIONS already sets %s: its value is used",
                    key,
                )
        present = self._popart.options.get("engineOptions", {})
        self._popart.setEngineOptions({**present, **options})
        return self

    def modelName(self, name):
        """The name of the report's directory."""
        requireInstance("modelName", name, str)
        return self.createOrSet(model_name=name)

    def logDir(self, log_dir):
        return self.set(log_dir=log_dir)

    def maxRepeatLogs(self, max_lines):
        return self.set(
            max_repeat_logs=2**64 - 1 if max_lines is None else max_lines
        )

    def showCompilationProgressBar(self, show=True):
        self.checkIsFrozen()
        self._show_progress_bar = show
        return self

    def disableModuleNamescope(self):
        """Operations are not named after the modules they are in."""
        self.checkIsFrozen()
        self._module_namescope_enabled = False
        return self

    def relaxOptimizerAttributesChecks(self, relax=True):
        self.checkIsFrozen()
        self.__dict__["relax_optimizer_checks"] = relax
        return self

    def updatableNamedBuffers(self, buffers):
        requireInstance("updatableNamedBuffers", buffers, (list, set, tuple))
        self._popart.set("updatableNamedBuffers", list(buffers))
        return self

    def sourceLocationExcludes(self, excludes):
        self.checkIsFrozen()
        self.__dict__["source_location_excludes"] = list(excludes)
        return self

    def appendToLocationExcludes(self, *excludes):
        return self.sourceLocationExcludes(
            [*self.source_location_excludes, *excludes]
        )

    # Files, copies, printing.

    def loadFromFile(self, filepath):
        """Each line of the file is a call on this object."""
        with open(filepath) as file:
            lines = file.readlines()
        import poptorch

        for number, line in enumerate(lines, 1):
            stripped = line.strip()
            if not stripped or stripped.startswith("#"):
                continue
            scope = {"poptorch": poptorch, "options": self}
            try:
                exec(f"options.{stripped}", scope)  # the file is code
            except SyntaxError as error:
                raise ConfigFileError(
                    f"SyntaxError at line {number} of "
                    f"{os.path.basename(filepath)}: {error.msg}\n> {stripped}"
                ) from error
        return self

    def from_json(self, string):
        """Calls setters by name: {"Training.gradientAccumulation": 4}."""
        for accessor, value in json.loads(string).items():
            target = self
            for name in accessor.split("."):
                target = getattr(target, name)
            values = value if isinstance(value, list) else [value]
            target(*(enumFromText(v) for v in values))
        return self

    def clone(self):
        """A copy that may be changed."""
        return copy.deepcopy(self)

    def _freeze(self, is_frozen=True):
        super()._freeze(is_frozen)
        for group in self._groups().values():
            group._freeze(is_frozen)

    def toDict(self):
        """Everything the backend needs, in one dictionary."""
        assert not self.defaultOutputMode(), (
            "The output mode must be resolved before the model is compiled"
        )
        return {
            **self._values,
            **self._training._values,
            **self._tensor_locations._values,
            **self._distributed._values,
            **self._execution_strategy.backendOptions(),
            "popart": dict(self._popart.options),
        }

    def __repr__(self):
        values = ", ".join(f"{k}={v!r}" for k, v in self._values.items())
        groups = ", ".join(f"{k}={v!r}" for k, v in self._groups().items())
        return f"Options({values}, {groups})"


def checkOptions(options):
    """The options given to a wrapper, or defaults."""
    if options is None:
        return Options()
    if not isinstance(options, Options):
        raise createPoptorchError(
            "Invalid type: 'options' is of type "
            f"{type(options)} (Expected poptorch.Options)"
        )
    return options
