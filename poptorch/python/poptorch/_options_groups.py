# The groups of Options: Training, Precision, Jit, TensorLocations, Distributed
# and the PopART pass-through.
import os

import torch

from . import enums
from ._logging import logger
from ._options_base import (
    Freezable,
    OptionsDict,
    requireInstance,
    requirePositive,
)


_POPART_TYPES = (bool, int, float, str, list, set, tuple, dict)


class _PopartOptions(Freezable):
    """Options handed to PopART by name; checked when the model is compiled."""

    def __init__(self):
        self.options = {}
        self._is_frozen = False
        self.set("instrumentWithHardwareCycleCounter", False)
        self.set("rearrangeAnchorsOnHost", False)

    def set(self, key, value):
        self.checkIsFrozen()
        assert isinstance(value, _POPART_TYPES), (
            f"_Popart.set({key!r}, {value!r}): the value is a "
            f"{type(value).__name__}; it must be one of "
            f"{', '.join(kind.__name__ for kind in _POPART_TYPES)}. int() makes "
            "one of a member of popart's enumerations"
        )
        self.options[key] = value
        return self

    def setEngineOptions(self, engine_options):
        return self.set("engineOptions", dict(engine_options))

    def setPatterns(self, patterns, level=2):
        """Level 0 enables no pattern by default, 1 minimal, 2 default, 3 all."""
        requireInstance("setPatterns' level", level, int)
        self.set("patterns_level", level)
        requireInstance("setPatterns", patterns, dict)
        return self.set("patterns", dict(patterns))

    def __repr__(self):
        values = ", ".join(f"{k}={v!r}" for k, v in self.options.items())
        return f"_PopartOptions({values})"


class _PopartUser(OptionsDict):
    """A group some of whose settings are PopART's."""

    def __init__(self, popart_options, **declared):
        super().__init__(**declared)
        self._declarePrivate(_popart_options=popart_options)

    def _extraRepr(self):
        return [("_popart_options", self._popart_options), *super()._extraRepr()]


class _TrainingOptions(_PopartUser):
    def __init__(self, popart_options):
        super().__init__(
            popart_options,
            gradient_accumulation=1,
            accumulation_and_replication_reduction_type=(
                enums.ReductionType.Mean
            ),
            meanAccumulationAndReplicationReductionStrategy=(
                enums.MeanReductionStrategy.Post
            ),
        )

    def gradientAccumulation(self, gradient_accumulation):
        """Micro-batches whose gradients are accumulated before an update."""
        requirePositive("gradientAccumulation", gradient_accumulation)
        return self.set(gradient_accumulation=gradient_accumulation)

    def accumulationAndReplicationReductionType(self, reduction_type):
        """How gradients of micro-batches and replicas are combined."""
        allowed = (enums.ReductionType.Mean, enums.ReductionType.Sum)
        if reduction_type not in allowed:
            raise ValueError(
                "accumulationAndReplicationReductionType must be set to "
                "poptorch.ReductionType.Mean or poptorch.ReductionType.Sum"
            )
        return self.set(
            accumulation_and_replication_reduction_type=reduction_type
        )

    def setMeanAccumulationAndReplicationReductionStrategy(self, strategy):
        if not isinstance(strategy, enums.MeanReductionStrategy):
            raise ValueError(
                "mean_strategy must be a poptorch.MeanReductionStrategy"
            )
        return self.set(
            meanAccumulationAndReplicationReductionStrategy=strategy
        )

    def setAutomaticLossScaling(self, enabled):
        self._popart_options.set("automaticLossScalingSettings.enabled", enabled)
        return self

    def setConvolutionDithering(self, enabled):
        options = self._popart_options.options.get("convolutionOptions", {})
        dithering = {"enableConvDithering": "true" if enabled else "false"}
        self._popart_options.set(
            "convolutionOptions", {**options, **dithering}
        )
        return self


class _PrecisionOptions(_PopartUser):
    def enableStochasticRounding(self, enabled):
        self._popart_options.set("enableStochasticRounding", enabled)
        return self

    def setPartialsType(self, dtype):
        """The type of matmul and convolution partial sums."""
        names = {torch.float: "float", torch.half: "half"}
        if dtype not in names:
            raise ValueError(
                "Precision.setPartialsType: dtype must be torch.float or "
                f"torch.half, not {dtype}"
            )
        self._popart_options.set("partialsTypeMatMuls", names[dtype])
        self._popart_options.set(
            "convolutionOptions", {"partialsType": names[dtype]}
        )
        return self

    def enableFloatingPointExceptions(self, enabled):
        self._popart_options.set("enableFloatingPointChecks", enabled)
        return self

    def halfFloatCasting(self, half_float_casting):
        logger.warning("Precision.halfFloatCasting is deprecated: no effect")
        return self

    def runningStatisticsAlwaysFloat(self, value):
        if not isinstance(value, bool):
            raise ValueError("runningStatisticsAlwaysFloat takes a bool")
        logger.warning(
            "Precision.runningStatisticsAlwaysFloat is deprecated: no effect"
        )
        return self


class _JitOptions(OptionsDict):
    def traceModel(self, trace_model):
        if trace_model:
            raise ValueError(
                "options.Jit.traceModel(True) is no longer supported"
            )
        logger.warning("options.Jit.traceModel is deprecated: no effect")
        return self


class TensorLocationSettings(OptionsDict):
    """Where a kind of tensor lives; unset values are PopART's defaults."""

    def minElementsForOffChip(self, min_elements):
        requireInstance("minElementsForOffChip", min_elements, int)
        return self.createOrSet(minElementsForOffChip=min_elements)

    def minElementsForReplicatedTensorSharding(self, min_elements):
        requireInstance(
            "minElementsForReplicatedTensorSharding", min_elements, int
        )
        return self.createOrSet(
            minElementsForReplicatedTensorSharding=min_elements
        )

    def useOnChipStorage(self, use=True):
        return self._flag("onChip", use)

    def useReplicatedTensorSharding(self, use=True):
        return self._flag("useReplicatedTensorSharding", use)

    def useIOTilesToLoad(self, use=True):
        return self._flag("useIOTilesToLoad", use)

    def useIOTilesToStore(self, use=True):
        return self._flag("useIOTilesToStore", use)

    def _flag(self, name, value):
        if value is None:
            self.deleteIfExists(name)
            return self
        requireInstance(name, value, bool)
        return self.createOrSet(**{name: int(value)})


class _TensorLocationOptions(OptionsDict):
    def _setLocation(self, name, location):
        assert isinstance(location, TensorLocationSettings), (
            "Tensor locations are poptorch.TensorLocationSettings, not "
            f"{type(location)}"
        )
        return self.createOrSet(**{name: dict(location._values)})

    def setActivationLocation(self, location):
        return self._setLocation("location_activation", location)

    def setWeightLocation(self, location):
        return self._setLocation("location_weight", location)

    def setOptimizerLocation(self, location):
        return self._setLocation("location_optimizer", location)

    def setAccumulatorLocation(self, location):
        return self._setLocation("location_accumulator", location)

    def numIOTiles(self, num_tiles):
        """Tiles per IPU set aside for host and streaming-memory traffic."""
        requireInstance("numIOTiles", num_tiles, int)
        assert 32 <= num_tiles <= 192 and num_tiles % 2 == 0, (
            "numIOTiles must be an even number between 32 and 192."
        )
        return self.createOrSet(numIOTiles=num_tiles)


class _DistributedOptions(OptionsDict):
    def __init__(self):
        super().__init__(
            num_distributed_processes=1,
            distributed_process_id=0,
            ipuof_configs={},
        )
        self.setEnvVarNames("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")

    def disable(self):
        """One process, whatever the environment says."""
        return self.configureProcessId(0, 1)

    def setEnvVarNames(self, var_num_processes, var_process_id):
        return self.configureProcessId(
            int(os.environ.get(var_process_id, "0")),
            int(os.environ.get(var_num_processes, "1")),
        )

    def configureProcessId(self, process_id, num_processes):
        requirePositive("configureProcessId's num_processes", num_processes)
        assert 0 <= process_id < num_processes, (
            f"configureProcessId: there is no process {process_id} of "
            f"{num_processes}, which are counted from 0"
        )
        return self.set(
            distributed_process_id=process_id,
            num_distributed_processes=num_processes,
        )

    @property
    def processId(self):
        return self.distributed_process_id

    @property
    def numProcesses(self):
        return self.num_distributed_processes
